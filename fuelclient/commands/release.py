"""Releases, their components and their package repositories."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fuelclient.commands.arguments import YES, id_of, option
from fuelclient.commands.base import STRUCTURED, Changing, Lister, ShowOne, on_backend
from fuelclient.commands.documents import Upload
from fuelclient.commands.formatters import Names, Shown, cells, check_columns, plain
from fuelclient.commands.roles_and_tags import warn_of_tasks
from fuelclient.commands.shell import count
from fuelclient.errors import FIRST_STEPS, InvalidDocument
from fuelclient.model.document import Document, Marked
from fuelclient.model.release import Release
from fuelclient.plan.fleet import PRIMARY
from fuelclient.serializers.release import release_to, releases_from, repositories_from

_COLUMNS = ("id", "name", "state", "operating_system", "version")


class ReleaseList(Lister):
    """List all releases

    fuel2 release list
    fuel2 release list -f value -c id -c name
    """

    columns = _COLUMNS
    empty = FIRST_STEPS["release"]
    rows = on_backend(lambda backend, _: backend.releases.list())


class ReleaseImport(Lister):
    """Create all releases of a file, or none

    The file is YAML or JSON: a Nailgun fixture (openstack.yaml of fuel-web, with its 'extend' inheritance), or one
    release or a list of releases as the REST API returns them. If a release of the same name and version already
    exists, nothing is created and the exit code is 6.

      fuel2 release import nailgun/fixtures/openstack.yaml
    """

    columns = _COLUMNS

    arguments = (option("file", type=str, metavar="FILE", help="the file; - is stdin"),)

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Release]:
        document = self.load(parsed_args.file)
        if not document.data:
            hint = "Write a list of releases, each with a name and a version."
            raise InvalidDocument(f"{document.file} contains no releases.", hint=hint)
        releases = releases_from(document)
        created = self.writable().releases.create(releases)
        for release in created:
            warn_of_tasks(release.metadata.get("roles_metadata") or {})
        return created


class _ShowRelease(ShowOne):
    """Show a summary of a release for people, or all its fields for programs and for `release import`."""

    columns = (*_COLUMNS, "description", "roles")

    def summary(self, parsed_args: argparse.Namespace, release: Release) -> tuple[Sequence[str], Sequence[Any]]:
        if parsed_args.formatter in STRUCTURED:
            fields = release_to(release)
        else:
            roles = Names(list(release.metadata.get("roles_metadata") or {}))
            fields = dict(zip(self.columns, [*cells(release, self.columns[:-1]), roles], strict=True))
        check_columns(parsed_args.columns, tuple(fields))
        return tuple(fields), tuple(fields.values())


class ReleaseShow(_ShowRelease):
    """Show one release

    With -f json or -f yaml all its fields are shown, in a form that 'release import' accepts.

      fuel2 release show 1
      fuel2 release show 1 -f yaml
    """

    arguments = (id_of("release"),)

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        return self.summary(parsed_args, self.backend.releases.get(parsed_args.id))


class ReleaseCreate(_ShowRelease):
    """Create one release

    Fields without an option (roles_metadata, tags_metadata, volumes_metadata ...) come from a file with one release.
    The command line overrides its name, version and operating system, and adds roles: primary-db adds the role db, of
    which one node is the primary one.

      fuel2 release create "My OpenStack" --version 1-1.0 --operating-system Ubuntu --file roles.yaml
      fuel2 release create lab --version lab-1.0 --operating-system Ubuntu --roles web primary-db
    """

    arguments = (
        option("name", help="name of the new release"),
        option("--version", required=True, help="its version, such as newton-10.0"),
        option("--operating-system", type=str, default="", metavar="OS", help="its operating system"),
        option("--roles", nargs="+", default=[], metavar="ROLE", help="roles to add by their names"),
        option("--file", metavar="FILE", help="YAML or JSON mapping with further fields; - is stdin"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        document = Document(Marked(), "") if parsed_args.file is None else self.load(parsed_args.file)
        file_fields = document.data
        if not isinstance(file_fields, Marked):
            raise InvalidDocument(
                f"{document.file}: the fields of a release must be a mapping.",
                hint="To create a list of releases, use 'release import'.",
            )
        options: dict[str, Any] = {"name": parsed_args.name, "version": parsed_args.version}
        if parsed_args.operating_system:
            options["operating_system"] = parsed_args.operating_system
        if parsed_args.roles:
            given = file_fields.get("roles_metadata")
            options["roles_metadata"] = {**(given if isinstance(given, Mapping) else {}), **_roles(parsed_args.roles)}
        fields = Marked({**file_fields, **options}, file_fields.line, file_fields.lines)
        releases = releases_from(Document(fields, document.file))
        [release] = self.writable().releases.create(releases)
        warn_of_tasks(release.metadata.get("roles_metadata") or {})
        return self.summary(parsed_args, release)


def _roles(given: Sequence[str]) -> dict[str, Any]:
    return {
        name: {"name": name, "has_primary": True} if PRIMARY + name in given else {"name": name}
        for name in dict.fromkeys(role.removeprefix(PRIMARY) for role in given)
    }


class ReleaseDelete(Changing):
    """Delete a release with its graphs

    A release that an environment uses cannot be deleted; the exit code is then 6. On a terminal the command asks first,
    unless you use --yes.

      fuel2 release delete 2
    """

    arguments = (id_of("release"), YES)

    done = "Release with id {id} was deleted"

    def question_for(self, parsed_args: argparse.Namespace) -> str:
        from fuelclient.model.graph import Level

        release = self.backend.releases.get(parsed_args.id)
        graphs = sum(graph.owner.id == release.id for graph in self.backend.graphs.list(levels=[Level.RELEASE]))
        return f"Delete release {release.id} ({release.name} {release.version}) with {count(graphs, 'graph')}?"

    change = on_backend(lambda backend, args: backend.releases.delete(args.id))


def _relation(relation: Any) -> str:
    """The name of a component that another one requires, or is compatible or incompatible with. For a choice among
    several components: the kind of choice, and their names.

    >>> _relation({"name": "hypervisor:kvm"}), _relation({"any_of": {"items": ["a", "b"]}})
    ('hypervisor:kvm', 'any_of (a, b)')
    """
    if not isinstance(relation, Mapping):
        return str(relation)
    if "name" in relation:
        return str(relation["name"])
    for kind in ("any_of", "all_of", "one_of", "none_of"):
        if (choice := relation.get(kind)) is not None:
            items = choice.get("items") if isinstance(choice, Mapping) else choice
            return f"{kind} ({', '.join(map(str, items or ()))})"
    return ", ".join(map(str, relation))


class ReleaseComponentList(Lister):
    """List the components of a release

    These are the release's own components and those of the plugins that extend it. - means that nothing is stated.

      fuel2 release component list 1
    """

    arguments = (id_of("release"),)
    columns = ("name", "requires", "compatible", "incompatible", "default")
    sort_by = "name"

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        for component in self.backend.releases.components(parsed_args.id):
            values = [plain(component.get(column, "-")) for column in self.columns]
            yield [
                Shown(value, ", ".join(map(_relation, value))) if isinstance(value, list) else value for value in values
            ]


class ReleaseReposList(Lister):
    """List the package repositories of a release

    They are the default for the environments of the release.

      fuel2 release repos list 1
    """

    arguments = (id_of("release"),)
    columns = ("name", "priority", "uri", "section", "suite", "type")
    by_weight = ("name", "uri", "suite", "priority")
    sort_by = "priority"

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        repositories = self.backend.releases.repositories(parsed_args.id)
        return [[repository.get(column) for column in self.columns] for repository in repositories]


class ReleaseReposUpdate(Upload):
    """Set the package repositories of a release from a file

    The file is a YAML or JSON list of mappings with name and uri and, where known, type, suite, section and priority.
    It replaces all repositories of the release. Environments that set their own repositories keep them. On a terminal
    the command asks first, unless you use --yes.

      fuel2 release repos update 1 --file repos.yaml
      fuel2 release repos list 1 -f json | fuel2 release repos update 2 --file -
    """

    arguments = (
        id_of("release"),
        option("-f", "--file", required=True, metavar="FILE", help="the list of repositories; - is stdin"),
        YES,
    )

    done = "Repositories for the release with id {id} were set from {file}."

    def content(self, document: Document, parsed_args: argparse.Namespace) -> Any:  # noqa: ARG002
        return repositories_from(document)

    def question_for(self, parsed_args: argparse.Namespace) -> str:
        before = len(self.backend.releases.repositories(parsed_args.id))
        return f"Replace the {before} repositories of release {parsed_args.id}?" if before else ""

    change = on_backend(lambda backend, args: backend.releases.set_repositories(args.id, args.content))
