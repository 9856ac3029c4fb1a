"""Killed at random moments, and a web page that everybody abuses: what is left, who still works.

python studies/faults.py [kills] [uploads]

A command that is killed or stopped leaves whole results or none, and nothing beside them. The web
page outlives many uploads at once, visitors who are slow, bodies that are too large or explode when
unpacked, and a run whose process is killed.
"""

from __future__ import annotations

import contextlib
import gzip
import http.client
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import truthing

KILLS, UPLOADS, MOST_MEGABYTES = 50, 200, 2
TRUTHING = [sys.executable, "-c", "from truthing.cli import main; main()"]
SPAM = Path(truthing.__file__).parent / "examples" / "spam"
FILES = ("report.html", "truth.csv", "table.csv")
LABELS = b"item,labeler,label\n1,a,x\n1,b,y\n2,a,y\n2,b,y\n"


# commands that are killed


def command(folder: Path) -> list[str]:
    page, truth, table = (str(folder / name) for name in FILES)
    wanted = ["--html", page, "--truth", truth, "--table", table, "--json", "--draws", "400"]
    return [*TRUTHING, "grade", str(SPAM / "predictions.csv"), str(SPAM / "labels.csv"), *wanted]


def begin(folder: Path) -> subprocess.Popen[bytes]:
    """The command, with its files and its temporary files in this folder."""
    (folder / "out").mkdir()
    (folder / "tmp").mkdir()
    return subprocess.Popen(
        command(folder / "out"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
    )


def faults_of(folder: Path, printed: bytes, sizes: dict[str, int]) -> list[str]:
    """What is wrong with what a killed command left; ``sizes`` are those of whole files."""
    found = []
    if printed:
        try:
            json.loads(printed)
        except ValueError:
            found.append(f"half an answer was printed ({len(printed)} bytes)")
    left = {path.name: path.stat().st_size for path in (folder / "out").iterdir()}
    for name, size in left.items():
        if name not in sizes:
            found.append(f"{name} is left over")
        elif abs(size - sizes[name]) > 0.01 * sizes[name]:  # the page names its own folder
            found.append(f"{name} has {size} of {sizes[name]} bytes")
    return found + [f"{path.name} is left over" for path in (folder / "tmp").iterdir()]


def kill_once(folder: Path, after: float, how: signal.Signals, sizes: dict[str, int]) -> list[str]:
    """Start, wait, kill, and look."""
    process = begin(folder)
    try:
        printed, said = process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        process.send_signal(how)
        printed, said = process.communicate()
    found = faults_of(folder, printed, sizes)
    allowed = {0, -how} if how == signal.SIGKILL else {0, 130, -how}
    if process.returncode not in allowed:
        found.append(f"exit code {process.returncode}")
    if b"Traceback" in said and b"truthing/cli" in said:  # until then Python itself answers Ctrl-C
        found.append(f"a traceback: {said[-300:]!r}")
    return found


def killed_commands(kills: int, seed: int = 0) -> list[str]:
    """Faults of so many killed commands, half of them by Ctrl-C."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place) / "whole"
        whole.mkdir()
        start = time.monotonic()
        begin(whole).communicate()
        taken = time.monotonic() - start
        sizes = {name: (whole / "out" / name).stat().st_size for name in FILES}
        found = []
        for n in range(kills):
            folder = Path(place) / f"{n}"
            folder.mkdir()
            how = signal.SIGKILL if n % 2 else signal.SIGINT
            # half of the moments in the last fifth, where files are written
            share = rng.random() if n % 4 < 2 else 0.8 + 0.25 * rng.random()
            words = kill_once(folder, share * taken, how, sizes)
            found += [f"{how.name} after {share:.2f} of the time: {word}" for word in words]
    return found


# the web page


@contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of its own, and where it listens."""
    process = subprocess.Popen(
        [*TRUTHING, "serve", "--port", "0", "--max-upload", str(MOST_MEGABYTES)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    try:
        assert process.stdout is not None
        found = re.search(r"http://(\S+?)/", process.stdout.readline())
        assert found is not None
        yield process, found[1]
    finally:
        process.terminate()
        process.communicate()


class Visitor:
    """One browser: its cookie and its token."""

    def __init__(self, where: str) -> None:
        self.where, self.cookie = where, ""
        _, page = self.ask("GET", "/")
        found = re.search(r'name="token" value="(\w+)"', page)
        assert found is not None
        self.token = found[1]

    def ask(self, method: str, path: str, body: bytes = b"", kind: str = "") -> tuple[int, str]:
        """Status and page, redirects followed."""
        connection = http.client.HTTPConnection(self.where, timeout=300)
        headers = {"Cookie": self.cookie, **({"Content-Type": kind} if kind else {})}
        connection.request(method, path, body=body or None, headers=headers)
        answer = connection.getresponse()
        page = answer.read().decode("utf-8", "replace")
        self.cookie = (answer.getheader("Set-Cookie") or self.cookie).split(";")[0]
        where = answer.getheader("Location")
        connection.close()
        if answer.status in (302, 303) and where:
            self.page = urllib.parse.urlsplit(where).path
            return self.ask("GET", self.page)
        return answer.status, page

    def send(self, content: bytes, name: str = "labels.csv") -> tuple[int, str]:
        return self.ask("POST", "/files", form({"token": self.token}, name, content), KIND)

    def post(self, path: str, **fields: str) -> tuple[int, str]:
        fields["token"] = self.token
        body = urllib.parse.urlencode(fields).encode()
        return self.ask("POST", path, body, "application/x-www-form-urlencoded")


EDGE = "----faults"
KIND = f"multipart/form-data; boundary={EDGE}"


def form(fields: dict[str, str], name: str, content: bytes) -> bytes:
    body = io.BytesIO()
    for field, value in fields.items():
        head = f'--{EDGE}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
        body.write(head.encode())
    head = f'--{EDGE}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
    body.write(head.encode() + content + f"\r\n--{EDGE}--\r\n".encode())
    return body.getvalue()


def many_uploads(where: str, count: int) -> list[str]:
    """Visitors who all send a file at once; each must see its own."""

    def one(n: int) -> int | str:
        try:
            status, page = Visitor(where).send(LABELS.replace(b"1,a,x", b"1,a,only%d" % n))
        except OSError as problem:
            return f"{type(problem).__name__}: {problem}"
        return status if status != 200 or f"only{n}" in page or "2 labelers" in page else "foreign"

    with ThreadPoolExecutor(count) as pool:
        outcomes = Counter(pool.map(one, range(count)))
    return [] if outcomes == {200: count} else [f"{count} uploads: {dict(outcomes)}"]


def slow_visitors(where: str, count: int) -> list[socket.socket]:
    """Connections that send half a request and then nothing."""
    host, port = where.split(":")
    waiting = []
    for n in range(count):
        line = socket.create_connection((host, int(port)))
        size = "Content-Length: 100000\r\n\r\nabc" if n % 2 else ""
        line.sendall(f"POST /files HTTP/1.1\r\nHost: {where}\r\n{size}".encode())
        waiting.append(line)
    return waiting


def bad_bodies(where: str) -> list[str]:
    """Too large, exploding, and no table at all."""
    bomb = gzip.compress(b"item,labeler,label\n" + b"1,a,x\n" * 100_000_000, 9)
    wanted = {
        "too large": (b"x" * (MOST_MEGABYTES * 1_000_000 + 100_000), {413}),
        "a bomb": (bomb[: MOST_MEGABYTES * 1_000_000], {422}),
        "no table": (b"\x00\x01\x02" * 50, {422}),
    }
    found = []
    for name, (content, right) in wanted.items():
        try:
            status, _ = Visitor(where).send(content, "labels.csv.gz")
        except OSError as problem:
            found.append(f"{name}: {type(problem).__name__}")
            continue
        found += [] if status in right else [f"{name}: status {status}"]
    return found


def children(process: int) -> list[int]:
    """Started by any of its threads."""
    listed = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for each in listed for child in each.read_text().split()]


def killed_run(server: int, where: str) -> list[str]:
    """A run whose process is killed says so; one that is faster than we are is tried again."""
    if not Path("/proc").is_dir():
        return []
    visitor = Visitor(where)
    visitor.send((SPAM / "labels.csv").read_bytes())
    case, state = visitor.page, ""
    for _ in range(5):
        before = set(workers(server))
        visitor.post(f"{case}/rate", **{"file-labels": "0"})
        for new in set(workers(server)) - before:
            os.kill(new, signal.SIGKILL)
        state = "running"
        while state == "running":
            state = json.loads(visitor.ask("GET", f"{visitor.page}/status")[1])["state"]
            time.sleep(0.1)
        if state == "failed":
            return []
    return [f"a killed run is {state}"]


def workers(server: int) -> list[int]:
    """Processes that compute for a server."""
    found = []
    for pid in children(server):
        with contextlib.suppress(OSError):
            if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


def abused_page(uploads: int) -> list[str]:
    """Everything at once, and then a visitor as usual."""
    with tempfile.TemporaryDirectory() as place, served(Path(place)) as (process, where):
        slow = slow_visitors(where, 20)
        found: list[str] = []
        other = threading.Thread(target=lambda: found.extend(bad_bodies(where)))
        other.start()
        found += many_uploads(where, uploads)
        other.join()
        found += killed_run(process.pid, where)
        status, page = Visitor(where).send(LABELS)
        if status != 200 or "labels.csv" not in page:
            found.append(f"the next visitor gets {status}")
        for line in slow:
            line.close()
        process.send_signal(signal.SIGKILL)
        process.wait()
        with served(Path(place)) as (_, again):
            left = list(Path(place).glob("truthing-serve-*/*/file-*"))
            found += [f"{len(left)} files of a killed server are left"] if left else []
            status = Visitor(again).ask("GET", "/")[0]
            found += [] if status == 200 else [f"the next server answers {status}"]
    return found


def main(kills: int = KILLS, uploads: int = UPLOADS) -> int:
    found: dict[str, Any] = {
        f"{kills} killed commands": killed_commands(kills),
        f"the page under {uploads} uploads at once": abused_page(uploads),
    }
    for name, faults in found.items():
        print(f"{name}: {len(faults)} faults", flush=True)
        for fault in faults:
            print(f"  {fault}")
    return 1 if any(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
