"""The server answers its own page and nobody else, whatever it is sent."""

import http.client
import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from play_tools import question

from committee.play.examples import example_points
from committee.play.server import MAX_BODY, TOKEN, page_files, with_setup
from committee.play.service import QUESTIONS


@pytest.fixture
def ask(server):
    """Send a request as it is given; return status, headers and content."""

    def send(method="POST", path="/ask/run", body=None, host=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            given = {"Host": host or f"127.0.0.1:{server.server_port}"}
            if method == "POST":
                given |= {TOKEN: server.token, "Content-Type": "application/json"}
                given["Content-Length"] = str(len(body or b""))
            given |= {key.replace("_", "-"): value for key, value in headers.items()}
            for key, value in given.items():
                if value is not None:
                    connection.putheader(key, value)
            connection.endheaders(body)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    return send


@pytest.fixture
def good():
    """A question that has an answer."""
    return json.dumps(question(example_points("ten"), "adaboost", rounds=3)).encode()


@pytest.fixture(autouse=True)
def _still_answers(ask, good):
    """Whatever a test has sent, the page gets its answers afterwards."""
    yield
    assert ask(body=good)[0] == 200


def refused(found, status):
    assert found[0] == status
    message = json.loads(found[2])["error"]
    assert 5 < len(message) <= 400
    assert "Access-Control-Allow-Origin" not in found[1]
    return message


def test_the_page_and_its_files_are_served_with_a_strict_policy(ask, server):
    status, headers, page = ask("GET", "/")
    assert status == 200
    assert server.token.encode() in page
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    for name in re.findall(rb'(?:src|href)="([\w.]+)"', page):
        status, headers, content = ask("GET", f"/{name.decode()}")
        assert (status, len(content) > 50) == (200, True)
    assert ask("GET", "/app.js?v=1")[1]["Content-Type"].startswith("text/javascript")
    status, headers, nothing = ask("HEAD", "/")
    assert (status, nothing) == (200, b"")
    assert int(headers["Content-Length"]) == len(page)


def test_a_run_is_answered(ask, good):
    status, headers, content = ask(body=good)
    assert (status, headers["Content-Type"]) == (200, "application/json; charset=utf-8")
    assert [round(each["error"], 2) for each in json.loads(content)["rounds"]] == [0.3, 0.21, 0.14]


def test_it_listens_to_this_machine_only(server):
    assert server.socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", " "]
)
def test_another_host_is_refused(ask, server, good, method, host):
    path, body = ("/", None) if method == "GET" else ("/ask/run", good)
    found = ask(method, path, body, host=host.format(port=server.server_port))
    message = refused(found, 403)
    assert server.token not in message


def test_localhost_is_this_machine_too(ask, server, good):
    assert ask(body=good, host=f"LOCALHOST:{server.server_port}")[0] == 200


def raw(server, text, *, wait=True):
    """Send bytes and return what comes back until the end."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as connection:
        connection.sendall(text)
        if not wait:
            connection.shutdown(socket.SHUT_WR)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
        return b"".join(parts)


@pytest.mark.parametrize(
    "lines",
    [
        ["GET / HTTP/1.1"],
        ["GET / HTTP/1.1", "Host: 127.0.0.1:{port}", "Host: evil.example"],
        ["GET / HTTP/1.1", "Host: evil.example", "Host: 127.0.0.1:{port}"],
        ["GET http://127.0.0.1:{port}/ HTTP/1.1", "Host: evil.example"],
    ],
)
def test_a_missing_or_doubled_host_is_refused(server, lines):
    text = "\r\n".join([*lines, "Connection: close", "", ""]).format(port=server.server_port)
    found = raw(server, text.encode())
    assert found.startswith(b"HTTP/1.1 403")
    assert server.token.encode() not in found


@pytest.mark.parametrize(
    "text",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET " + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n",
        b"GET / HTTP/1.1\r\na: " + b"b" * 70_000 + b"\r\n\r\n",
    ],
    ids=["zeros", "short", "version", "long path", "many headers", "long header"],
)
def test_what_is_no_request_is_refused(server, text):
    found = raw(server, text)
    assert b" 200 " not in found
    assert server.token.encode() not in found


@pytest.mark.parametrize("token", [None, "", "x", "ä" * 32])
def test_no_token_or_another_one_is_refused(ask, good, token):
    value = None if token is None else token.encode("latin-1")
    refused(ask(body=good, **{TOKEN: value}), 403)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_another_page_is_refused_even_with_the_token(ask, good, origin):
    refused(ask(body=good, Origin=origin), 403)


def test_a_page_cannot_ask_without_asking_whether_it_may(ask, good):
    """Forms and simple requests have other types; preflights get no permission."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", None):
        refused(ask(body=good, Content_Type=kind), 415)
    for method in ("OPTIONS", "PUT", "DELETE", "TRACE", "CONNECT"):
        refused(ask(method, "/ask/run", Origin="https://evil.example"), 501)


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/page/../server.py",
        "/%2e%2e/server.py",
        "/..%2fserver.py",
        "/./app.js/../../__init__.py",
        "//etc/passwd",
        "/app.js%00.html",
        "\\..\\server.py",
        "/page",
        "/ask/run",
        "http://[",
    ],
)
def test_paths_lead_to_files_of_the_list_only(ask, path):
    refused(ask("GET", path), 404)


@pytest.mark.parametrize(
    "path", ["/ask/eval", "/ask/", "/ask/run/", "/run", "/ask/../ask/run", "/"]
)
def test_other_questions_are_refused(ask, good, path):
    refused(ask(path=path, body=good), 404)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[NaN]",
        b'{"points": Infinity}',
        b"[" * 100_000,
        b"1" * 10_000,
        b'"\xff"',
        b'{"a": 1} {"b": 2}',
    ],
    ids=["empty", "open", "NaN", "infinity", "deep", "long number", "bytes", "two"],
)
def test_what_is_no_json_is_refused(ask, body):
    assert "no JSON" in refused(ask(body=body), 400)


def test_senseless_questions_are_refused_in_words_for_the_user(ask):
    points = {"x": [0] * 1001, "y": [0] * 1001, "class": [0] * 1001}
    body = json.dumps({"points": points, "method": "tree"}).encode()
    assert "1,000" in refused(ask(body=body), 422)
    assert "JSON" not in refused(ask(body=b"1e999"), 422)


def test_the_length_of_a_body_is_known_and_limited(ask, server, good):
    for length in ("", "-1", "abc", "1e3", "٣"):
        value = length.encode()
        refused(ask(body=good, Content_Length=value), 411)
    refused(ask(body=good, Transfer_Encoding="chunked"), 411)
    # Refused before it is sent, let alone read.
    for length in (MAX_BODY + 1, 10**12, 10**40):
        refused(ask(body=None, Content_Length=str(length)), 413)


def test_a_body_that_breaks_off_is_refused(server, good):
    head = (
        f"POST /ask/run HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n"
        f"{TOKEN}: {server.token}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"
    )
    assert raw(server, head.encode() + good, wait=False).startswith(b"HTTP/1.1 400")


def test_a_mistake_of_ours_is_told_and_does_not_end_the_server(ask, good, monkeypatch):
    def broken(content):
        raise RuntimeError("something")

    monkeypatch.setitem(QUESTIONS, "run", broken)
    assert "RuntimeError" in refused(ask(body=good), 500)


@contextmanager
def connections(server, number):
    opened = []
    try:
        for _ in range(number):
            address = ("127.0.0.1", server.server_port)
            opened.append(socket.create_connection(address, timeout=10))
        yield opened
    finally:
        for each in opened:
            each.close()


def test_connections_are_limited_and_room_comes_back(server, ask, good):
    with connections(server, 60) as opened:
        time.sleep(0.3)
        closed = 0
        for each in opened:
            each.settimeout(0.005)
            try:
                closed += each.recv(1) == b""
            except TimeoutError:
                pass
            except ConnectionResetError:
                closed += 1
        assert closed >= 60 - 32
    end = time.monotonic() + 10
    while True:
        try:
            assert ask(body=good)[0] == 200
            return
        except (ConnectionError, http.client.HTTPException):
            assert time.monotonic() < end


def test_questions_of_several_windows_wait_for_each_other(server, ask, good):
    body = json.dumps(question(example_points("moons", 200), "forest", rounds=30)).encode()
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: ask(body=body), range(12)))
    assert {status for status, _, _ in found} == {200}
    assert len({content for _, _, content in found}) == 1


def test_text_in_the_setup_cannot_end_its_element():
    page = with_setup("<!-- setup -->", {"label": "</script><script>alert(1)</script>"})
    assert page.count("<") == 2
    _, page = page_files("token")["/index.html"]
    assert b"<!-- setup -->" not in page
