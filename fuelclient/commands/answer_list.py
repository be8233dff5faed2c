"""Lists that are answers: as JSON and YAML they are documents with a `format_version`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stevedore.extension import ExtensionManager

from fuelclient.commands.base import Lister
from fuelclient.commands.formatters import Csv, Json, Yaml, formatters
from fuelclient.commands.graph.question import FORMAT_VERSION


class AnswerList(Lister):
    """A list whose JSON and YAML is one document: what `subject` returns, and the rows at `key`.

    docs/answers.schema.json describes the documents.
    """

    key = ""

    def subject(self) -> Mapping[str, Any]:
        """Return what the rows are about. It is called after `rows`."""
        return {}

    def _load_formatter_plugins(self) -> ExtensionManager[Any]:
        documents = {"json": lambda: Json(self._document), "yaml": lambda: Yaml(self._document)}
        return formatters({"csv": Csv, **documents})

    def _document(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        return {"format_version": FORMAT_VERSION, **self.subject(), self.key: rows}
