"""`committee play`: it says where it is, answers, and ends when it is told to."""

import http.client
import queue
import re
import signal
import socket
import webbrowser

import pytest

from committee.cli import playing
from committee.play.server import PlayServer


def read_address(process):
    line = process.stdout.readline()
    return int(re.search(r"http://127\.0\.0\.1:(\d+)/$", line).group(1))


def test_it_serves_the_page_until_it_is_told_to_stop(start, tmp_path):
    process = start("play", "--no-browser", "--port", "0", cwd=tmp_path)
    port = read_address(process)
    assert process.stdout.readline() == "Ctrl-C stops it.\n"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/")
    assert b"committee play" in connection.getresponse().read()
    process.send_signal(signal.SIGINT)  # while the connection is kept open
    assert process.wait(10) == 0
    assert process.stderr.read() == ""
    connection.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


def test_a_port_that_is_taken_is_named(command, tmp_path):
    with PlayServer(0) as server:
        port = server.server_port
        result = command("play", "--no-browser", "--port", port, cwd=tmp_path)
    assert result.returncode == 1
    assert f"port {port} of 127.0.0.1 cannot be used" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_is_none_is_refused(command, tmp_path, port):
    assert command("play", "--port", port, cwd=tmp_path).returncode == 2


def test_the_usual_port_gives_way_and_the_page_is_opened(command, tmp_path, monkeypatch):
    opened = queue.Queue()
    monkeypatch.setattr(webbrowser, "open", opened.put)

    def interrupted(self, poll_interval):
        raise KeyboardInterrupt

    monkeypatch.setattr(PlayServer, "serve_forever", interrupted)
    monkeypatch.setattr(playing, "wait_until_idle", lambda seconds: True)
    with PlayServer(0) as other:
        monkeypatch.setattr(playing, "USUAL_PORT", other.server_port)
        result = command("play", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    address = opened.get(timeout=10)
    assert address in result.stdout
    assert str(other.server_port) not in address
