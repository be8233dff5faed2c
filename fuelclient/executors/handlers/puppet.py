"""puppet: a manifest, applied in the foreground, so that its exit code says how it went."""

from __future__ import annotations

from fuelclient.executors.base import Job
from fuelclient.executors.handlers.parameters import flag, path, quoted, text
from fuelclient.executors.handlers.shell import PATH
from fuelclient.executors.recipe import Recipe, Step

CHANGED = frozenset({0, 2})
"""The exit codes of success: nothing to change, and changed without a failure. 4 and 6 are failed resources."""

MODULES = "/etc/puppet/modules"


def script(job: Job, *, noop: bool = False) -> str:
    """The text that bash runs. Raises `ValueError` for a missing manifest.

    The output goes to the spool and, as on a Fuel master, to syslog and /var/log/puppet.log where we may write there;
    with `noop` nowhere else, because then nothing may change. Source: Astute `mcagents/puppetd.rb`.
    """
    parameters = job.parameters
    words = ["puppet apply", quoted(path(parameters, "puppet_manifest"))]
    modules = quoted(path(parameters, "puppet_modules", MODULES))
    words += ["--modulepath", modules, "--basemodulepath", modules, "--trace", "--reports none"]
    words += ["--detailed-exitcodes", "--color false", "--logdest console"]
    if job.debug or flag(parameters, "debug", False):
        words += ["--debug", "--evaltrace"]
    words += ["--noop"] if noop else ['"${logs[@]}"']
    prefix = text(parameters, "command_prefix", "")
    command = " ".join([prefix, *words] if prefix else words)
    return "\n".join(
        (
            PATH + 'PATH="$PATH:/opt/puppetlabs/bin"',
            # puppet reads manifests in the encoding of its locale; not every machine has upstream's
            "if locale -a 2>/dev/null | grep -qix 'en_US.utf-\\?8'; then export LC_ALL=en_US.UTF-8;"
            " else export LC_ALL=C.UTF-8; fi",
            *(() if noop else (_LOGS,)),
            f"cd -- {quoted(path(parameters, 'cwd', '/'))} || exit",
            f"{command}\n",
        )
    )


_LOGS = """\
logs=()
[ ! -S /dev/log ] || logs+=(--logdest syslog)
{ [ -w /var/log/puppet.log ] || { [ ! -e /var/log/puppet.log ] && [ -w /var/log ]; }; } \
&& logs+=(--logdest /var/log/puppet.log)"""


def steps(job: Job) -> tuple[Step, ...]:
    return (Recipe(script(job), ok=CHANGED),)
