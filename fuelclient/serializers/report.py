"""Collect the errors of a record while it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fuelclient.errors import InvalidDocument, did_you_mean
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.serializers.values import in_words, items_of, key_text, line_of
from fuelclient.similar import close


@dataclass(slots=True)
class Report:
    """The findings about one record. `layer` is its place in messages if it has no file."""

    file: str
    layer: str = ""
    subject: str = ""
    task: str = ""
    findings: list[Finding] = field(default_factory=list)

    def error(self, code: str, line: int, message: str, hint: str = "") -> None:
        place = Place(self.file, line) if self.file else Place(layer=self.layer)
        message = f"{self.subject}: {message}" if self.subject else message
        self.findings.append(Finding(Severity.ERROR, code, message, place, self.task, hint))

    def misshapen(self, line: int, rule: str, value: Any, hint: str) -> None:
        """Report (G006) a value that breaks the `rule` about its shape."""
        self.error("G006", line, f"{rule}, not {in_words(value)}", hint)

    def entries(self, data: Any, rule: str, hint: str) -> Iterator[tuple[Any, int]]:
        """Yield the items of a document that is a list, each with its line. Report other data, except None."""
        if isinstance(data, list | tuple):
            yield from ((item, line_of(item) or line) for item, line in items_of(data, 1))
        elif data is not None:
            self.misshapen(1, rule, data, hint)

    def check_keys(
        self, data: Mapping[Any, Any], known: tuple[str, ...], noun: str, line: int, **elsewhere: str
    ) -> None:
        """Report (G010) the keys of `data` that are not `known`; `elsewhere` says of keys what to do instead."""
        for raw_key in data:
            if (key := key_text(raw_key)) not in known:
                at = line_of(data, str(raw_key)) or line
                self.error("G010", at, f"{noun} has no key {key!r}", elsewhere.get(key) or did_you_mean(key, known))

    def check_slips(self, data: Mapping[Any, Any], known: tuple[str, ...], code: str) -> None:
        """Report the keys of `data` that are slips of `known` ones. Others may be those of a master."""
        for key in data:
            if key not in known and (near := close(str(key), known)):
                self.error(code, 0, f"there is no key {key_text(key)!r}", f"Did you mean {near}?")

    def raise_errors(self) -> None:
        """If there are findings, raise `InvalidDocument` with all of them and the message of the first."""
        if not self.findings:
            return
        first, more = self.findings[0], len(self.findings) - 1
        where = f"{first.place}: " if str(first.place) else ""
        rest = f" (and {more} more)" if more else ""
        raise InvalidDocument(f"{where}{first.message}{rest}.", findings=self.findings, hint=first.hint)
