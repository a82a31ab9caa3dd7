"""A headless Chromium that does what a test says, over its pipe of debugging (the Chrome DevTools Protocol)."""
import base64
import contextlib
import json
import os
import select
import subprocess
import time

from pages import require


class Driven:
    def __init__(self, send, receive):
        self.send_end, self.receive_end, self.number, self.left, self.said = send, receive, 0, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    session = None

    def call(self, method, **parameters):
        """The result of a command; what the page complains about meanwhile is kept in `said`."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.send_end, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + 120
        while True:
            answer = self.next_message(end)
            if answer.get("id") == self.number:
                require("error" not in answer, method, answer.get("error"))
                return answer["result"]
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.said.append(json.dumps(answer["params"])[:400])

    def next_message(self, end):
        while b"\0" not in self.left:
            require(select.select([self.receive_end], [], [], max(0, end - time.monotonic()))[0], "the browser is silent")
            piece = os.read(self.receive_end, 1 << 20)
            require(piece, "the browser has ended")
            self.left += piece
        text, _, self.left = self.left.partition(b"\0")
        return json.loads(text)

    def open(self, address, width=1400, height=1000, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url="about:blank")
        self.until("document.readyState === 'complete' && location.href === 'about:blank'", "nothing")
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'", address)

    def evaluated(self, script):
        """What a script of the page gives, and the exception that it throws instead."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        fault = found.get("exceptionDetails")
        return None if fault else found["result"].get("value"), fault

    def value(self, script):
        """What a script of the page gives."""
        value, fault = self.evaluated(script)
        require(not fault, script, fault)
        return value

    def until(self, script, what, seconds=60):
        """Waits until a script gives something. It may ask for what the page has not made yet."""
        end = time.monotonic() + seconds
        while True:
            value, fault = self.evaluated(script)
            if value:
                return value
            require(time.monotonic() < end, "the page does not show", what, fault or "")
            time.sleep(0.03)

    def set(self, element, value, event="input"):
        """Gives a field a value, as a hand does."""
        self.value(f"(() => {{ const e = document.getElementById({json.dumps(element)}); e.value = {json.dumps(str(value))};"
                   f"e.dispatchEvent(new Event({json.dumps(event)}, {{bubbles: true}})); }})()")

    def click(self, element):
        self.value(f"document.getElementById({json.dumps(element)}).click()")

    def shoot(self, path):
        height = self.value("document.documentElement.scrollHeight")
        width = self.value("innerWidth")
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})
        path.write_bytes(base64.b64decode(shot["data"]))


@contextlib.contextmanager
def driven(chromium, profile):
    to_read, send = os.pipe()
    receive, to_write = os.pipe()

    def place():  # the browser listens on 3 and answers on 4
        kept = [os.dup2(to_read, 100), os.dup2(to_write, 101)]
        os.dup2(kept[0], 3), os.dup2(kept[1], 4)

    browser = subprocess.Popen(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
         "--disable-background-networking", "--hide-scrollbars", f"--user-data-dir={profile}"],
        preexec_fn=place, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(to_read), os.close(to_write)
    try:
        yield Driven(send, receive)
    finally:
        browser.terminate()
        browser.wait(timeout=30)
        os.close(send), os.close(receive)
