"""A headless Chromium, driven through a pair of pipes: pages, scripts, and real events of the pointer and of keys."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH")


class Browser:
    """One page. `said` has what the browser reported: errors, refusals of the policy, requests."""

    def __init__(self, to: int, answers: int) -> None:
        self._to, self._answers = to, os.fdopen(answers, "rb")
        self._numbers, self._session = count(1), ""
        self.said: list[dict[str, Any]] = []

    def call(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.said.append(answer)

    def _read(self) -> dict[str, Any]:
        text = bytearray()
        while (letter := self._answers.read(1)) != b"\0":
            assert letter, "the browser is gone"
            text += letter
        answer: dict[str, Any] = json.loads(text)
        return answer

    def close(self) -> None:
        os.close(self._to)
        self._answers.close()

    def attach(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def open(self, path: Path) -> None:
        self.said.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.said):
            self.said.append(self._read())

    def value(self, script: str) -> Any:
        """Return what an expression of JavaScript yields."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def place(self, script: str) -> tuple[float, float]:
        """Return the middle of the element that an expression yields."""
        x, y = self.value(f"(r => [r.x + r.width / 2, r.y + r.height / 2])(({script}).getBoundingClientRect())")
        return x, y

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **more)

    def click(self, script: str) -> None:
        x, y = self.place(script)
        self.mouse("Moved", x, y)
        self.mouse("Pressed", x, y, button="left", clickCount=1)
        self.mouse("Released", x, y, button="left", clickCount=1)

    def write(self, text: str) -> None:
        """Write where the focus is."""
        self.call("Input.insertText", text=text)


@contextmanager
def browser(directory: Path) -> Iterator[Browser]:
    """Start a browser with a profile of its own in `directory`, and end it."""
    (theirs, to), (answers, back) = os.pipe(), os.pipe()
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--window-size=1400,900")
    # the browser reads its commands from descriptor 3 and answers on 4
    shell = f'exec "$@" 3<&{theirs} 4>&{back}'
    command = ("bash", "-c", shell, "bash", str(CHROMIUM), *options, f"--user-data-dir={directory}")
    with subprocess.Popen(command, pass_fds=(theirs, back), stdout=-3, stderr=-3) as process:
        os.close(theirs)
        os.close(back)
        driven = Browser(to, answers)
        try:
            driven.attach()
            yield driven
        finally:
            process.kill()
            driven.close()
