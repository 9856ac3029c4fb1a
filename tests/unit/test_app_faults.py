"""The web page when things break: crashing readers, foreign cookies, killed servers, stalled
bodies."""

from __future__ import annotations

import asyncio
import io
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

from truthing.app import look, pages, security, uploads
from truthing.app.runs import Run
from truthing.app.security import Guard
from truthing.app.server import application
from truthing.app.uploads import Store, sweep_dead

TRUTHING = [sys.executable, "-c", "from truthing.cli import main; main()"]
HERE = "http://127.0.0.1:8765"
LABELS = b"item,labeler,label\n1,a,x\n1,b,y\n2,a,y\n2,b,y\n"


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store()
    yield store
    store.close()


@pytest.fixture
def client(store: Store) -> Iterator[TestClient]:
    with TestClient(application(store), base_url=HERE, raise_server_exceptions=False) as client:
        yield client


def token(client: TestClient) -> str:
    found = re.search(r'name="token" value="(\w+)"', client.get("/").text)
    assert found is not None
    return found[1]


def send(client: TestClient, content: bytes, path: str = "/files") -> Any:
    files = [("files", ("labels.csv", io.BytesIO(content)))]
    return client.post(path, data={"token": token(client)}, files=files)


# readers that crash


@pytest.mark.parametrize("crash", [RecursionError("deep"), MemoryError(), uploads.PanicException()])
def test_a_file_that_breaks_its_reader_is_refused(
    client: TestClient, store: Store, monkeypatch: Any, crash: BaseException
) -> None:
    def breaks(*_: Any, **__: Any) -> None:
        raise crash

    with monkeypatch.context() as broken:
        broken.setattr(uploads, "from_bytes", breaks)
        answer = send(client, LABELS)
    assert answer.status_code == 422
    assert "labels.csv cannot be read: it led to an error of this program" in answer.text
    assert type(crash).__name__ in answer.text
    assert not store.cases
    assert list(store.folder.iterdir()) == []


@pytest.mark.parametrize("place", ["examine_tables", "together"])
def test_a_case_that_breaks_later_can_be_seen_and_deleted(
    client: TestClient, store: Store, monkeypatch: Any, place: str
) -> None:
    def breaks(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("should not be")

    monkeypatch.setattr(look, place, breaks)
    answer = send(client, LABELS)
    assert answer.status_code == 200
    assert "an error of this program (ZeroDivisionError)" in answer.text
    gone = client.post(f"{answer.url.path}/delete", data={"token": token(client)})
    assert gone.status_code == 200
    assert not store.cases


def test_a_disk_that_is_full(client: TestClient, store: Store, monkeypatch: Any) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(uploads.shutil, "copyfileobj", full)
    answer = send(client, LABELS)
    assert "could not be kept: the disk is full" in answer.text
    assert list(store.folder.iterdir()) == []


def guard() -> Guard:
    """One with nothing behind it."""

    async def nothing(*_: Any) -> None:
        return None

    return Guard(nothing, host="", most_bytes=10**9)


# sessions


def test_only_sessions_that_the_server_gave_out(client: TestClient) -> None:
    page = send(client, LABELS).url.path
    name, own = next(iter(client.cookies.items()))
    assert name == "truthing-8765"
    assert client.get(page).status_code == 200
    session = own.partition(".")[0]
    for foreign in (
        "",
        "chosen-by-a-stranger",
        session,
        f"{session}.",
        f"{session}.{'0' * 64}",
        "é",
    ):
        client.cookies.clear()
        headers = {"Cookie": f"{name}={foreign}".encode()}
        answer = client.get(page, headers=headers)
        assert answer.status_code == 404
        assert foreign == "" or foreign not in answer.headers["Set-Cookie"].split(".")[0]
    client.cookies.clear()
    assert client.get(page, headers={"Cookie": f"{name}={own}"}).status_code == 200


def test_a_cookie_of_another_server_is_no_session() -> None:
    one, other = guard(), guard()
    assert one.issued(one.signed("me")) == "me"
    assert other.issued(one.signed("me")) is None


# servers that were killed


def started(folder: Path) -> tuple[subprocess.Popen[str], str]:
    server = subprocess.Popen(
        [*TRUTHING, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert server.stdout is not None
    found = re.search(r"http://\S+", server.stdout.readline())
    assert found is not None
    return server, found[0]


def test_the_next_start_sweeps_what_a_killed_server_left(tmp_path: Path) -> None:
    mine = tmp_path / "truthing-serve-my_notes"
    mine.mkdir()
    dead, _ = started(tmp_path)
    (left,) = set(tmp_path.glob("truthing-serve-*")) - {mine}
    (left / "file-0").write_text("secret")
    alive, address = started(tmp_path)
    assert left.exists()  # a server that runs keeps its files
    dead.send_signal(signal.SIGKILL)
    dead.wait()
    assert left.exists()
    last, _ = started(tmp_path)
    assert not left.exists()
    with urllib.request.urlopen(address) as answer:
        assert answer.status == 200
    for server in (alive, last):
        server.send_signal(signal.SIGTERM)
        server.wait()
    for server in (dead, alive, last):
        assert server.stdout is not None
        server.stdout.close()
    assert list(tmp_path.iterdir()) == [mine]


def test_only_folders_of_our_own_are_swept(tmp_path: Path) -> None:
    for name, mode in (("truthing-serve-12345678", 0o755), ("truthing-serve-longer_name", 0o700)):
        (tmp_path / name).mkdir(mode=mode)
    (tmp_path / "truthing-serve-abcdefgh").write_text("a file")
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "truthing-serve-aaaaaaaa").symlink_to("elsewhere")
    before = sorted(tmp_path.iterdir())
    sweep_dead(tmp_path)
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "truthing-serve-87654321").mkdir(mode=0o700)
    sweep_dead(tmp_path)
    assert sorted(tmp_path.iterdir()) == before


# slow and greedy visitors


def body(pieces: list[bytes | float], monkeypatch: Any) -> list[bytes]:
    """What gets past the guard of a body whose pieces come after so many seconds."""
    clock, passed = 0.0, []
    monkeypatch.setattr(security.time, "monotonic", lambda: clock)

    async def wait_for(coming: Any, seconds: float) -> Any:
        nonlocal clock
        if isinstance(pieces[0], float):
            clock += pieces[0]
            if pieces.pop(0) > seconds:  # type: ignore[operator]
                coming.close()
                raise TimeoutError
        return await coming

    monkeypatch.setattr(security.asyncio, "wait_for", wait_for)

    async def receive() -> dict[str, Any]:
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def take() -> None:
        limited = guard().counted(receive)
        while pieces:
            passed.append((await limited())["body"])

    asyncio.run(take())
    return passed


def test_stalled_uploads_are_closed(monkeypatch: Any) -> None:
    with pytest.raises(HTTPException, match="too slowly"):
        body([b"x", 31.0, b"y"], monkeypatch)
    with pytest.raises(HTTPException, match="too slowly"):  # a byte now and then is no progress
        body([piece for _ in range(10) for piece in (b"x", 9.0)] + [b"y"], monkeypatch)


def test_slow_uploads_that_move_are_taken(monkeypatch: Any) -> None:
    piece = b"x" * 500_000
    assert body([piece, 40.0, piece, 40.0, piece], monkeypatch) == [piece] * 3


def test_a_visitor_may_keep_so_much(store: Store, monkeypatch: Any) -> None:
    monkeypatch.setattr(pages, "MOST_KEPT", 2)
    with TestClient(application(store, most_bytes=2000), base_url=HERE) as client:
        large = LABELS + b"3,a,x\n" * 250
        assert [send(client, large).status_code for _ in range(3)] == [200, 200, 422]
        assert len(store.cases) == 2
        client.cookies.clear()
        assert send(client, large).status_code == 200


def test_runs_are_limited_for_each_visitor_and_together(
    client: TestClient, store: Store, monkeypatch: Any
) -> None:
    started: list[Any] = []

    def pretend(self: Run, task: Any, answers: Any) -> None:
        self.key, self.task, self.answers, self.state = (
            f"run{len(started)}",
            task,
            answers,
            "running",
        )
        self.fraction, self.words, self.problem = None, "", ""
        started.append(self)

    monkeypatch.setattr(Run, "__init__", pretend)
    monkeypatch.setattr(pages, "MOST_TOGETHER", 4)

    def ask() -> Any:
        page = send(client, LABELS).url.path
        return client.post(f"{page}/rate", data={"token": token(client), "file-labels": "0"})

    for _ in range(3):
        assert ask().status_code == 200
    assert "3 runs are under way already" in ask().text
    client.cookies.clear()  # somebody else
    assert ask().status_code == 200
    assert "others are using all of this machine" in ask().text
    assert len(started) == 4
    for run in started:  # there is no process to stop
        run.state = "done"
