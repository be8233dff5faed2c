"""Evaluate expressions that somebody types, on the facts of one node, with the facts of an earlier run as old ones."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from fuelclient import redact
from fuelclient.expressions import legacy
from fuelclient.expressions.errors import ExpressionError, MissingFact
from fuelclient.expressions.facts import Facts, Past, View, Views
from fuelclient.expressions.functions import UNDEFINED
from fuelclient.expressions.yaql_engine import parse
from fuelclient.model.fact import DeploymentFacts

YAQL, LEGACY = "yaql", "legacy"

COMMON = "common"
"""Stands for a node that adds nothing to the facts that all nodes share."""

_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_MODEL = re.compile(r"(?<!\w)[A-Za-z_]\w*:[\w.\-]")
_NAME = re.compile(r"[\w.\-]+")
_LAST = "last"
_TELLING = 8
"""Texts that have a secret of at least this length in them are masked; shorter ones are words of many places."""


def language_of(text: str) -> str:
    """The language in which an expression is written. Only Fuel's own names a model before a path.

    >>> language_of("$.storage.pg_num > 8"), language_of("settings:storage.images_ceph.value == true")
    ('yaql', 'legacy')
    """
    bare = _QUOTED.sub("''", text)
    return LEGACY if "$" not in bare and _MODEL.search(bare) else YAQL


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The value of an expression on new facts and on old ones, and whether `changed()` finds that they differ.

    `old` is None if there are no old facts, or if the expression has no value on them.
    """

    language: str
    value: Any
    old: Any
    changed: bool


class Console:
    """What expressions see on one node (`uid`, or `COMMON`): facts of now and of an earlier run, of which there may be
    none."""

    def __init__(self, facts: DeploymentFacts, past: DeploymentFacts | None = None, uid: str = COMMON) -> None:
        moments: dict[Hashable, Facts] = {} if past is None else {_LAST: _with(past, uid)}
        moment = _LAST if past is not None and (uid == COMMON or past.nodes.get(uid)) else None
        new = _with(facts, uid)
        self._view = View(Views(new, Past(moments, {})), uid, moment)
        parts = [part for of in (new, *moments.values()) for part in (of.common, of.nodes[uid])]
        self._secrets = [secret for secret in redact.secrets_of(parts) if len(secret) >= _TELLING]

    def evaluated(self, text: str, language: str = "") -> Evaluated:
        """The value of an expression, by default in the language in which it seems to be written.

        Raise `ExpressionError` if it cannot be read or has no value, and `MissingFact` if it reads what is not known.
        """
        language = language or language_of(text)
        if language == LEGACY:
            value, has_old = legacy.value_of_condition(text, self._view.new), self._view.moment is not None
            old = legacy.value_of_condition(text, self._view.old) if has_old else None
            return Evaluated(language, value, old, not has_old or value != old)
        value = _defined(parse(text).value(self._view))
        return Evaluated(language, value, self._of(f"old({text})"), bool(self._of(f"changed({text})")))

    def masked(self, text: str, value: Any) -> Any:
        """A value of an expression without secrets, for people: nothing of a text or number is shown if the expression
        names a secret."""
        telling = isinstance(value, str | int | float) and not isinstance(value, bool)
        if telling and any(map(redact.is_secret, _NAME.findall(text))):
            return redact.MASK
        return redact.masked(redact.masked_document({"value": value}), self._scrubbed)["value"]

    def _scrubbed(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return redact.scrubbed(value, [secret for secret in self._secrets if secret in value])

    def _of(self, text: str) -> Any:
        """The value of an expression around one that has a value; None if it has none there."""
        try:
            return _defined(parse(text).value(self._view))
        except MissingFact:
            raise
        except ExpressionError:
            return None


def _with(facts: DeploymentFacts, uid: str) -> Facts:
    return Facts(facts.common, {uid: {}, **facts.nodes})


def _defined(value: Any) -> Any:
    return None if value is UNDEFINED else value
