"""What reaches the pages: requests of this server's own name and pages, no larger than allowed;
and what leaves them.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import secrets
import socket
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "truthing"
PATIENCE = 30.0  # seconds that a body may take beside those that its size allows
SLOWEST = 10_000  # bytes a second
STALLED = "The files came in too slowly, and the page stopped waiting: send them again."
OWN_PAGES = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# a report brings its own scripts: they run in a frame of no origin that can reach nothing
REPORT = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src "
    "'unsafe-inline'; "
    "img-src data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    # no-referrer would turn the Origin of our own posts into null
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """In front of every page: host, origin and size of what comes in, a session, safe headers
    on what goes out.
    """

    def __init__(self, app: ASGIApp, *, host: str, most_bytes: int) -> None:
        self.app = app
        self.host = host
        self.most_bytes = most_bytes
        self.secret = secrets.token_bytes(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        headers = Headers(scope=scope)
        # browsers do not keep cookies of one machine's ports apart
        cookie = f"{COOKIE}-{(scope.get('server') or ('', 0))[1]}"
        session = self.issued(cookie_parser(headers.get("cookie", "")).get(cookie, ""))
        scope["session_id"] = session or secrets.token_urlsafe(24)

        async def finished(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    own[name] = value
                own.setdefault("Content-Security-Policy", OWN_PAGES)
                if session is None:
                    value = self.signed(scope["session_id"])
                    own.append("Set-Cookie", f"{cookie}={value}; Path=/; HttpOnly; SameSite=Strict")
            await send(message)

        refused = self.refusal(scope["method"], headers)
        if refused:
            return await PlainTextResponse(refused, 403)(scope, receive, finished)
        return await self.app(scope, self.counted(receive), finished)

    def signed(self, session: str) -> str:
        """A session as a cookie that only this server can have made."""
        return f"{session}.{token(self.secret, session)}"

    def issued(self, cookie: str) -> str | None:
        """The session of a cookie that this server gave out; None for all others."""
        session = cookie.partition(".")[0]
        good = hmac.compare_digest(cookie.encode(), self.signed(session).encode())
        return session if good else None

    def refusal(self, method: str, headers: Headers) -> str | None:
        """Why a request is not one of our own pages', if it is not."""
        host = headers.get("host", "")
        if not known_host(host, self.host):
            return (
                f"This page does not answer to the name {host!r}: open it under 127.0.0.1 or the "
                "name given with --host."
            )
        if method in ("GET", "HEAD"):
            return None
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin not in (None, f"http://{host}", f"https://{host}") or site not in (
            None,
            "same-origin",
            "none",
        ):
            return "Another site tried to send something to this page; it was refused."
        return None

    def counted(self, receive: Receive) -> Receive:
        """The body as it streams in, stopped where it is too large or hardly comes at all."""
        seen, whole, start = 0, False, time.monotonic()

        async def limited() -> Message:
            nonlocal seen, whole
            if whole:  # no more to come: whoever asks waits for the visitor to leave
                return await receive()
            left = start + PATIENCE + seen / SLOWEST - time.monotonic()
            try:
                message = await asyncio.wait_for(receive(), max(left, 0))
            except TimeoutError:
                raise HTTPException(408, STALLED, {"Connection": "close"}) from None
            whole = not message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > self.most_bytes:
                # a browser reads our answer only when its body is taken: take some more of it and
                # keep nothing
                while message.get("more_body") and seen < 10 * self.most_bytes:
                    message = await receive()
                    seen += len(message.get("body", b""))
                raise HTTPException(413, too_large(self.most_bytes))
            return message

        return limited


def too_large(most_bytes: int) -> str:
    return (
        f"The files are larger than {most_bytes / 1e6:g} MB together: start with truthing serve "
        "--max-upload MB to allow more."
    )


def known_host(header: str, host: str) -> bool:
    """Whether a Host header names this machine: a foreign name that points here is somebody's
    trick.

    >>> known_host("127.0.0.1:8765", "127.0.0.1"), known_host("evil.example:8765", "127.0.0.1")
    (True, False)
    """
    name = header.rsplit(":", 1)[0] if not header.endswith("]") else header
    name = name.strip("[]").lower()
    if name in ("localhost", "127.0.0.1", "::1", host.lower()):
        return True
    if host not in ("0.0.0.0", "::"):
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name == socket.gethostname().lower()
    return True


def token(secret: bytes, session: str) -> str:
    """What a form of this visitor must carry."""
    return hmac.new(secret, session.encode(), hashlib.sha256).hexdigest()
