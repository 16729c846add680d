"""A browser driven through its debugging pipe: any width, light and dark, print, real keys, pictures, requests.

`browser.py` asks a page one question as it is; here a page is used as its reader would use it. The pipe is that of
``--remote-debugging-pipe``: messages of the DevTools protocol in JSON, a zero byte after each, on descriptors 3 and 4.
"""

import base64
import itertools
import json
import os
import select
import subprocess
import tempfile
import time
from pathlib import Path

from runs.report.browser import CHROMIUM, NO_SANDBOX

SECONDS = 60  # that one answer may take on a busy machine
KEYS = {
    **{"Tab": 9, "Enter": 13, "Escape": 27, "Space": 32, "End": 35, "Home": 36},
    **{"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40},
}


class Browser:
    """One browser with one window; the methods are those of a reader."""

    def __enter__(self):
        import fcntl  # which Windows lacks

        self.profile = tempfile.TemporaryDirectory(prefix="profile-", ignore_cleanup_errors=True)
        theirs, self.to = os.pipe()
        self.at, ours = os.pipe()
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs, ours)]  # or 3 and 4 may be in the way
        command = ["bash", "-c", f'exec "$0" "$@" 3<&{high[0]} 4>&{high[1]}', CHROMIUM]
        command += ["--headless", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}"]
        command += ["--hide-scrollbars", "--force-color-profile=srgb", *NO_SANDBOX]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, pass_fds=high, **quiet)
        for end in (theirs, ours, *high):
            os.close(end)
        self.numbers, self.buffer, self.events, self.session = itertools.count(1), b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.session = None
        self.call("Browser.close")
        self.process.wait(SECONDS)
        os.close(self.to)
        os.close(self.at)
        self.profile.cleanup()

    def call(self, method, **params):
        """The answer to a command of the protocol."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def _read(self):
        end = time.monotonic() + SECONDS
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.at], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"the browser has not answered for {SECONDS} s"
            read = os.read(self.at, 1 << 20)
            assert read, "the browser has ended"
            self.buffer += read
        line, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(line)

    def open(self, page, *, width=1366, height=900, dark=False, paper=False):
        """Load a file (or an address) at a width, in light or dark, as on screen or on paper; forget earlier events."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.media(dark=dark, paper=paper)
        address = str(page) if "://" in str(page) else Path(page).absolute().as_uri()
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())

    def media(self, *, dark=False, paper=False):
        """What `prefers-color-scheme` and `@media print` are; `print` has its own media."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="print" if paper else "", features=[scheme])

    def ask(self, script):
        """What the body of a function returns."""
        answer = self.call(
            "Runtime.evaluate", expression=f"(async () => {{ {script} }})()", returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key, *, shift=False):
        """A key, as from a keyboard."""
        text = {"Space": " ", "Enter": "\r"}.get(key)
        common = {"key": text if key == "Space" else key, "code": key, "modifiers": 8 if shift else 0}
        common["windowsVirtualKeyCode"] = KEYS[key]
        self.call(
            "Input.dispatchKeyEvent",
            type="keyDown" if text else "rawKeyDown",
            **common,
            **({"text": text} if text else {}),
        )
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def picture(self, file, *, clip=None):
        """A PNG of the whole page, or of a part: left, top, width, height in pixels of the page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        left, top, width, height = clip or (0, 0, size["width"], size["height"])
        part = {"x": left, "y": top, "width": width, "height": height, "scale": 1}
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=part)["data"]
        Path(file).write_bytes(base64.b64decode(data))

    def print(self, file):
        """The page as a PDF, A4."""
        data = self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=False)["data"]
        Path(file).write_bytes(base64.b64decode(data))

    def requests(self):
        """Addresses that were asked for since the page was opened, but for the page itself and data in it."""
        sent = [event["params"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [each["request"]["url"] for each in sent[1:] if not each["request"]["url"].startswith("data:")]

    def said(self):
        """What the page wrote to its console, with errors of any kind."""
        wanted = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event["params"] for event in self.events if event.get("method") in wanted]
