"""P003 and P006: the shapes of a package's files, and the files that its version requires.

There is one schema per type of file and package version that changed it (`schemas/<type>-<version>.json`); versions in
between use the previous one. The schemas follow Fuel Plugin Builder's, with its mistakes corrected (dots in a task's
version, the alias `operating_system`, components that require one of several others). Their keywords `roleWord` and
`taskWord` accept names and regular expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources

from fuelclient.files.shapes import Excerpt, Shapes
from fuelclient.graph.match import is_pattern, pattern_error
from fuelclient.model.document import Document
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.contents import GROUPS_SINCE
from fuelclient.plugins.parts import Part
from fuelclient.plugins.reading import Reading

_NAME = re.compile(r"[0-9a-zA-Z_-]+")
_MAY_BE_EMPTY = {"environment_config": 1, "tasks": 4}
"""Files that may be empty, and the first package version that allows it."""


def _reason_against(text: str) -> str | None:
    """Return None for a name or a valid regular expression, otherwise what is wrong, or '' if there is no more to
    say."""
    if not is_pattern(text) or len(text) < 2:
        return None if _NAME.fullmatch(text) else ""
    return pattern_error(text) or None


SHAPES = Shapes(
    resources.files("fuelclient.plugins").joinpath("schemas"),
    {"taskWord": _reason_against, "roleWord": lambda text: None if text == "*" else _reason_against(text)},
)


def schema_of(file_type: str, major: int) -> str:
    """The schema of a type of file in packages of version `major`.

    >>> schema_of("deployment_tasks", 6), schema_of("deployment_tasks", 3)
    ('deployment_tasks-5.json', 'deployment_tasks-3.json')
    """
    versions = [version for version in range(1, major + 1) if f"{file_type}-{version}.json" in SHAPES.schemas]
    return f"{file_type}-{versions[-1]}.json"


def misshapen(package: Reading) -> list[Finding]:
    """List the violations that explain why data could not be read: those at its line, or else all in its file."""
    listed = list(violations(package))
    reasons: dict[Finding, None] = {}
    for place in package.files.misshapen:
        here = [finding for finding in listed if finding.place == place]
        reasons.update(dict.fromkeys(here or [finding for finding in listed if finding.place.file == place.file]))
    return list(reasons)


def check(package: Reading) -> Iterator[Finding]:
    """Yield the findings about missing and empty files, and about the shapes of all files.

    A missing file (P006) is an error because Fuel Plugin Builder refuses to build such a package, although it could be
    used.
    """
    yield from _missing_or_empty(package)
    yield from violations(package)
    for task in package.tasks():
        # Up to version 4, the schema demands a type. Since version 5, a record without one is an override.
        if package.major >= 5 and "type" not in task.data:
            message = f"task {task.name} has no type, so it only overrides the release's task with this id"
            hint = "Add its type if it is a task of its own."
            yield Finding(Severity.WARNING, "P003", message, task.place(), task.name, hint)


def violations(package: Reading) -> Iterator[Finding]:
    """Yield what the schemas forbid in the metadata, and in each part, merged over its bases if it has any."""
    manifest = Part("metadata", (Document(package.metadata, package.files.manifest),))
    # Roles may list their volumes themselves; then volumes.yaml need not map them.
    roles_have_volumes = any("volumes_mapping" in role for _, role, _ in package.roles())
    for part in (manifest, *package.parts):
        # A base is only checked with what is merged over it; tasks.yaml is ignored since version 5 (P014).
        if part.is_base or (part.type == "tasks" and package.major >= GROUPS_SINCE):
            continue
        is_unmapped = part.type == "volumes" and (roles_have_volumes or part.of_release)
        major = max(package.major, 6) if part.of_release else package.major
        schema = schema_of("listed_volumes" if is_unmapped else part.type, major)
        excerpts = [
            Excerpt(document, _relative(package, document.file), each.path)
            for each in (part, *part.bases)
            for document in reversed(each.documents)
        ]
        if part.bases:
            yield from SHAPES.violations(schema, part.whole(), excerpts)
        for origin in () if part.bases else excerpts:
            yield from SHAPES.violations(schema, origin.document.data, [origin])


def _missing_or_empty(package: Reading) -> Iterator[Finding]:
    """Yield an error for each required file that is missing or empty. A package that defines releases needs none."""
    present = {part.type for part in package.parts}
    if not package.definitions:
        unreadable = {finding.place.file for finding in package.files.findings}
        required_since_3 = ("environment_config", "deployment_tasks") if package.major <= 5 else ()
        for file_type in ("environment_config", "tasks") if package.major <= 2 else required_since_3:
            name = f"{file_type}.yaml"
            if file_type not in present and package.files.shown(name) not in unreadable:
                message = f"{name} is missing, but packages of version {package.major}.0.0 must have it"
                hint = f"Create it{', even if it is empty' if file_type in _MAY_BE_EMPTY else ''}."
                yield Finding(Severity.ERROR, "P006", message, Place(package.files.shown(name)), hint=hint)
    for part in package.parts:
        allowed = _MAY_BE_EMPTY.get(part.type, 99) <= package.major
        for document in part.documents:
            if document.data is None and not part.of_release and not allowed:
                message = f"{_relative(package, document.file)} is empty"
                hint = "Write [] for none." if part.type == "deployment_tasks" else "Fill it, or remove it."
                yield Finding(Severity.ERROR, "P006", message, Place(document.file, 1), hint=hint)


def _relative(package: Reading, file: str) -> str:
    return file.removeprefix(package.files.shown("x").removesuffix("x"))
