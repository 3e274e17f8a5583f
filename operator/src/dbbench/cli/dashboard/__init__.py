"""`dbbench dashboard`: the benchmarks as pages in the browser, while they run and afterwards."""

import asyncio
import ipaddress
import signal
import webbrowser

import click

from dbbench.cli.dashboard.connection import Connection
from dbbench.cli.dashboard.server import Server
from dbbench.cli.where import Where, cluster_options

_ADDRESS = "127.0.0.1"
_PORT = 8474


class AddressType(click.ParamType[str]):
    """An IP address of this machine."""

    name = "address"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        try:
            return str(ipaddress.ip_address(str(value)))
        except ValueError:
            self.fail(f"{value!r} is no IP address", param, ctx)


@click.command()
@cluster_options
@click.option("-A", "--all-namespaces", is_flag=True, help="Benchmarks of all namespaces.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_PORT,
    show_default=True,
    help="Port to listen on; 0 for one that is free.",
)
@click.option(
    "--address",
    type=AddressType(),
    default=_ADDRESS,
    show_default=True,
    help="Address to listen on. Who reaches it sees what you may read.",
)
@click.option("--open", "open_browser", is_flag=True, help="Open the page in the browser, too.")
def dashboard(
    where: Where, all_namespaces: bool, port: int, address: str, open_browser: bool
) -> None:
    """Show the benchmarks in the browser, live, until Ctrl-C ends it.

    It prints the address of the page. The pages are read-only, and made on this machine with your
    own rights; nothing is opened in the cluster.
    """
    asyncio.run(
        _dashboard(where, all_namespaces, port=port, address=address, open_browser=open_browser)
    )


async def _dashboard(
    where: Where, everywhere: bool, *, port: int, address: str, open_browser: bool
) -> None:
    async with Connection(where, everywhere=everywhere) as connection:
        # Where no cluster answers now, a page that says so helps nobody.
        await connection.benchmarks()
        async with Server(connection, address, port) as server:
            ended = asyncio.Event()
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, ended.set)
            click.echo(server.url)
            if not ipaddress.ip_address(address).is_loopback:
                click.echo(
                    f"Note: everybody who reaches {address} sees what you may read; without "
                    "--address only this machine does.",
                    err=True,
                )
            if open_browser:
                await asyncio.to_thread(webbrowser.open, server.url)
            await ended.wait()
