"""Who is let in: rebinding, cross-site requests, tokens, and a thousand bad requests."""

from __future__ import annotations

import http.client
import json
import random
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.unit.studio.running import Studio, hear, opened, say, until
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import connect

from choreograph.base.errors import RequestError
from choreograph.studio import http_server as listening
from choreograph.studio import security
from choreograph.studio.http_server import check_tls, find_names
from choreograph.studio.server import create_app


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_this_machines_own_names_are_let_in(studio: Studio, host: str) -> None:
    for name in (host, f"{host}:{studio.port}"):
        assert studio.http.get("/api/jobs", headers={"host": name}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "192.168.0.1", "", "::1x"]
)
def test_rebound_names_are_refused(studio: Studio, host: str) -> None:
    answer = studio.http.get("/api/jobs", headers={"host": f"{host}:{studio.port}"})
    assert answer.status_code == 403 and "address that it printed" in answer.json()["error"]


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost", "http://[", "http://[::1", "//"],
)
def test_other_sites_change_nothing(studio: Studio, origin: str) -> None:
    for method, path in (
        ("POST", "undo"),
        ("PUT", "view"),
        ("POST", "jobs"),
        ("DELETE", "jobs/a"),
        ("POST", "recordings"),
    ):
        answer = studio.http.request(method, f"/api/{path}", headers={"origin": origin}, json={})
        assert answer.status_code == 403 and "another site" in answer.json()["error"]


def test_our_own_page_may(studio: Studio) -> None:
    own = {"origin": f"http://127.0.0.1:{studio.port}", "sec-fetch-site": "same-origin"}
    view = studio.get("project")["view"]
    assert studio.http.put("/api/view", json=view, headers=own).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_nothing_is_read_across_sites_but_links_work(studio: Studio, site: str) -> None:
    assert studio.http.get("/api/project", headers={"sec-fetch-site": site}).status_code == 403
    link = {"sec-fetch-site": site, "sec-fetch-mode": "navigate"}
    assert studio.http.get("/", headers=link).status_code in (200, 503)
    assert studio.http.get("/api/project", headers=link).status_code == 403


@pytest.mark.parametrize("path", ["live", "steer"])
def test_sockets_of_other_sites_are_refused(studio: Studio, path: str) -> None:
    url = f"ws://127.0.0.1:{studio.port}/api/{path}"
    for origin in ("http://evil.example", "null", "http://[", f"http://127.0.0.1:{studio.port + 1}"):
        with pytest.raises((InvalidStatus, ConnectionClosedError)), connect(url, origin=origin):  # type: ignore[arg-type]
            pass
    rebound = {"Host": "evil.example"}
    with pytest.raises((InvalidStatus, ConnectionClosedError)), connect(url, additional_headers=rebound):
        pass
    if path == "live":
        _talks(studio, url)


def _talks(studio: Studio, url: str) -> None:
    with connect(url, origin=f"http://127.0.0.1:{studio.port}") as page:  # type: ignore[arg-type]
        say(page, "hello", protocol="x")
        hear(page, "welcome")


def test_answers_carry_their_headers(studio: Studio) -> None:
    for path in ("/", "/api/project", "/api/nothing"):
        headers = studio.http.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert "media-src 'self' blob:;" in policy, "films of this computer play"
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"


def test_strangers_need_the_token(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="token is needed"):
        create_app(tmp_path, host="0.0.0.0")
    with opened(tmp_path, host="0.0.0.0", token="secret") as studio:
        assert studio.http.get("/api/project").status_code == 401
        assert studio.http.get("/api/project", params={"token": "wrong"}).status_code == 401
        assert studio.http.get("/api/project", headers={"cookie": "choreograph_token=wrong"}).status_code == 401
        with pytest.raises((InvalidStatus, ConnectionClosedError)), studio.page():
            pass
        assert studio.http.get("/", params={"token": "wrong"}).status_code == 401
        first = studio.http.get("/api/project", params={"token": "secret"})
        assert first.status_code == 200
        cookie = first.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert studio.http.get("/api/project", headers={"cookie": cookie.split(";")[0]}).status_code == 200
        url = f"ws://127.0.0.1:{studio.port}/api/live"
        with connect(url, additional_headers={"cookie": cookie.split(";")[0]}) as page:
            say(page, "hello", protocol="x")
            hear(page, "welcome")


def test_a_thousand_bad_requests_are_survived(studio: Studio) -> None:
    rng = random.Random(5)
    paths = [
        *("/", "/api/project", "/api/document", "/api/jobs", "/api/recordings", "/api/motions/clip/x", "/api/live"),
        *("/api/motions/clip/..%2f..%2fetc", "/../../etc/passwd", "/api/exports/x/%2e%2e", "/api/path", "/%00", "/api"),
    ]
    broken = [b"GET", b"\0" * 100, b"GET / HTTP/9.9\r\n\r\n", b"POST /api/undo HTTP/1.1\r\nContent-Le"]
    bodies: list[Any] = [b"", b"{", b"[" * 5000, b"null", b'{"base":1e999}', b"\xff\xfe", b'{"kind":"build","ask":[]}']
    for _ in range(800):
        method = rng.choice(["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "BREW"])
        headers = {
            "content-type": rng.choice(["application/json", "multipart/form-data; boundary=x", "text/plain", ""])
        }
        answer = studio.http.request(method, rng.choice(paths), content=rng.choice(bodies), headers=headers)
        assert answer.status_code < 500 or answer.status_code == 503, (method, answer.url, answer.text)
    for _ in range(200):  # not even HTTP
        with socket.create_connection(("127.0.0.1", studio.port)) as line:
            line.sendall(rng.choice(broken))
    assert studio.get("project")["graph"]["current"]


def test_the_page_is_asked_for_anew_and_its_parts_are_kept(studio: Studio) -> None:
    page = studio.http.get("/")
    if page.status_code == 503:
        assert "make page" in page.text
        pytest.skip("the page is not built")
    assert page.headers["cache-control"] == "no-cache"
    part = re.search(r'"\.?(/assets/[^"]+)"', page.text)
    assert part is not None
    assert "immutable" in studio.http.get(part[1]).headers["cache-control"]


ODD_COOKIES = (
    'prefs={"a":1}',
    "a=b; =c; ;",
    "x",
    '"; a="',
    "ü=ä",
    "choreograph_token=of-another-studio",
    "a=" + "b" * 4000,
)


@pytest.mark.parametrize("odd", ODD_COOKIES)
def test_cookies_of_other_programs_do_no_harm(tmp_path: Path, odd: str) -> None:
    with opened(tmp_path, host="0.0.0.0", token="secret") as studio:
        own = studio.http.get("/api/project", params={"token": "secret"}).headers["set-cookie"].split(";")[0]
        studio.http.cookies.clear()
        for cookies in (f"{odd}; {own}", f"{own}; {odd}", f"{odd};{own};{odd}"):
            answer = studio.http.get("/api/project", headers={"cookie": cookies.encode("latin-1")})
            assert answer.status_code == 200, cookies
        assert studio.http.get("/api/project", headers={"cookie": odd.encode("latin-1")}).status_code == 401


def test_two_studios_of_one_machine_keep_a_cookie_each(tmp_path: Path) -> None:
    names = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        with opened(tmp_path / folder, host="0.0.0.0", token="secret") as studio:
            answer = studio.http.get("/api/project", params={"token": "secret"})
            names.append(answer.headers["set-cookie"].partition("=")[0])
    assert len(set(names)) == 2 and all(name.startswith("choreograph_token_") for name in names)


def test_the_token_leaves_the_address(tmp_path: Path) -> None:
    with opened(tmp_path, host="0.0.0.0", token="secret") as studio:
        answer = studio.http.get("/", params={"token": "secret"})
        assert answer.status_code == 200 and "secret" not in answer.text
        assert 'http-equiv="refresh" content="0; url=/"' in answer.text
        assert answer.headers["cache-control"] == "no-store" and answer.headers["referrer-policy"] == "no-referrer"
        assert studio.http.get("/").status_code in (200, 503)  # by the cookie; 503 where the page is not built


def test_bodies_that_are_made_to_break_programs(studio: Studio) -> None:
    wide, deep = "x" * 3_000_000, "[" * 200_000 + "]" * 200_000
    nested = '{"a":' * 900 + "1" + "}" * 900
    number = "9" * 1_000_000
    for body in (
        *(deep, nested, number, f'{{"kind": {number}}}', f'{{"kind": "follow", "ask": {{"{wide}": 1}}}}'),
        *(f'{{"kind": "{wide}"}}', f'{{"kind": "follow", "ask": {{"seed": {number}}}}}', f'{{"{wide}": 1}}'),
        *(f'{{"kind": "follow", "ask": {nested}}}', f'{{"kind": "follow", "ask": {{"path": "{wide}"}}}}'),
        '{"kind": "follow", "ask": {"points": [[1e999, 0], [0, 1]]}}',
    ):
        answer = studio.http.post("/api/jobs", content=body, headers={"content-type": "application/json"})
        assert 400 <= answer.status_code < 500 and len(answer.text) < 2000, (body[:60], answer.text[:300])
    with studio.page() as page:
        for ask in (nested, f'{{"seed": {number}}}', f'{{"{wide}": 1}}', f'{{"path": "{wide}"}}'):
            page.send(f'{{"type": "ask", "verb": "follow", "number": 1, "ask": {ask}}}')
            assert len(str(hear(page, "trouble", "refused"))) < 2000


def test_drafts_that_are_made_to_break_programs(studio: Studio) -> None:
    project = studio.get("project")
    for depth in (100, 500, 900):
        draft = json.loads('{"a":' * depth + "1" + "}" * depth)
        document = {**project["document"], "requests": {"follow": draft, "none": draft}}
        change = {"base": project["version"], "label": "x", "document": document}
        assert 400 <= studio.http.put("/api/document", json=change).status_code < 500


def test_connections_that_bring_nothing_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "REQUEST_S", 0.3)
    with opened(tmp_path) as studio:
        for begun in (b"", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET /api/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", studio.port), timeout=60) as line:
                line.sendall(begun)
                try:
                    while line.recv(65536):  # until the other side has had enough
                        pass
                except ConnectionResetError:
                    pass
        with studio.page() as page:  # what has become a socket stays
            time.sleep(1.0)
            say(page, "hello", protocol="x")
            hear(page, "welcome")


def test_a_connection_that_is_used_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "REQUEST_S", 1.5)
    with opened(tmp_path) as studio:
        line = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=60)
        until_s = time.monotonic() + 4.0
        while time.monotonic() < until_s:
            line.request("GET", "/api/jobs")
            assert line.getresponse().read()
            time.sleep(0.1)
        line.close()


def test_bodies_that_do_not_go_on_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "BODY_S", 0.3)
    with opened(tmp_path) as studio:
        for head in (b"POST /api/jobs", b"POST /api/recordings"):
            with socket.create_connection(("127.0.0.1", studio.port), timeout=60) as line:
                kind = b"multipart/form-data; boundary=x" if b"recordings" in head else b"application/json"
                line.sendall(head + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + kind)
                line.sendall(b"\r\nContent-Length: 1000\r\n\r\n{")
                assert line.recv(100).startswith(b"HTTP/1.1 4")


def test_there_may_be_so_many_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "MAX_CONNECTIONS", 20)
    with opened(tmp_path) as studio:
        lines = [socket.create_connection(("127.0.0.1", studio.port), timeout=60) for _ in range(40)]
        closed = 0
        for line in lines[20:]:
            try:
                closed += line.recv(1) == b""
            except ConnectionResetError:
                closed += 1
        assert closed == 20
        for line in lines:
            line.close()
        until(lambda: answers(studio))


def answers(studio: Studio) -> bool:
    try:
        return studio.http.get("/api/jobs").status_code == 200
    except httpx.TransportError:
        return False


def test_addresses_that_can_be_opened_are_told() -> None:
    assert find_names("127.0.0.1") == ["127.0.0.1"] and find_names("studio.example") == ["studio.example"]
    for host in ("0.0.0.0", "::"):
        names = find_names(host)
        assert names and not {"0.0.0.0", "::", ""} & set(names)
        assert names[-1] in ("127.0.0.1", "::1")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days"]
    words += ["2", "-keyout", str(key), "-out", str(cert), "-subj", "/CN=localhost"]
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    subprocess.run([*words, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    return cert, key


def test_it_can_be_encrypted(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    cert, key = certificate
    studio = Studio(create_app(tmp_path, host="0.0.0.0", token="secret"), ssl_certfile=cert, ssl_keyfile=key)
    try:
        trusted = ssl.create_default_context(cafile=str(cert))
        with httpx.Client(base_url=f"https://127.0.0.1:{studio.port}", verify=trusted, timeout=60) as http:
            cookie = http.get("/", params={"token": "secret"}).headers["set-cookie"]
            assert "; Secure" in cookie and http.get("/api/project").status_code == 200
        headers = {"cookie": cookie.split(";")[0]}
        with connect(f"wss://127.0.0.1:{studio.port}/api/live", ssl=trusted, additional_headers=headers) as page:
            say(page, "hello", protocol="x")
            hear(page, "welcome")
    finally:
        studio.stop()


def test_certificates_that_are_none_are_told(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    cert, key = certificate
    check_tls(cert, key)
    check_tls(None, None)
    (tmp_path / "text.pem").write_text("no certificate")
    for wrong in ((cert, None), (None, key), (cert, cert), (tmp_path / "none.pem", key), (tmp_path / "text.pem", key)):
        with pytest.raises(RequestError, match=r"--tls-cert|PEM"):
            check_tls(*wrong)


def test_the_command_prints_what_one_can_open(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "choreograph.cli.main", "studio", str(tmp_path), "--no-browser", "--port", "0"]
    with subprocess.Popen([*words, "--host", "0.0.0.0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split(" at ")[1].split()[0]
        others = [process.stdout.readline()]
        while others[-1].startswith(" "):
            others.append(process.stdout.readline())
        process.terminate()
    assert "?token=" in address and "0.0.0.0" not in address
    assert any("127.0.0.1" in line for line in others) and "not encrypted" in others[-1] and "ssh -L" in others[-1]
