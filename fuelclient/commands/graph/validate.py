"""`graph validate`: report the errors of a graph."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from fuelclient.commands.arguments import AS_MASTER, env_option, one_of, source_options, type_option
from fuelclient.commands.base import DocumentCheck, tally
from fuelclient.commands.exits import Exit
from fuelclient.commands.findings import FINDING_FILTERS, fails, filtered
from fuelclient.commands.shell import LOG, urgency
from fuelclient.errors import InvalidDocument, UsageError
from fuelclient.model.finding import Finding, errors_in

if TYPE_CHECKING:
    from fuelclient.model.graph import GraphDocument
    from fuelclient.plan.study import Study


class GraphValidate(DocumentCheck):
    """Report everything wrong with a graph

    With --file or --dir a document is checked by itself, as far as that is possible; with --env as well, it is checked
    as if it were the environment's own graph. With --env the merged graph of an environment is checked as a preview
    sees it: conditions and computed dependencies are evaluated on the facts of
    its nodes, or of assumed ones. The exit code is 7 if there is an error; --fail-on sets another severity. The formats
    text, github (annotations of a workflow), sarif and junit show whole findings.

    The findings of an environment include warnings from when the documents of its graphs were uploaded or installed,
    such as those about duplicate keys.

    --as-master adds what a Fuel master would refuse or do differently: records without type, types that it does not
    store, two plugins with one task, node filters on other fields than its own, and expressions that fail somewhere,
    which a master evaluates even for skipped tasks.

      fuel2 graph validate --file override.yaml --fail-on warning --ignore G041
      fuel2 graph validate --env 1 --type default -f sarif
      fuel2 graph validate --env 1 --as-master
    """

    reads_once = True

    arguments = (
        one_of(*source_options()),
        env_option(required=False, help="the merged graph of this environment"),
        type_option(default=None),
        AS_MASTER,
        *FINDING_FILTERS,
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        if parsed_args.env is None and parsed_args.graph_type is not None:
            raise UsageError("--type needs --env: a document has no graph type of its own.", hint="Leave --type out.")
        try:
            reported = self._reported(parsed_args)
        except InvalidDocument as error:
            if not error.findings:
                raise
            reported = cast("Sequence[Finding]", error.findings)
        findings = filtered(reported, parsed_args)
        if fails(findings, parsed_args):
            self.exit_code = Exit.INVALID
        LOG.info("%s", f"{tally(findings)}." if findings else "No findings.")
        return self.report_rows(sorted(findings, key=urgency))

    def _reported(self, parsed_args: argparse.Namespace) -> Sequence[Finding]:
        """Raise `InvalidDocument` for a file that cannot be read: its findings are those of reading it."""
        from fuelclient.commands.graph.documents import graph_document

        document = None
        if parsed_args.file is not None or parsed_args.dir is not None:
            document = graph_document(parsed_args, self.app.stdin, owner_label="cluster")
        if parsed_args.env is not None:
            return self._environment(parsed_args, document)
        if document is None:
            raise UsageError("One of --file, --dir and --env is needed.", hint="--env and --file can be combined.")
        return self._document(parsed_args, document)

    def _environment(self, parsed_args: argparse.Namespace, document: GraphDocument | None) -> Sequence[Finding]:
        from fuelclient.backends.studies import study_of
        from fuelclient.commands.graph.documents import judged
        from fuelclient.environment.as_master import in_graph, strict
        from fuelclient.environment.layers import changed
        from fuelclient.model.graph import DEFAULT_TYPE, Level, OwnerRef
        from fuelclient.plan.order import cycle_reports

        graph_type = parsed_args.graph_type or DEFAULT_TYPE
        warnings: list[Finding] = []
        snapshot = self.backend.graphs.snapshot(parsed_args.env, graph_type)
        if document is not None:
            warnings += judged(self.backend, document, OwnerRef(Level.CLUSTER, parsed_args.env), graph_type)
            snapshot = changed(self.backend.clusters.environment(parsed_args.env), snapshot, uploaded=document)
        study = study_of(self.backend, strict(snapshot) if parsed_args.as_master else snapshot, conditions=True)
        warnings += [each for layer in snapshot.layers for each in layer.warnings]
        findings = _with_warnings(_with_unreadable(study), warnings)
        if parsed_args.as_master:
            return (*findings, *in_graph(study, findings))
        for cycle in cycle_reports(snapshot, study.expansion):
            LOG.info("%s", f"{cycle.title}:\n{cycle.drawn()}")
        return findings

    def _document(self, parsed_args: argparse.Namespace, document: GraphDocument) -> Sequence[Finding]:
        """Check a document by itself."""
        from fuelclient.environment.as_master import in_documents
        from fuelclient.expressions.readable import refusals
        from fuelclient.graph.validate import check_document, misspelt_roles
        from fuelclient.plan.order import cycles_in

        findings = (*check_document(document, None, None), *misspelt_roles(document.tasks))
        findings = (*findings, *refusals(document), *cycles_in(document.tasks))
        return (*findings, *in_documents([document])) if parsed_args.as_master else findings


def _with_unreadable(study: Study) -> tuple[Finding, ...]:
    """Replace findings that an expression cannot be computed (G034) by the reasons why it cannot be read (G024)."""
    from fuelclient.expressions.readable import check_filter, unreadable

    reasons = (*errors_in(check_filter(study.snapshot, study.merged.metadata)), *unreadable(study.merged.tasks))
    explained = {(finding.task, finding.place) for finding in reasons}
    others = (each for each in study.findings if each.code != "G034" or (each.task, each.place) not in explained)
    return (*others, *reasons)


def _with_warnings(findings: tuple[Finding, ...], warnings: Iterable[Finding]) -> tuple[Finding, ...]:
    reported = {(finding.code, finding.task) for finding in findings}
    reported |= {("G013", task) for code, task in reported if code == "G046"}  # G046 has more detail
    return (*findings, *(warning for warning in warnings if (warning.code, warning.task) not in reported))
