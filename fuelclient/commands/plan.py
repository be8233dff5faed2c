"""`plan create`, `plan show` and `plan apply`: save a plan, and execute it unless it is stale."""

from __future__ import annotations

import argparse
from dataclasses import replace

from fuelclient.commands.arguments import OUTPUT_SPELLINGS, REACH_OPTIONS, argument_or_option, flag, option
from fuelclient.commands.base import Command, report
from fuelclient.commands.documents import STDOUT, put_text
from fuelclient.commands.fitting import align
from fuelclient.commands.graph.execute import SELECTION, request_of
from fuelclient.commands.graph.question import FORMAT
from fuelclient.commands.shell import LOG, count
from fuelclient.commands.task.start import NO_CHECK, STARTED, TRACE, UNKNOWN, WAIT, Starter, decisions, emit_instances
from fuelclient.environment import saved_plans
from fuelclient.environment.saved_plans import SavedPlan, changes, plan_from, plan_to
from fuelclient.errors import StalePlan
from fuelclient.model.fact import DeploymentFacts

SAVED = option("file", metavar="FILE", help="a file that 'plan create' wrote; - is stdin")


class PlanCreate(Command):
    """Save what a run would do

    The file has the request, the layers of its graphs with their digests, the nodes, and the action of each task
    instance; it also has digests of how each node is reached, and of the files of the plugins. Only its owner can read
    it. Secrets are masked in it, except in the facts of --assume-facts, which the run needs. 'plan apply' executes it,
    and refuses to if anything has changed in between; 'graph diff plan:FILE env:1' shows what changed in the graph.

    --force replaces an existing file. --force-run, --executor and the other options decide how the plan will run, as
    those of 'graph execute' do.

      fuel2 plan create saved.json --env 1 --type default
      fuel2 plan create saved.json --env 1 --select 'keystone+1' --executor noop --force
    """

    arguments = (
        argument_or_option("file", *OUTPUT_SPELLINGS, metavar="FILE", help="the file to write; - is stdout"),
        *SELECTION,
        flag("--noop", help="let tasks only report what they would change"),
        TRACE,
        flag("--force-run", help="run as if nothing had run before: all facts count as changed"),
        *REACH_OPTIONS,
        *UNKNOWN,
        flag("--force", help="replace the file if it exists"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.backends.plans import saved

        request = replace(
            request_of(self, parsed_args), noop=parsed_args.noop, trace=parsed_args.trace, force=parsed_args.force_run,
            executor=parsed_args.executor, on_originals=parsed_args.on_originals, **decisions(self, parsed_args),
        )  # fmt: skip
        plan, findings = saved(self.backend, request)
        report(findings)
        put_text(self, self.dumps(plan_to(plan), "json", parsed_args.file), parsed_args.file, force=parsed_args.force)
        LOG.info("Saved in %s: %s", "stdout" if parsed_args.file == STDOUT else parsed_args.file, _summary(plan))
        if parsed_args.file != STDOUT:
            LOG.info("To execute it: fuel2 plan apply %s", parsed_args.file)


class PlanShow(Command):
    """Show a saved plan

    Nothing but the file is read. The task instances are in execution order. A terminal gets one row for each task that
    would run, with the ids of its nodes.

      fuel2 plan show saved.json
    """

    arguments = (SAVED, FORMAT)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        plan = load_plan(self, parsed_args.file)
        if parsed_args.format != "text":
            plan = replace(plan, request=replace(plan.request, assumed=_masked(plan.request.assumed)))
            self.app.stdout.write(self.dumps(plan_to(plan), parsed_args.format))
            return
        self.tell(f"A plan for environment {plan.request.cluster_id} ({plan.environment_name}): {_summary(plan)}.")
        for graph in plan.graphs:
            self.say(f"{graph.type}, of the layers")
            rows = [
                (one.layer.owner.label, count(len(one.layer.tasks), "task"), one.digest[:12]) for one in graph.layers
            ]
            for line in (*align(rows, "  "), *align(() if self.app.stdout.isatty() else graph.instances)):
                self.tell(line)
            if self.app.stdout.isatty():
                emit_instances(self, [(graph.type, *one) for one in graph.instances])


class PlanApply(Starter):
    """Execute a saved plan, unless it is stale

    The plan is computed again. If it is not the one that was saved, nothing starts: the exit code is 9, and the message
    says which layer, node or facts changed. Otherwise the command behaves as 'graph execute' does. If the plan has
    several graphs, the later ones are planned again when their turn comes.

      fuel2 plan apply saved.json --wait
    """

    arguments = (SAVED, NO_CHECK, *WAIT)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.backends.plans import saved

        plan = load_plan(self, parsed_args.file)
        current, _ = saved(self.backend, plan.request)
        if saved_plans.is_stale(plan, current):
            why = "; ".join(changes(plan, current))
            why = why or "runs since it was saved have changed which of its conditions hold"
            raise StalePlan(
                f"The plan {parsed_args.file} is stale: {why}.",
                hint=f"`fuel2 graph diff plan:{parsed_args.file} env:{plan.request.cluster_id}` shows what changed in "
                "the graph. Create the plan again.",
            )
        run = self.writable().runs.begin(plan.request, check=parsed_args.check, digest=current.graphs[0].digest)
        report([finding for child in run.children for finding in child.findings])
        self.report_started(run, STARTED.format(run), parsed_args)


def load_plan(command: Command, path: str) -> SavedPlan:
    return plan_from(command.load(path).data, path)


def _masked(facts: DeploymentFacts) -> DeploymentFacts:
    from fuelclient.redact import masked_document

    return DeploymentFacts(
        masked_document(facts.common), {uid: masked_document(own) for uid, own in facts.nodes.items()}
    )


def _summary(plan: SavedPlan) -> str:
    running = sum(graph.to_run for graph in plan.graphs)
    total = sum(len(graph.instances) for graph in plan.graphs)
    return f"{running} of {count(total, 'task instance')} would run"
