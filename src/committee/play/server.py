"""The server of the playground: a page and its questions, for this machine and this page only.

Who may ask: the address is 127.0.0.1, so nobody else's machine. Other pages in the same browser are
kept out twice: `Host` must be ours (a name that was rebound to 127.0.0.1 is not), and each question
carries a token that only our page can read, as answers grant no other origin anything. Bodies are
limited before they are read, work by the checks of each question, and files are those of a list.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from socketserver import TCPServer
from threading import BoundedSemaphore
from typing import Any

from committee.play.service import QUESTIONS, answer, setup

ADDRESS = "127.0.0.1"
TOKEN = "X-Committee-Token"

MAX_BODY = 2_000_000
_LOGGER = logging.getLogger(__name__)
_MAX_MESSAGE = 400
_MAX_CONNECTIONS = 32
_SECONDS_TO_SEND = 30  # an idle or slow connection is closed

_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class RefusedRequest(Exception):
    """A request that gets an error instead of an answer."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class PlayServer(ThreadingHTTPServer):
    """Serves the page on a port of this machine; port 0 is any free one.

    Examples
    --------
    >>> with PlayServer(0) as server:
    ...     print(server.url.startswith("http://127.0.0.1:"))
    True
    """

    daemon_threads = True  # connections that a browser keeps open do not hold up the end
    block_on_close = False
    request_queue_size = _MAX_CONNECTIONS
    allow_reuse_address = os.name == "posix"  # elsewhere it would share a port with another server

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(24)
        self.files = page_files(self.token)
        self._room = BoundedSemaphore(_MAX_CONNECTIONS)
        super().__init__((ADDRESS, port), PlayHandler)

    def server_bind(self) -> None:
        """Bind without asking for the name of this machine, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{ADDRESS}:{self.server_port}/"

    @property
    def hosts(self) -> frozenset[str]:
        """What may stand in `Host`."""
        return frozenset(f"{name}:{self.server_port}" for name in (ADDRESS, "localhost"))

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection its thread, unless there are too many."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Be silent about connections that break off."""


class PlayHandler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    server: PlayServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "committee", ""
    timeout = _SECONDS_TO_SEND
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave together

    def do_GET(self) -> None:
        """Send a file of the page."""
        self._respond(self._file)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        """Answer a question."""
        self._respond(self._answer)

    def _respond(self, make: Callable[[], tuple[str, bytes]]) -> None:
        try:
            self._check_host()
            kind, body = make()
            status = HTTPStatus.OK
        except RefusedRequest as refused:
            self.close_connection = True  # a body may be unread
            status, kind, body = refused.status, "application/json", _error(str(refused))
        except Exception as error:  # a mistake of ours, which the page has to learn of
            _LOGGER.exception("the playground failed")
            status, kind = HTTPStatus.INTERNAL_SERVER_ERROR, "application/json"
            body = _error(f"the playground failed: {type(error).__name__}: {error}")
        self._send(status, kind, body)

    def _check_host(self) -> None:
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.server.hosts:
            raise RefusedRequest(HTTPStatus.FORBIDDEN, "this is not the address of the playground")

    def _file(self) -> tuple[str, bytes]:
        path = self.path.partition("?")[0]
        found = self.server.files.get("/index.html" if path == "/" else path)
        if found is None:
            raise RefusedRequest(HTTPStatus.NOT_FOUND, "there is no such page")
        return found

    def _answer(self) -> tuple[str, bytes]:
        folder, _, question = self.path.rpartition("/")
        if folder != "/ask" or question not in QUESTIONS:
            raise RefusedRequest(HTTPStatus.NOT_FOUND, "there is no such question")
        self._check_sender()
        content = parse(self._body())
        try:
            found = json.dumps(answer(question, content), allow_nan=False)
        except (ValueError, TypeError) as error:
            raise RefusedRequest(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from error
        return "application/json", found.encode()

    def _check_sender(self) -> None:
        """Refuse other pages: they do not know the token, and browsers tell their origin."""
        token = self.headers.get(TOKEN, "")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            raise RefusedRequest(
                HTTPStatus.FORBIDDEN, "the playground was started anew: load the page again"
            )
        origin = self.headers.get("Origin")
        own = {f"http://{host}" for host in self.server.hosts}
        if origin is not None and origin.lower() not in own:
            raise RefusedRequest(HTTPStatus.FORBIDDEN, "only the page of the playground may ask")
        if self.headers.get_content_type() != "application/json":
            raise RefusedRequest(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "questions are JSON")

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            raise RefusedRequest(HTTPStatus.LENGTH_REQUIRED, "a question says how long it is")
        if len(length) > 9 or int(length) > MAX_BODY:
            raise RefusedRequest(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a question has at most {MAX_BODY:,} bytes"
            )
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise RefusedRequest(HTTPStatus.BAD_REQUEST, "the question breaks off")
        return body

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what http.server itself refuses, such as other methods, in the same way."""
        self.close_connection = True
        self.command = getattr(self, "command", None) or "GET"
        status = HTTPStatus(code)
        self._send(status, "application/json", _error(message or status.phrase))

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing about requests."""


def parse(body: bytes) -> Any:
    """Return what JSON says; NaN, infinities and what is nested too deeply are no JSON here."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no number of JSON")

    try:
        return json.loads(body.decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise RefusedRequest(HTTPStatus.BAD_REQUEST, f"this is no JSON: {error}") from error


def _error(message: str) -> bytes:
    return json.dumps({"error": message[:_MAX_MESSAGE]}).encode()


def page_files(token: str) -> dict[str, tuple[str, bytes]]:
    """Return the files of the page by their paths, with their types; the page knows the token."""
    files = {}
    for file in resources.files("committee.play").joinpath("page").iterdir():
        kind = _KINDS.get(file.name.rpartition(".")[2])
        if kind is not None:
            files[f"/{file.name}"] = (kind, file.read_bytes())
    kind, page = files["/index.html"]
    files["/index.html"] = (kind, with_setup(page.decode(), {"token": token, **setup()}).encode())
    return files


def with_setup(page: str, content: dict[str, Any]) -> str:
    """Return a page with what its script begins with; no text in it can end the element."""
    text = json.dumps(content, allow_nan=False).replace("<", "\\u003c")
    before, mark, after = page.partition("<!-- setup -->")
    if not mark:
        raise ValueError("the page has no place for its setup")
    return f'{before}<script type="application/json" id="setup">{text}</script>{after}'
