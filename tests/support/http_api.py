"""A client of a server in this process, which checks what all answers have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Api:
    """Requests to a WSGI application, below `/api/v1/`."""

    app: Any

    def ask(self, method: str, path: str, body: Any = None, *, status: int = 200, **options: Any) -> Any:
        """Return the JSON of an answer with this status, or None if it has no body."""
        answer = self.raw(method, path, body, **options)
        assert answer.status_code == status, (answer.status_code, answer.text)
        assert answer.headers["X-Openstack-Request-Id"].startswith("req-")
        if status == 204:
            assert answer.data == b""
            return None
        assert answer.content_type == "application/json"
        document = answer.get_json()
        if status >= 400:
            assert isinstance(document["message"], str)
            assert isinstance(document["errors"], list)
            assert "Traceback" not in answer.text
        return document

    def raw(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """Return any answer."""
        if body is not None:
            options["json"] = body
        return self.app.test_client().open(f"/api/v1/{path}", method=method, **options)

    def plain(self, method: str, path: str, body: Any = None, *, status: int, **options: Any) -> str:
        """Return the text of an error that Nailgun has as plain text."""
        answer = self.raw(method, path, body, **options)
        assert (answer.status_code, answer.mimetype) == (status, "text/plain"), answer.text
        return str(answer.text)

    def refusal(self, method: str, path: str, body: Any = None, *, status: int, **options: Any) -> str:
        """Return the message of an error."""
        return str(self.ask(method, path, body, status=status, **options)["message"])
