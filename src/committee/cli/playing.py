"""What `committee play` does: serve the playground until Ctrl-C."""

from __future__ import annotations

import sys
import threading
import webbrowser

from committee.play.server import ADDRESS, PlayServer
from committee.play.service import wait_until_idle

# Tried first, so that links that were shared or kept lead somewhere.
USUAL_PORT = 8017

_LONGEST_ANSWER = 5.0  # seconds to wait for at the end


def play(port: int | None, *, opens_browser: bool) -> None:
    """Serve the playground.

    Parameters
    ----------
    port : int or None
        Where; None is the usual port, or any other if that is taken.
    opens_browser : bool
        Whether the page is opened.
    """
    with _open(port) as server:
        sys.stdout.write(f"The playground is at {server.url}\nCtrl-C stops it.\n")
        sys.stdout.flush()
        if opens_browser:  # in a thread, because browsers of terminals take over
            threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
        try:
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            wait_until_idle(_LONGEST_ANSWER)
            sys.stdout.write("\n")


def _open(port: int | None) -> PlayServer:
    try:
        return PlayServer(USUAL_PORT if port is None else port)
    except OSError as error:
        if port is None:
            return PlayServer(0)
        where = f"port {port} of {ADDRESS}"
        raise OSError(f"{where} cannot be used: {error.strerror or error}") from None
