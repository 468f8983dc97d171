"""Who is let in: rebinding, cross-site requests, tokens, and a thousand bad requests."""

from __future__ import annotations

import random
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from tests.unit.studio.running import Studio, hear, opened, say
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import connect

from choreograph.errors import RequestError
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


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost"])
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


def test_sockets_of_other_sites_are_refused(studio: Studio) -> None:
    url = f"ws://127.0.0.1:{studio.port}/api/live"
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{studio.port + 1}"):
        with pytest.raises((InvalidStatus, ConnectionClosedError)), connect(url, origin=origin):  # type: ignore[arg-type]
            pass
    with connect(url, origin=f"http://127.0.0.1:{studio.port}") as page:  # type: ignore[arg-type]
        say(page, "hello", protocol="x")
        hear(page, "welcome")


def test_answers_carry_their_headers(studio: Studio) -> None:
    for path in ("/", "/api/project", "/api/nothing"):
        headers = studio.http.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
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
