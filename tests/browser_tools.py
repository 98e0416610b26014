"""A real browser for tests: the system's headless Chromium, driven through its chromedriver.

WebDriver is JSON over HTTP, so no package is needed. Where there is no browser, or nothing that
drives it, `missing()` says so and tests are skipped.
"""

import base64
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

CHROMIUM = next(
    filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None
)
DRIVER = shutil.which("chromedriver")

KEYS = {
    "left": "\ue012",
    "up": "\ue013",
    "right": "\ue014",
    "down": "\ue015",
    "enter": "\ue007",
    "escape": "\ue00c",
    "delete": "\ue017",
    "home": "\ue011",
    "end": "\ue010",
    "tab": "\ue004",
    "control": "\ue009",
}


_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy for this machine


def missing():
    """Say what there is not; empty where a browser can be driven."""
    if CHROMIUM is None:
        return "there is no Chromium on this machine"
    return "" if DRIVER else "there is no chromedriver on this machine"


class Browser:
    """One window of a browser.

    Examples: `browser.open(url)`, `browser.run("return document.title")`, `browser.press("right")`.
    """

    def __init__(self, port, folder):
        self.server = f"http://127.0.0.1:{port}"
        options = ["--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run"]
        options += ["--disable-background-networking", "--disable-component-update"]
        options += ["--disable-sync", f"--user-data-dir={folder / 'profile'}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")
        wanted = {
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"binary": CHROMIUM, "args": options},
        }
        self.session = ""
        found = self.call("POST", "/session", capabilities={"alwaysMatch": wanted})
        self.session = f"/session/{found['sessionId']}"
        self.call("POST", "/timeouts", script=30_000, pageLoad=60_000)

    def call(self, method, path, **body):
        data = json.dumps(body).encode() if method == "POST" else None
        request = urllib.request.Request(self.server + self.session + path, data, method=method)
        try:
            with _OPENER.open(request, timeout=90) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            with error:
                raise RuntimeError(json.load(error)["value"]["message"]) from None

    def tool(self, name, **parameters):
        """Call a command of the browser's developer tools."""
        return self.call("POST", "/goog/cdp/execute", cmd=name, params=parameters)

    def look(self, width=1280, height=900, scheme="light", scale=1):
        """Take a size of the window, and light or dark."""
        self.tool(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        features.append({"name": "prefers-reduced-motion", "value": "reduce"})
        self.tool("Emulation.setEmulatedMedia", media="", features=features)

    def open(self, url):
        self.call("POST", "/url", url=str(url))

    def run(self, script, *arguments):
        """Run the body of a function, which may return a promise."""
        return self.call("POST", "/execute/sync", script=script, args=list(arguments))

    def wait(self, condition, seconds=20):
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.run(f"return Boolean({condition})"):
            assert time.monotonic() < end, f"never true: {condition}"
            time.sleep(0.02)

    def press(self, *names):
        """Press keys one after the other: names of `KEYS`, characters, or "control+z"."""
        steps = []
        for name in names:
            keys = [KEYS.get(part, part) for part in name.split("+")]
            steps += [{"type": "keyDown", "value": key} for key in keys]
            steps += [{"type": "keyUp", "value": key} for key in reversed(keys)]
        self._act({"type": "key", "id": "keyboard", "actions": steps})

    def pointer(self, *moves, button=0, kind="mouse"):
        """Press at the first place of the window, move to the others, let go."""
        places = [
            {
                "type": "pointerMove",
                "duration": 20 * (kind == "touch"),
                "x": round(x),
                "y": round(y),
            }
            for x, y in moves
        ]
        down, up = ({"type": f"pointer{way}", "button": button} for way in ("Down", "Up"))
        actions = [places[0], down, *places[1:], up]
        parameters = {"pointerType": kind}
        self._act({"type": "pointer", "id": kind, "parameters": parameters, "actions": actions})

    def _act(self, *sources):
        self.call("POST", "/actions", actions=list(sources))

    def console(self):
        """Return what pages wrote to the console since the last call, errors included."""
        return [each["message"] for each in self.call("POST", "/se/log", type="browser")]

    def screenshot(self, path, whole_page=False):
        parameters = {"format": "png", "captureBeyondViewport": whole_page}
        path.write_bytes(
            base64.b64decode(self.tool("Page.captureScreenshot", **parameters)["data"])
        )

    def printed(self):
        """Return the page as PDF."""
        return base64.b64decode(self.call("POST", "/print"))


@contextmanager
def browser(folder):
    """Start a driver and a browser with an empty profile; end both."""
    command = [DRIVER, "--port=0"]
    driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        port = next(
            int(found.group(1))
            for found in (re.search(r"successfully on port (\d+)", line) for line in driver.stdout)
            if found
        )
        window = Browser(port, folder)
        try:
            yield window
        finally:
            window.call("DELETE", "")
    finally:
        driver.terminate()
        driver.wait(10)
        driver.stdout.close()
