"""Check the values of settings against their definitions in the release or plugin.

Source: Nailgun, which checks the type of each value, and its regex unless a restriction disables the setting. The
defaults of a release or a plugin are not checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fuelclient.environment.settings import EDITABLE, METADATA, defaults, models
from fuelclient.errors import FuelError, nearest
from fuelclient.expressions import limits
from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.restrictions import expand_restrictions, unmet
from fuelclient.insight.differences import is_equal
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.serializers.values import beyond, in_words, mapping, mappings

_TEXTS = frozenset({"text", "textarea", "password"})
_CHOICES = frozenset({"radio", "select"})
_LISTS = frozenset({"text_list", "textarea_list"})
_QUOTES = "Write it in quotes."


def findings(sections: Mapping[str, Any], environment: Environment) -> list[Finding]:
    """Find each value in `sections` that does not fit its setting, with its path in the document.

    A value that equals its default fits. A setting that neither the release nor a plugin defines is accepted if the
    document gives it a type; otherwise it is unknown, as in Nailgun.
    """
    known = defaults(environment)
    changed = beyond(sections, known)
    target = replace(environment, own_settings=changed)
    has_settings = known.keys() - {plugin.name for plugin in environment.plugins}  # else none can be unknown
    found, regexes = [], _Regexes()
    for section, settings in changed.items():
        defined = known.get(section, {})
        metadata = {**mapping(defined.get(METADATA)), **mapping(settings.get(METADATA))}
        for name, given in settings.items():
            default = defined.get(name)
            declared = default if isinstance(default, Mapping) else sections[section][name]
            path: tuple[str, ...] = (EDITABLE, section, name)
            if name == METADATA:
                enabled = given.get("enabled", False) if isinstance(given, Mapping) else given
                text = f"must have `enabled: true` or `enabled: false`, not {in_words(enabled)}"
                problem = None if isinstance(enabled, bool) else (text, "")
                path = (*path, "enabled")
            elif not isinstance(given, Mapping):
                problem = None
                if "value" in mapping(default):
                    text = f"must be a mapping with its value, not {in_words(given)}"
                    problem = text, "Write `value: ...` below its name."
            elif default is None and (defined or has_settings) and "value" in given and "type" not in given:
                problem = _unknown(section, name, known)
            elif "value" in given and isinstance(declared, Mapping):
                problem = _problem(declared, given["value"], metadata, target, regexes)
                path = (*path, "value")
            else:
                continue
            if problem:
                text, hint = problem
                message = f"the setting {section}.{name} {text}"
                found.append(Finding(Severity.ERROR, "N003", message, Place(path=path), hint=hint))
    return found


_SECONDS = 5.0
"""A write checks the settings before and after it, while others wait for the engine file, for half a minute at most."""


class _Regexes:
    """Matches the regexes of settings as expressions match, because they are the release's or the plugin's: in linear
    time, or else by a child process with limits. All of them together compute for `_SECONDS` at most, and wait as
    long."""

    def __init__(self) -> None:
        self._computed = self._waited = max(0.0, limits.seconds() - _SECONDS)

    def mismatch(self, given: Any, value: Any) -> str:
        """The setting's error for texts that its regex does not match, or an empty string if it matches all."""
        source = mapping(given).get("source")
        values = value if isinstance(value, list) else [value]
        if isinstance(source, str) and _all(values, str) and any(self._refuses(source, text) for text in values):
            return str(given.get("error") or source)
        return ""

    def _refuses(self, source: str, text: str) -> bool:
        from fuelclient.expressions import facts, yaql_engine  # few settings have a regex

        views = facts.Views(facts.Facts({"text": text, "source": source}))
        views.computed, views.waited = self._computed, self._waited
        try:
            return not yaql_engine.parse("$.text.matches($.source)").value(views.at("", None))
        except ExpressionError:  # an invalid regex cannot be checked
            return False
        finally:
            self._computed, self._waited = views.computed, views.waited


_Problem = tuple[str, str]
"""A problem of a value, as the end of a sentence, and a hint."""


def _unknown(section: str, name: str, known: Mapping[str, Any]) -> _Problem:
    if section not in known:
        close = nearest(section, known)
        return "does not exist: there is no such section", f"Did you mean {close}.{name}?" if close else ""
    close = nearest(name, [each for each in known[section] if each != METADATA])
    return "does not exist", f"Did you mean {section}.{close}?" if close else ""


def _problem(
    declared: Mapping[str, Any], value: Any, metadata: Mapping[str, Any], target: Environment, regexes: _Regexes
) -> _Problem | None:
    if value is None and declared.get("nullable") is True:
        return None
    problem = _of_type(declared, value)
    error = "" if problem or not value else regexes.mismatch(declared.get("regex"), value)  # as in Nailgun
    reasons = _forbidden(declared, target) if value is True and declared.get("type") == "checkbox" else []
    if reasons:
        return f"cannot be on: {'; '.join(reasons)}", "Leave it off, or change what forbids it."
    if error and not any(_is_disabled(given, target) for given in (declared, metadata)):
        problem = f"is {in_words(value)}, which its regex refuses: {error}", ""
    return problem


def _of_type(declared: Mapping[str, Any], value: Any) -> _Problem | None:
    kind = declared.get("type")
    if kind == "checkbox" and not isinstance(value, bool):
        return f"must be true or false, not {in_words(value)}", "Write true or false without quotes."
    if kind in _TEXTS and not isinstance(value, str):
        return f"must be a text, not {in_words(value)}", _QUOTES if isinstance(value, bool | int | float) else ""
    if kind in _CHOICES:
        return _of_choices(declared.get("values"), value)
    if kind == "number" and (isinstance(value, bool) or not isinstance(value, int)):
        return f"must be a whole number, not {in_words(value)}", ""
    if kind == "number":
        return _of_bounds(declared, value, "be {}")
    if kind in _LISTS and _all(value, str):
        return _of_bounds(declared, len(value), "have {} items")
    if kind in _LISTS:
        wrong = next((item for item in value if not isinstance(item, str)), None) if isinstance(value, list) else value
        return f"must be a list of texts, not {'one with ' if wrong is not value else ''}{in_words(wrong)}", _QUOTES
    if kind == "custom_repo_configuration" and not _all(value, Mapping):
        return f"must be a list of mappings, one for each repository, not {in_words(value)}", ""
    return None


def _of_choices(given: Any, value: Any) -> _Problem | None:
    choices = [record["data"] for record in mappings(given) if "data" in record]
    values = value if isinstance(value, list) else [value]
    if (not choices and _all(values, str)) or all(any(is_equal(item, choice) for choice in choices) for item in values):
        return None
    wanted = f"one of {', '.join(map(str, choices))}" if choices else "a text"
    return f"must be {wanted}, not {in_words(value)}", ""


def _of_bounds(declared: Mapping[str, Any], number: int, wanted: str) -> _Problem | None:
    minimum, maximum = declared.get("min"), declared.get("max")
    if isinstance(minimum, int) and number < minimum:
        return f"must {wanted.format(f'at least {minimum}')}, not {number}", ""
    if isinstance(maximum, int) and number > maximum:
        return f"must {wanted.format(f'at most {maximum}')}, not {number}", ""
    return None


def _all(values: Any, wanted: type) -> bool:
    return isinstance(values, list) and all(isinstance(value, wanted) for value in values)


def _forbidden(declared: Mapping[str, Any], target: Environment) -> list[str]:
    """The messages of restrictions that disable a setting; those that cannot be read or evaluated are ignored."""
    try:
        restrictions = [one for one in expand_restrictions(declared.get("restrictions")) if one.action == "disable"]
        return unmet([replace(one, strict=False) for one in restrictions], models(target)) if restrictions else []
    except FuelError:
        return []


def _is_disabled(given: Mapping[str, Any], target: Environment) -> bool:
    """Whether a setting or its section is off, or has a restriction that holds or cannot be evaluated."""
    if given.get("enabled") is False:
        return True
    try:
        return any(rule.is_satisfied(models(target)) for rule in expand_restrictions(given.get("restrictions")))
    except FuelError:
        return True
