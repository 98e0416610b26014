"""Draws docs/images/report.png, two parts of a report, with Chromium; run it from anywhere."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import committee
from committee.datasets import load_penguins

FOLDER = Path(__file__).parent
WIDTH, HEIGHT = 900, 1180  # of each part
PARTS = ("", "#columns")
ZOOM = 0.66


def main() -> None:
    """Fit the penguins, write the report and take a picture of two parts."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("there is no Chromium to draw with")
    table, species = load_penguins(backend="pandas")
    table["species"] = species
    model = committee.train(table, "species", budget=4.0, random_state=0, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        model.report(page)
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += ["--no-first-run", "--disable-background-networking", "--disable-sync"]
        command += ["--blink-settings=preferredColorScheme=1", f"--user-data-dir={folder}/profile"]
        size = f"--window-size={round(2 * WIDTH * ZOOM)},{round(HEIGHT * ZOOM)}"
        command += [size, f"--screenshot={FOLDER / 'report.png'}"]
        style = f"border:0;width:{WIDTH}px;height:{HEIGHT}px"
        frames = [f'<iframe src="report.html{part}" style="{style}"></iframe>' for part in PARTS]
        both = Path(folder, "both.html")
        body = f'<body style="margin:0;zoom:{ZOOM};white-space:nowrap">'
        both.write_text(f"<!doctype html>{body}{''.join(frames)}", "utf-8")
        subprocess.run([*command, both.as_uri()], check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    main()
