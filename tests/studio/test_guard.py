"""Nobody in: every request that is not the page's own is refused."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
import pytest
from studio_client import OWN, TOKEN

from handful.studio import server
from handful.studio.server import MOST_BYTES, ROUTES, Guard, is_loopback


def test_the_page_comes_with_its_policy(client):
    reply = client.get("")
    assert reply.status_code == 200
    policy = reply.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert "onclick" not in reply.text
    assert "<script>" not in reply.text


@pytest.mark.parametrize("path", ["/", "/wrong/", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", "/ask/view", "/static/studio.css"])
def test_without_the_token_nothing(client, path):
    reply = client.get(f"http://127.0.0.1:8000{path}")
    assert reply.status_code == 403
    assert "token" in reply.text


@pytest.mark.parametrize("path", ["", "view", "static/studio.css", "events"])
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "192.168.0.7:8000", ""]
)
def test_a_foreign_host_is_refused(client, path, host):
    assert client.get(path, headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:1", "[::1]:8000"])
def test_names_of_this_machine_are_hosts(client, host):
    assert client.get("", headers={"host": host, "origin": f"http://{host}"}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:9999", "https://127.0.0.1:8000", "null", ""]
)
def test_a_foreign_origin_is_refused(client, origin):
    assert client.post("undo", json={}, headers={"origin": origin}).status_code == 403
    assert client.get("view", headers={"origin": origin}).status_code == 403


def test_an_action_without_an_origin_is_refused(client):
    client.headers.pop("origin")
    assert client.post("names", json={"name": "a"}).status_code == 403
    assert client.get("view").status_code == 200
    assert client.get("view").json()["labels"] == []


def test_a_form_is_no_action(client):
    assert client.post("undo", data={}).status_code == 415
    reply = client.post("undo", content="{}", headers={"content-type": "text/plain"})
    assert reply.status_code == 415


@pytest.mark.parametrize(
    "path",
    [
        "static/../server.py",
        "static/%2e%2e/server.py",
        "static/..%2f..%2f..%2fetc/passwd",
        "static//etc/passwd",
        "../../x",
    ],
)
def test_no_file_outside_the_static_folder(client, path):
    from urllib.parse import unquote

    raw = f"/{TOKEN}/{unquote(path)}"
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": raw, "raw_path": raw.encode(), "query_string": b"", "root_path": "",
        "headers": [(b"host", b"127.0.0.1:8000")], "scheme": "http", "server": ("127.0.0.1", 8000), "http_version": "1.1",
    }  # fmt: skip
    anyio.run(client.app, scope, receive, send)
    assert sent[0]["status"] in (403, 404)


def test_an_oversized_body_is_refused(client):
    reply = client.post("labels", content=b"x" * (MOST_BYTES + 1), headers={"content-type": "application/json"})
    assert reply.status_code == 413


def test_a_body_longer_than_it_says_is_refused(client):
    def pieces():
        for _ in range(20):
            yield b"x" * (MOST_BYTES // 10)

    reply = client.post("labels", content=pieces(), headers={"content-type": "application/json"})
    assert "content-length" not in reply.request.headers
    assert reply.status_code == 413


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"1", b'{"items": [1e999], "label": "a"}', b"\xff", b"[" * 200_000])
def test_what_is_no_action_is_a_sentence(client, body):
    reply = client.post("labels", content=body, headers={"content-type": "application/json"})
    assert reply.status_code == 400
    assert reply.json()["error"]
    assert client.get("view").json()["version"] == 0


def test_there_are_no_other_doors(client):
    assert client.get("nothing").status_code == 404
    assert client.post("nothing", json={}).status_code == 404
    assert client.post("spans", json={}).status_code == 404  # of a text
    assert client.get("labels").status_code == 405
    assert client.put("labels", json={}).status_code == 405


def test_an_open_server_takes_addresses_but_no_strange_names():
    guard = Guard(None, TOKEN, "0.0.0.0")
    assert guard._refusal({"method": "GET", "path": f"/{TOKEN}/"}, {"host": "192.168.0.7:80"}) is None
    assert guard._refusal({"method": "GET", "path": f"/{TOKEN}/"}, {"host": "evil.example:80"}) is not None


def test_loopback():
    assert all(is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "127.3.2.1"))
    assert not any(is_loopback(host) for host in ("0.0.0.0", "192.168.0.7", "example.org"))


def test_a_page_that_is_open_to_others_says_so(make_session):
    from starlette.testclient import TestClient

    from handful.studio.server import make_app
    from handful.studio.table_session import TableStudio

    app = make_app(TableStudio(make_session()), TOKEN, "0.0.0.0")
    page = TestClient(app, headers=OWN).get(f"http://127.0.0.1:8000/{TOKEN}/").text
    assert "Whoever has the" in page


def test_the_pages_use_all_routes_and_no_others():
    pages = "".join(path.read_text() for path in Path(server.__file__).with_name("static").glob("*.js"))
    asked = re.findall(r"""\b(?:act|acted|ask|mark|post)\(["`](.+?)["`]""", pages)
    used = {re.sub(r"\$\{.+?\}", "{row}", route) for route in asked} - {"{row}ed"} | {"accepted", "rejected"}
    assert {f"/{route}" for route in used} == {path for _, path, _ in ROUTES}
