"""The server: the guard, the pages, and a clock that empties what nobody looks at."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import python_multipart  # noqa: F401  (starlette would miss it only when the first form arrives)
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from truthing.app.kept import Kept
from truthing.app.pages import Pages
from truthing.app.security import Guard
from truthing.app.uploads import Store
from truthing.errors import InputError
from truthing.tables.fragile import try_apart

SWEEP_SECONDS = 60.0
STATIC = Path(__file__).parent / "static"
LOOK = Path(__file__).parents[1] / "render" / "templates" / "report.css"  # pages look like reports


def application(
    store: Store, *, host: str = "127.0.0.1", most_bytes: int = 200_000_000
) -> Starlette:
    """The pages over a store, behind their guard."""
    pages = Pages(store, most_bytes=most_bytes)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        sweeping = asyncio.create_task(_sweep(store))
        yield
        sweeping.cancel()
        store.close()

    return Starlette(
        routes=[
            *pages.routes(),
            Route("/static/look.css", lambda _: FileResponse(LOOK)),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, host=host, most_bytes=most_bytes)],
        exception_handlers=dict.fromkeys(
            (HTTPException, ClientDisconnect, Exception), pages.problem
        ),
        lifespan=lifespan,
    )


async def _sweep(store: Store) -> None:
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        await asyncio.to_thread(store.expire)


def serve(
    host: str, port: int, most_bytes: int, ready: Callable[[str], None], keep: str | None = None
) -> None:
    """Answer until stopped; ``ready`` hears the address as soon as it can be opened; ``keep`` is a
    folder for results.
    """
    try_apart()
    kept = Kept.at(keep)
    listening, store = _listen(host, port), Store(kept)
    tempfile.tempdir = str(store.folder)  # where large uploads wait while they come in
    shown = f"[{host}]" if ":" in host else host
    ready(f"http://{shown}:{listening.getsockname()[1]}/")
    config = uvicorn.Config(
        application(store, host=host, most_bytes=most_bytes),
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as problem:
        raise InputError(
            f"cannot listen on {host} port {port} ({problem}): choose another with --port (0: "
            "any free one)."
        ) from None
