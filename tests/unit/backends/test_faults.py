"""A master that answers slowly, wrongly or endlessly: one clear error in time, and no token for strangers."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from faulty_master import Answering, Request, after_version, certificate, closed_port, in_turn, serving, version
from refusals import missing, refused

from fuelclient.backends.base import Backend
from fuelclient.backends.connected import connected
from fuelclient.backends.http import transport
from fuelclient.errors import FuelError, InvalidDocument, Unauthorised, Unavailable
from fuelclient.settings import load
from fuelclient.settings.master import Credentials, Master

IN_TIME = 60.0
"""Seconds in which every error is there: the limits of the tests are below 2, the machine may be busy."""

TOKEN = "s3cr3t-t0ken"  # noqa: S105 (it opens nothing)
ENVIRONMENTS = [{"id": 1, "name": "env1", "release_id": 1, "status": "new"}]


@contextmanager
def error_of(answer: Answering, kind: type[FuelError] = Unavailable, **options: object) -> Iterator[list[str]]:
    """The text of the error with which environments cannot be listed from a server that answers so, in time."""
    said: list[str] = []
    with serving(answer) as server:
        backend = connected(Master(server.url, **options))  # type: ignore[arg-type]  # options of Master
        began = time.monotonic()
        with pytest.raises(kind) as caught:
            backend.clusters.list()
        assert time.monotonic() - began < IN_TIME
        assert server.url in str(caught.value) or kind is not Unavailable
        said.append(str(caught.value))
        backend.close()
    yield said


def silent(request: Request) -> None:
    for _ in request.until_stopped():
        pass


def dripping_headers(request: Request) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for _ in request.until_stopped():
        request.wfile.write(b"X-More: 1\r\n")


def dripping_body(request: Request) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999999\r\n\r\n[")
    for _ in request.until_stopped():
        request.wfile.write(b" ")


def endless(request: Request) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    while not request.server.stopping.is_set():
        request.wfile.write(chunk)


def half(request: Request) -> None:
    request.raw(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n[{"id": 1,')


@pytest.mark.parametrize("answer", [silent, after_version(silent)], ids=["at once", "later"])
def test_silence_ends(answer: Answering) -> None:
    with error_of(answer, timeout=5, total_timeout=0.5) as (said,):
        assert "no whole answer in 0.5 seconds" in said


def test_a_master_that_works_is_waited_for(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """It is silent for longer than a connection may take, and a line says now and then that it is waited for."""
    monkeypatch.setattr(transport, "_LOG_SECONDS", 0.2)

    def slow(request: Request) -> None:
        time.sleep(1)
        request.json([])

    with serving(after_version(slow)) as server, caplog.at_level(logging.INFO):
        backend = connected(Master(server.url, timeout=0.5))
        assert backend.clusters.list() == []
        backend.close()
    lines = [record.getMessage() for record in caplog.records if "has not answered" in record.getMessage()]
    assert 2 <= len(lines) <= 5
    assert all(f"{server.url}/api/v1/clusters" in line for line in lines)
    time.sleep(0.5)
    assert len([record for record in caplog.records if "has not answered" in record.getMessage()]) == len(lines)


def test_raised_connection_timeout_is_not_shortened() -> None:
    settings = load({"SERVER_ADDRESS": "http://fuel:8000"}, {"HTTP_TIMEOUT": "400"})
    assert settings.master is not None
    assert settings.master.total_timeout == 400


@pytest.mark.parametrize("answer", [dripping_headers, dripping_body])
def test_an_answer_that_is_never_whole_ends(answer: Answering) -> None:
    with error_of(after_version(answer), timeout=5, total_timeout=1) as (said,):
        assert "no whole answer in 1 seconds" in said


def test_an_endless_answer_ends() -> None:
    with error_of(after_version(endless), body_limit=2**20) as (said,):
        assert "larger than 1048576 bytes" in said


def test_half_a_body_is_tried_again_and_told() -> None:
    with error_of(after_version(half), retries=2) as (said,):
        assert "broke off" in said


def test_html_is_no_answer() -> None:
    with error_of(lambda request: request.text("<html>Welcome</html>")) as (said,):
        assert "answered HTML" in said
        assert "SERVER_ADDRESS" in said


def test_what_speaks_no_http_is_told() -> None:
    def answer(request: Request) -> None:
        request.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n")

    with error_of(answer) as (said,):
        assert "speaks no HTTP: SSH-2.0-OpenSSH_9.6" in said


def test_a_wrong_path_in_the_address_is_told() -> None:
    def answer(request: Request) -> None:
        if request.path.startswith("/nope"):
            request.json({"message": "no such path"}, 404)
        else:
            version(request)

    with serving(answer) as server, refused(Unavailable, "Leave /nope out of --server"):
        connected(Master(f"{server.url}/nope")).clusters.list()


@pytest.mark.parametrize("body", ["", "[1", "[" * 100_000])
def test_what_is_no_json_is_no_answer(body: str) -> None:
    with error_of(after_version(lambda request: request.text(body, kind="application/json")), FuelError) as (said,):
        assert said


def test_an_answer_of_another_shape_is_told() -> None:
    with error_of(after_version(lambda request: request.json({"a": 1})), InvalidDocument) as (said,):
        assert "a list of environments" in said


@pytest.mark.parametrize("uid", ["../../elsewhere", "/elsewhere", "a/b", "..", ""])
def test_uids_of_facts_are_no_paths(uid: str) -> None:
    """Files are named after them."""
    with serving(after_version(lambda request: request.json([{"uid": uid}]))) as server:
        backend = connected(Master(server.url))
        with refused(InvalidDocument, "uid"):
            backend.facts.get(1)
        with refused(InvalidDocument, "uid"):
            backend.facts.default(1)
        backend.close()


def test_refused_connections_are_told_at_once() -> None:
    backend = connected(Master(f"http://127.0.0.1:{closed_port()}"))
    began = time.monotonic()
    with refused(Unavailable, "connection refused", "--server"):
        backend.clusters.list()
    assert time.monotonic() - began < IN_TIME


def test_an_unknown_host_is_told() -> None:
    with refused(Unavailable, "http://no.such.host.invalid"):
        connected(Master("http://no.such.host.invalid")).clusters.list()


def test_a_busy_master_is_asked_again() -> None:
    busy: Answering = lambda request: request.text("busy", 503)  # noqa: E731 (one of a row)
    fine: Answering = lambda request: request.json(ENVIRONMENTS)  # noqa: E731
    with serving(in_turn(busy, version, busy, half, fine)) as server:
        backend = connected(Master(server.url))
        assert [one.name for one in backend.clusters.list()] == ["env1"]
        assert [one.path for one in server.asked] == ["/api/v1/version"] * 2 + ["/api/v1/clusters/"] * 3
        backend.close()


def test_a_write_is_sent_once() -> None:
    with serving(after_version(lambda request: request.text("busy", 503))) as server:
        with refused(Unavailable, server.url, 503):
            connected(Master(server.url)).clusters.create("a", 1)
        assert [one.method for one in server.asked] == ["GET", "POST"]


# Tokens


def with_token(url: str, **options: object) -> Backend:
    return connected(Master(url, Credentials(token=TOKEN), **options))  # type: ignore[arg-type]  # as above


def wants_token(answer: Answering) -> Answering:
    """A master that wants a token, and answers everything but that so."""

    def answered(request: Request) -> None:
        if request.path == "/api/v1/version":
            request.json({"auth_required": True})
        else:
            answer(request)

    return answered


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_host_gets_no_token_and_no_request(status: int, method: str) -> None:
    with serving(lambda request: request.json([])) as other:
        away: Answering = lambda request: request.text("", status, Location=f"{other.url}/api/v1/clusters/")  # noqa: E731
        with serving(wants_token(away)) as server:
            backend = with_token(server.url)
            with refused(Unavailable, "redirects", other.url):
                _ = backend.clusters.list() if method == "GET" else backend.clusters.create("a", 1)
            assert [one.token for one in server.asked] == ["", TOKEN]
        assert other.asked == []


def test_a_redirect_of_the_version_leads_nowhere_either() -> None:
    with serving(version) as other, serving(lambda request: request.text("", 302, Location=other.url)) as server:
        with refused(Unavailable, "redirects", other.url):
            with_token(server.url).clusters.list()
        assert other.asked == []


def test_a_redirect_within_the_master_is_followed() -> None:
    def moved(request: Request) -> None:
        if request.path.endswith("?moved"):
            request.json(ENVIRONMENTS)
        else:
            request.text("", 308, Location=f"{request.path}?moved")

    with serving(wants_token(moved)) as server:
        assert len(with_token(server.url).clusters.list()) == 1
        assert server.asked[-1].token == TOKEN


def test_redirects_without_end_end() -> None:
    with error_of(after_version(lambda request: request.text("", 302, Location=request.path))) as (said,):
        assert "redirected again and again" in said


@pytest.mark.parametrize("location", ["http://[elsewhere/", "http://127.0.0.1:999999/"])
def test_a_redirect_to_no_address_is_told(location: str) -> None:
    with error_of(after_version(lambda request: request.text("", 302, Location=location))) as (said,):
        assert "redirects to" in said


def test_a_refused_token_is_explained_and_never_shown() -> None:
    with serving(wants_token(lambda request: request.json({"message": "no"}, 401))) as server:
        with refused(Unauthorised, "OS_TOKEN") as caught:
            with_token(server.url).clusters.list()
        assert TOKEN not in str(caught.value)


@pytest.mark.parametrize("status", [200, 400, 404, 500])
def test_a_token_that_the_master_repeats_is_never_shown(status: int) -> None:
    def echo(request: Request) -> None:
        request.json({"message": f"X-Auth-Token: {request.headers.get('X-Auth-Token')}"}, status)

    with serving(wants_token(echo)) as server:
        with pytest.raises(FuelError) as caught:
            with_token(server.url).clusters.list()
        assert TOKEN not in str(caught.value)
    elsewhere = wants_token(lambda request: request.text("", 302, Location=f"http://{TOKEN}.example/"))
    with serving(elsewhere) as server:
        with pytest.raises(FuelError) as caught:
            with_token(server.url).clusters.list()
        assert TOKEN not in str(caught.value)


def test_credentials_are_asked_for() -> None:
    with serving(wants_token(lambda request: request.json([]))) as server:
        with refused(Unauthorised, "OS_USERNAME"):
            connected(Master(server.url)).clusters.list()
        assert [one.path for one in server.asked] == ["/api/v1/version"]


def test_no_password_of_netrc_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password hidden\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    seen: list[str | None] = []

    def answer(request: Request) -> None:
        seen.append(request.headers.get("Authorization"))
        request.json([])

    with serving(after_version(answer)) as server:
        connected(Master(server.url)).clusters.list()
    assert seen == [None]


def test_proxy_setting_is_used_unless_no_proxy_names_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = after_version(lambda request: request.json(ENVIRONMENTS))
    with serving(lambda request: request.json({"auth_required": False})) as proxy, serving(answer) as server:
        backend = connected(Master(server.url, proxy=proxy.url))
        with pytest.raises(InvalidDocument):
            backend.clusters.list()
        assert [one.path for one in proxy.asked] == [f"{server.url}/api/v1/{path}" for path in ("version", "clusters/")]
        backend.close()
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        direct = connected(Master(server.url, proxy=proxy.url))
        assert len(direct.clusters.list()) == 1
        direct.close()
        assert len(proxy.asked) == 2


# TLS


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: no certificate can be made")
    return certificate(tmp_path_factory.mktemp("tls"))


def test_a_certificate_of_a_stranger_is_refused(tls: Path) -> None:
    with serving(after_version(lambda request: request.json(ENVIRONMENTS)), tls) as server:
        began = time.monotonic()
        with refused(Unavailable, "certificate", "--os-cacert"):
            with_token(server.url).clusters.list()
        assert time.monotonic() - began < IN_TIME
        assert server.asked == []


@pytest.mark.parametrize(
    "options", [lambda tls: {"ca_file": str(tls / "cert.pem")}, lambda _: {"insecure": True}], ids=["ca", "insecure"]
)
def test_a_certificate_can_be_named_or_not_be_checked(tls: Path, options: Callable[[Path], dict[str, object]]) -> None:
    with serving(after_version(lambda request: request.json(ENVIRONMENTS)), tls) as server:
        backend = connected(Master(server.url, **options(tls)))  # type: ignore[arg-type]  # options of Master
        assert len(backend.clusters.list()) == 1
        backend.close()


def test_a_file_of_certificates_that_is_absent_is_told(tmp_path: Path) -> None:
    backend = connected(Master("https://127.0.0.1:1", ca_file=str(tmp_path / "none.pem")))
    with missing("file", tmp_path / "none.pem", "--os-cacert", "OS_CACERT"):
        backend.clusters.list()
    backend.close()


@pytest.mark.parametrize("is_named", [True, False])
def test_the_version_of_keystone_is_found_out_over_tls(tls: Path, is_named: bool) -> None:
    def answer(request: Request) -> None:
        if request.path == "/keystone/":
            request.json({"versions": {"values": [{"id": "v3.14"}]}}, 300)
        else:
            request.json({"auth_required": True} if request.path == "/api/v1/version" else {}, 200)

    credentials = Credentials(username="admin", password="secret")  # noqa: S106 (it opens nothing)
    ca_file = str(tls / "cert.pem") if is_named else ""
    with serving(answer, tls) as server:
        backend = connected(Master(server.url, credentials, ca_file=ca_file, insecure=not is_named))
        with refused(Unavailable, f"{server.url}/keystone/v3"):
            backend.clusters.list()
        backend.close()
        assert server.asked[-1].path == "/keystone/v3/auth/tokens"


def test_a_slow_answer_over_tls_ends(tls: Path) -> None:
    with serving(after_version(dripping_body), tls) as server:
        backend = connected(Master(server.url, ca_file=str(tls / "cert.pem"), timeout=5, total_timeout=1))
        with refused(Unavailable, server.url, 1, "FUEL_HTTP_TOTAL_TIMEOUT"):
            backend.clusters.list()
        backend.close()


def test_tls_is_not_spoken_to_a_server_without_it() -> None:
    with serving(version) as server:
        address = server.url.replace("http:", "https:")
        with pytest.raises(Unavailable, match=r"speaks no HTTPS\. Use http://|cannot be reached"):
            connected(Master(address)).clusters.list()
