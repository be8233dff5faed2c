"""How this copy of the package was installed, and the command lines that add libraries to it or install it again.

No package index has fuelclient, so no line asks one for it: an extra is installed as the libraries that it consists of.
Each line works as it stands in any directory and environment. Only the standard library is imported, so that this
works when another package has overwritten files of ours.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import sysconfig
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote

NAME = "fuelclient"
CHECKOUT = Path(__file__).resolve().parents[1]
"""The directory that has the package: a clone, if nothing was installed."""

_LIBRARY = re.compile(r"""^([^;]+);.*extra == ['"](\w+)['"]""")


def extra_line(extra: str, *missing: str) -> str:
    """The command line that adds the libraries of an extra, such as `ssh`, to this copy. With uv it adds those of all
    `missing` extras: there the next line would remove what this one has added."""
    found, extras = _distribution(), (extra, *missing) if _of_uv()[1] is not None else (extra,)
    matches = map(_LIBRARY.match, (found and found.requires) or ())
    libraries = [match[1].strip() for match in matches if match and match[2] in extras]
    return adding(*(libraries or [f"{CHECKOUT}[{extra}]"]))


def adding(*libraries: str) -> str:
    """The command line that installs requirements, such as `asyncssh>=2.14`, where this copy finds them.

    pipx and uv know what they have added, and keep it when they upgrade or reinstall.
    """
    quoted = " ".join(map(shlex.quote, libraries))
    if _is_of_pipx():
        return f"pipx inject {shlex.quote(Path(sys.prefix).name)} {quoted}"
    extras, kept = _of_uv()
    source = _source(extras)
    if kept is not None and source:
        wanted = (f"--with {shlex.quote(text)}" for text in dict.fromkeys((*kept, *libraries)))
        return f"uv tool install {' '.join(wanted)} {source}"
    return f"{_pip()} {quoted}"


def reinstalling(*others: str) -> str:
    """The command line that removes this copy and distributions that own files of it, then installs this copy again."""
    if _is_of_pipx():
        remove, install = f"pipx uninstall {shlex.quote(Path(sys.prefix).name)}", "pipx install"
    elif _of_uv()[1] is not None:
        remove, install = f"uv tool uninstall {NAME}", "uv tool install"
    else:
        remove, install = " ".join((_pip("uninstall"), *map(shlex.quote, (*others, NAME)))), _pip()
    source = _source(_of_uv()[0])
    return f"{remove} && {install} {source}" if source else f"{remove}  # then install {NAME} again"


def program() -> Path:
    """The path of `fuel2` of this copy: the link that pipx or uv has made in a directory for programs, else the file
    that was installed. It may not exist."""
    made = Path(sys.executable).parent / "fuel2"
    found = _distribution()
    for file in (found and found.files) or ():
        if file.name == "fuel2" and file.parent.name == "bin":
            made = Path(os.path.normpath(str(file.locate())))
    chosen = (os.environ.get(name) for name in ("UV_TOOL_BIN_DIR", "PIPX_BIN_DIR", "XDG_BIN_HOME"))
    for directory in filter(None, (*chosen, os.path.expanduser("~/.local/bin"), "/usr/local/bin")):
        link = Path(directory, "fuel2")
        if link.is_symlink() and link.exists() and link.samefile(made):
            return link
    return made


def intruders() -> list[str]:
    """The names of other distributions in this environment that own files of the package `fuelclient`."""
    owners = (found for found in distributions() if any(file.parts[0] == NAME for file in found.files or ()))
    return sorted({found.metadata["Name"] for found in owners} - {NAME})


def _distribution() -> Distribution | None:
    try:
        return distribution(NAME)
    except PackageNotFoundError:
        return None


def _source(extras: list[str]) -> str:
    """What this copy was installed from, as the end of a command line that installs it again with `extras`. It is empty
    if that is gone or not known: pip does not write down in which folder of wheels it found one."""
    found = _distribution()
    origin: dict[str, Any] = json.loads((found.read_text("direct_url.json") if found else "") or "{}")
    place = unquote(str(origin.get("url") or "")).removeprefix("file://") or ("" if found else str(CHECKOUT))
    if "vcs_info" in origin:
        place = f"{origin['vcs_info']['vcs']}+{place}@{origin['vcs_info'].get('commit_id', '')}"
    elif place.startswith("/") and not os.path.exists(place):
        return ""
    editable = "--editable " if origin.get("dir_info", {}).get("editable") else ""
    return editable + shlex.quote(place + (f"[{','.join(extras)}]" if extras else "")) if place else ""


def _is_of_pipx() -> bool:
    return os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json"))


def _of_uv() -> tuple[list[str], list[str] | None]:
    """The extras of the tool that uv has made this environment for, and the requirements that it has added; None
    without uv."""
    path = Path(sys.prefix, "uv-receipt.toml")
    if not path.is_file():
        return [], None
    entries: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["tool"]["requirements"]
    extras = [extra for entry in entries if entry["name"] == NAME for extra in entry.get("extras", ())]
    others = (entry for entry in entries if entry["name"] != NAME)
    return extras, [str(one.get("path") or f"{one['name']}{one.get('specifier', '')}") for one in others]


def _pip(verb: str = "install") -> str:
    """The beginning of a line that installs in this environment; environments that uv has made have no pip.

    Systems that manage their Python refuse pip without an option, with which this copy came there, too.
    """
    python, yes = shlex.quote(sys.executable), " -y" if verb == "uninstall" else ""
    if find_spec("pip") is None:
        return f"uv pip {verb} --python {python}"
    managed = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    allow = " --break-system-packages" if sys.prefix == sys.base_prefix and os.path.exists(managed) else ""
    return f"{python} -m pip {verb}{yes}{allow}"
