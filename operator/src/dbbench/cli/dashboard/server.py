"""The dashboard's HTTP server: reads, and nothing else; asked by this machine's own names alone.

A page of somebody else's that the user has open must not reach what the user may read: a name of
its own that it lets lead here (DNS rebinding) is refused, no other origin may read or embed what is
answered, and no method changes anything.
"""

import ipaddress
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from aiohttp import web

from dbbench.api.benchmark import DBBenchmark
from dbbench.cli.dashboard.connection import Connection
from dbbench.cli.dashboard.detail import detail
from dbbench.cli.dashboard.frame import POLICY, failure_page
from dbbench.cli.dashboard.overview import Unreadable, overview
from dbbench.cli.failure import BenchmarkFailed, CommandFailed
from dbbench.cli.report import Output
from dbbench.cli.session import Unreachable, parsed
from dbbench.results.page import frame as report_frame

# As the API server has them; nothing else may become a part of a path there.
_NAME = "[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?"
_PLACE = f"/benchmarks/{{namespace:{_NAME}}}/{{name:{_NAME}}}"
_TYPES = {
    Output.MD: "text/markdown",
    Output.CSV: "text/csv",
    Output.JSON: "application/json",
}
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_RETRY_SECONDS = 5
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Server:
    """Serves the pages from `async with` on; `url` is that of the first one."""

    def __init__(self, connection: Connection, address: str, port: int) -> None:
        self._connection = connection
        self._address = address
        self._port = port
        application = web.Application(middlewares=[_secured, _explained])
        application.router.add_get("/", self._overview)
        application.router.add_get(_PLACE, self._detail)
        for wanted in Output:
            application.router.add_get(f"{_PLACE}/report.{wanted.value}", self._report(wanted))
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=2)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._address, self._port).start()
        except OSError as error:
            await self._runner.cleanup()
            raise CommandFailed(
                f"cannot listen on {self._address}, port {self._port}: {error.strerror}; "
                "--port names another one, 0 one that is free"
            ) from error
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        """Where the first page is."""
        host, port = self._runner.addresses[0][:2]
        return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

    async def _overview(self, _: web.Request) -> web.Response:
        benchmarks: list[DBBenchmark] = []
        unreadable: list[Unreadable] = []
        for body in await self._connection.benchmarks():
            try:
                benchmarks.append(parsed(body))
            except CommandFailed as error:
                place = body["metadata"]["namespace"], body["metadata"]["name"]
                unreadable.append(Unreadable(*place, error.message))
        return _page(overview(benchmarks, unreadable, self._connection.scope, datetime.now(UTC)))

    async def _detail(self, request: web.Request) -> web.Response:
        found = parsed(await self._connection.benchmark(*_place(request)))
        return _page(detail(found, datetime.now(UTC)))

    def _report(self, wanted: Output) -> _Handler:
        async def answer(request: web.Request) -> web.Response:
            namespace, name = _place(request)
            text = await self._connection.report(namespace, name, wanted)
            if wanted is Output.HTML:
                return _page(text, report_frame.POLICY)
            disposition = f'attachment; filename="{name}.{wanted.value}"'
            return web.Response(
                text=text,
                content_type=_TYPES[wanted],
                charset="utf-8",
                headers={"Content-Disposition": disposition},
            )

        return answer


def is_own_name(host: str) -> bool:
    """Whether a Host header is an address or `localhost`: whoever rebinds a name has to send it."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or bool(ipaddress.ip_address(name))
    except ValueError:
        return False


@web.middleware
async def _secured(request: web.Request, handler: _Handler) -> web.StreamResponse:
    if is_own_name(request.headers.get("Host", "")):
        response = await handler(request)
    else:
        response = _failure(421, "This dashboard answers to localhost and addresses alone.")
    response.headers.update(_HEADERS)
    return response


@web.middleware
async def _explained(request: web.Request, handler: _Handler) -> web.StreamResponse:
    """Failures are pages, too."""
    try:
        return await handler(request)
    except BenchmarkFailed as error:
        return _failure(404, error.message)
    except Unreachable as error:
        response = _failure(503, error.message)
        response.headers["Refresh"] = str(_RETRY_SECONDS)
        return response
    except CommandFailed as error:
        return _failure(502, error.message)
    except web.HTTPException as error:
        response = _failure(error.status, f"{error.reason}: {request.method} {request.path}")
        if "Allow" in error.headers:
            response.headers["Allow"] = error.headers["Allow"]
        return response


def _failure(status: int, message: str) -> web.Response:
    return _page(failure_page(message), status=status)


def _page(text: str, policy: str = POLICY, *, status: int = 200) -> web.Response:
    headers = {"Content-Security-Policy": f"{policy}; frame-ancestors 'none'"}
    return web.Response(
        text=text, status=status, content_type="text/html", charset="utf-8", headers=headers
    )


def _place(request: web.Request) -> tuple[str, str]:
    return request.match_info["namespace"], request.match_info["name"]
