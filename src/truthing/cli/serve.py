"""truthing serve."""

from __future__ import annotations

import sys
import threading
import webbrowser
from typing import Annotated

import typer

from truthing.errors import InputError

MOST_UPLOAD = 100_000  # megabytes


def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; the default is this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0: any free one.")] = 8765,
    max_upload: Annotated[
        float, typer.Option(help="Most megabytes that may be sent at once.")
    ] = 200,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep results here when the page is stopped; everyone who reaches the page sees "
            "them. Default: nothing is kept.",
        ),
    ] = None,
    browser: Annotated[
        bool | None,
        typer.Option(
            "--browser/--no-browser", help="Open the page in a browser.  [default: on a terminal]"
        ),
    ] = None,
) -> None:
    """The local web page: drop files, see what they are, grade, read the report. Stop it with
    Ctrl-C.
    """
    try:
        from truthing.app.server import serve as answer
    except ModuleNotFoundError as problem:
        missing = (problem.name or "").partition(".")[0]
        if missing == "truthing":
            raise
        raise InputError(f'the web page needs {missing}: pip install "truthing[app]".') from None
    if not 0 < max_upload <= MOST_UPLOAD:
        raise InputError(
            f"--max-upload {max_upload:g}: give a number of megabytes above 0 and at most "
            f"{MOST_UPLOAD:,}."
        )
    if host not in ("127.0.0.1", "localhost", "::1"):
        typer.echo(
            f"truthing: listening on {host}: everyone who reaches it can use the page, and "
            "what they send is not encrypted.",
            err=True,
        )

    def ready(address: str) -> None:
        typer.echo(f"The page is at {address} (Ctrl-C stops it).")
        if sys.stdout.isatty() if browser is None else browser:
            # a browser of the terminal would keep the server from starting
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    answer(host, port, int(max_upload * 1e6), ready, keep)
