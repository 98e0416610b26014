"""Draws docs/images/play.png, the page of `committee play`, with Chromium; run it from anywhere."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from committee.play.server import PlayServer

FOLDER = Path(__file__).parent
SIZE = "1280,1010"
STATE = "#method=adaboost&points=moons&n=200&noise=0.12&draw=2&held_out=0.3&round=9&at=0.1,0.05"


def main() -> None:
    """Serve the page and take a picture of it."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("there is no Chromium to draw with")
    with PlayServer(0) as server, tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += ["--no-first-run", "--disable-background-networking", "--disable-sync"]
        command += ["--blink-settings=preferredColorScheme=1", f"--user-data-dir={folder}/profile"]
        command += [f"--window-size={SIZE}", "--virtual-time-budget=8000"]
        command += ["--force-prefers-reduced-motion"]
        command += [f"--screenshot={FOLDER / 'play.png'}", server.url + STATE]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        server.shutdown()


if __name__ == "__main__":
    main()
