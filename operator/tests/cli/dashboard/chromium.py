"""A real Chromium without a screen, over its DevTools protocol."""

import asyncio
import base64
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse

PROGRAM = "chromium-headless-shell"
# Leads here, as a name does that its owner rebinds; no other name leads anywhere.
REBOUND = "rebound.example"
_LIMIT_SECONDS = 60
_KEYS = {"Tab": (9, ""), "Enter": (13, "\r")}


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """A browser with a new profile in the folder; the address of its DevTools."""
    command = [
        PROGRAM,
        "--remote-debugging-port=0",
        f"--user-data-dir={folder}",
        f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1, MAP * ~NOTFOUND, "
        "EXCLUDE 127.0.0.1, EXCLUDE localhost",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        # Its sandbox does not start for root; the pages are our own.
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
    ]
    log = folder / "log"
    with log.open("w") as output:
        # A group of its own: the program is a script, which the browser would outlive.
        process = subprocess.Popen(command, stderr=output, start_new_session=True)
    try:
        yield _address(process, folder / "DevToolsActivePort", log)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _address(process: subprocess.Popen[bytes], file: Path, log: Path) -> str:
    """As the browser writes it into its profile: the port, and a path on a line of its own."""
    deadline = time.monotonic() + _LIMIT_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if file.exists() and len(lines := file.read_text().splitlines()) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.05)
    raise RuntimeError(f"{PROGRAM} does not run:\n{log.read_text()}")


class Tab:
    """One page in a profile of its own. `events` are what it told, as (method, parameters)."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._session: str | None = None
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def attach(self) -> None:
        """Make the page."""
        context = await self.send("Target.createBrowserContext", disposeOnDetach=True)
        target = await self.send(
            "Target.createTarget",
            url="about:blank",
            browserContextId=context["browserContextId"],
        )
        attached = await self.send(
            "Target.attachToTarget", targetId=target["targetId"], flatten=True
        )
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            await self.send(f"{domain}.enable")

    async def listen(self) -> None:
        """Take what the browser says, as long as it says something."""
        async for message in self._socket:
            said = message.json()
            if "id" not in said:
                self.events.append((said["method"], said["params"]))
            elif waiting := self._answers.pop(said["id"], None):
                waiting.set_result(said)

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a command; AssertionError with the browser's words if it has none."""
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        command = {"id": number, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        await self._socket.send_json(command)
        said = await asyncio.wait_for(self._answers[number], _LIMIT_SECONDS)
        assert "error" not in said, f"{method}: {said['error']}"
        result: dict[str, Any] = said["result"]
        return result

    async def open(self, url: str) -> None:
        """Go there, until all is loaded."""
        answer = await self.send("Page.navigate", url=url)
        assert "errorText" not in answer, answer
        await self.until("document.readyState === 'complete'")

    async def evaluate(self, expression: str) -> Any:
        """The value of an expression or of its promise, as JSON has it."""
        answer = await self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def until(self, expression: str) -> None:
        """Until the expression is true; TimeoutError with what the page shows then."""
        try:
            async with asyncio.timeout(_LIMIT_SECONDS):
                # Nothing tells when a page has changed.
                while not await self.evaluate(expression):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        except TimeoutError:
            shown = await self.evaluate("document.body.innerText")
            raise TimeoutError(f"never {expression}; the page shows:\n{shown}") from None

    async def text(self) -> str:
        """What a reader sees."""
        return str(await self.evaluate("document.body.innerText"))

    async def press(self, key: str) -> None:
        """A key of the keyboard, down and up."""
        code, text = _KEYS[key]
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        await self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        await self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    async def look(self, *, width: int, height: int = 800, scheme: str = "light") -> None:
        """As a screen of that width shows it, whose reader prefers that colour scheme."""
        await self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        await self.send("Emulation.setEmulatedMedia", features=features)

    async def screenshot(self) -> bytes:
        """The whole page as a picture (PNG)."""
        answer = await self.send("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(answer["data"])

    def told(self, method: str) -> list[dict[str, Any]]:
        """The parameters of all events of a kind."""
        return [parameters for name, parameters in self.events if name == method]

    def complaints(self) -> list[str]:
        """What the browser found wrong: scripts that failed, things that the policy forbids."""
        logged = [one["entry"]["text"] for one in self.told("Log.entryAdded")]
        thrown = [str(one["exceptionDetails"]) for one in self.told("Runtime.exceptionThrown")]
        return logged + thrown


@asynccontextmanager
async def tab(address: str) -> AsyncIterator[Tab]:
    """A page of the browser at that address, closed at the end."""
    async with ClientSession() as client, client.ws_connect(address, max_msg_size=0) as socket:
        found = Tab(socket)
        listener = asyncio.create_task(found.listen())
        try:
            await found.attach()
            yield found
        finally:
            listener.cancel()
            with suppress(asyncio.CancelledError):
                await listener
