"""The sample settings file, written from the registry."""

from __future__ import annotations

import json

from fuelclient.settings.registry import SPECS, Spec

DATA_HOME = "~/.local/share"
"""Where data lies when XDG_DATA_HOME says nothing."""

_WIDTH = 100
_HEAD = """\
# Sample settings of fuel2. Every line is a comment: copy this file to
# $XDG_CONFIG_HOME/fuel/fuel_client.yaml (by default ~/.config/fuel/fuel_client.yaml), or name a copy in
# the environment variable FUELCLIENT_CUSTOM_SETTINGS, and uncomment what you want to change.
#
# Low to high: defaults, the file in $XDG_CONFIG_HOME, the named file, the environment, the command line.
# 'fuel2 config show --origin' says where each value comes from."""


def sample() -> str:
    """The text of `etc/fuel/fuel_client.yaml`: every setting with its description and default, commented out."""
    lines = [_HEAD]
    for spec in SPECS:
        lines += ["", *(f"# {line}" for line in _wrapped(spec.description)), "#"]
        sources = _sources(spec)
        if sources:
            lines.append(f"# {sources}")
        lines.append(f"# {spec.name}: {_default(spec)}")
    return "\n".join(lines) + "\n"


def _sources(spec: Spec) -> str:
    named = (("Environment", spec.environment), ("Command line", spec.options))
    return " ".join(f"{noun}: {', '.join(names)}." for noun, names in named if names)


def _default(spec: Spec) -> str:
    """The default as YAML writes it."""
    if isinstance(spec.default, str) and spec.default:
        return spec.default.replace("$XDG_DATA_HOME", DATA_HOME)
    return json.dumps(spec.default)


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, _WIDTH)
