"""The web page from the inside: what it refuses, what it keeps and for how long, and that it says
what the command line says."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient
from typer.testing import CliRunner

import truthing
from truthing.app import pages, runs
from truthing.app.jobs import JOBS
from truthing.app.look import look
from truthing.app.security import Guard, known_host
from truthing.app.server import application
from truthing.app.task import Given, Task
from truthing.app.uploads import Store
from truthing.cli.main import app as command_line
from truthing.doctor import examine
from truthing.errors import InputError

TRUTHING = [sys.executable, "-c", "from truthing.cli import main; main()"]
HERE = "http://127.0.0.1:8765"
EXAMPLE = Path(truthing.__file__).parent / "examples" / "spam"
LABELS = "task,who,verdict\n" + "".join(
    f"{i},{w},{'yes' if (i + (i % 7 == w)) % 3 == 0 else 'no'}\n"
    for i in range(60)
    for w in range(3)
)
PREDICTIONS = "image,prediction\n" + "".join(
    f"{i},{'yes' if i % 3 == 0 or i % 11 == 0 else 'no'}\n" for i in range(60)
)


class Visitor:
    """A browser with a cookie and the token of its forms."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.token = self.read_token()

    def read_token(self) -> str:
        found = re.search(r'name="token" value="(\w+)"', self.client.get("/").text)
        assert found is not None
        return found[1]

    def post(self, path: str, data: dict[str, Any] | None = None, **more: Any) -> Any:
        return self.client.post(path, data={"token": self.token, **(data or {})}, **more)

    def send(self, *files: tuple[str, str | bytes], path: str = "/files") -> Any:
        content = [(n, c if isinstance(c, bytes) else c.encode()) for n, c in files]
        return self.post(
            path, files=[("files", (name, io.BytesIO(data))) for name, data in content]
        )

    def wait(self, run: str) -> str:
        for _ in range(6000):  # a busy machine is no failure
            state = self.client.get(f"{run}/status").json()["state"]
            if state != "running":
                return str(state)
            time.sleep(0.1)
        raise AssertionError("the run does not end")


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store()
    yield store
    store.close()


@pytest.fixture
def visitor(store: Store) -> Iterator[Visitor]:
    with TestClient(application(store), base_url=HERE) as client:
        yield Visitor(client)


def text(page: str) -> str:
    """What a reader sees of an alert."""
    import html

    found = re.search(r'role="alert">(.*?)</p>', page, re.DOTALL)
    assert found is not None, page
    return html.unescape(found[1])


# what is refused


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8765", ""]
)
def test_foreign_names_are_refused(visitor: Visitor, host: str) -> None:
    answer = visitor.client.get("/", headers={"Host": host})
    assert answer.status_code == 403
    assert "does not answer to the name" in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost", "[::1]:8765", "LOCALHOST:1"])
def test_own_names_are_known(visitor: Visitor, host: str) -> None:
    assert visitor.client.get("/", headers={"Host": host}).status_code == 200


def test_names_when_listening_everywhere() -> None:
    assert known_host("192.0.2.7:80", "0.0.0.0")
    assert not known_host("evil.example", "0.0.0.0")
    assert known_host("box.example", "box.example")
    assert not known_host("192.0.2.7", "box.example")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_posts_of_other_sites_are_refused(
    visitor: Visitor, store: Store, headers: dict[str, str]
) -> None:
    answer = visitor.post("/files", {"example": "spam"}, headers=headers)
    assert answer.status_code == 403
    assert not store.cases


def test_own_posts_are_taken(visitor: Visitor) -> None:
    own = {"Origin": HERE, "Sec-Fetch-Site": "same-origin"}
    assert visitor.post("/files", {"example": "spam"}, headers=own).status_code == 200


def test_forms_need_the_token_of_their_session(visitor: Visitor, store: Store) -> None:
    for wrong in ("", "0" * 64, "é"):
        answer = visitor.client.post("/files", data={"token": wrong, "example": "spam"})
        assert answer.status_code == 403
        assert "out of date" in text(answer.text)
    visitor.client.cookies.clear()
    assert visitor.post("/files", {"example": "spam"}).status_code == 403
    assert not store.cases


def test_cases_belong_to_their_session(visitor: Visitor) -> None:
    page = visitor.post("/files", {"example": "spam"}).url.path
    assert visitor.client.get(page).status_code == 200
    visitor.client.cookies.clear()
    assert visitor.client.get(page).status_code == 404
    visitor.token = visitor.read_token()
    for action in ("", "/delete", "/more", "/grade"):
        assert visitor.post(f"{page}{action}").status_code == 404


def test_large_files_are_refused_and_not_kept(store: Store) -> None:
    with TestClient(application(store, most_bytes=20_000), base_url=HERE) as client:
        visitor = Visitor(client)
        answer = visitor.send(("labels.csv", "item,labeler,label\n" + "1,a,x\n" * 10_000))
        assert answer.status_code == 413
        assert "larger than 0.02 MB" in text(answer.text)
        assert list(store.folder.rglob("*")) == []


def test_the_limit_acts_while_bytes_come_in() -> None:
    """An endless body never reaches the page beyond the limit, and the guard stops taking it."""
    taken, passed = 0, 0

    async def endless() -> dict[str, Any]:
        nonlocal taken
        taken += 1000
        return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

    async def page(scope: Any, receive: Any, send: Any) -> None:
        nonlocal passed
        while True:
            passed += len((await receive())["body"])

    scope = {
        "type": "http",
        "method": "POST",
        "headers": [(b"host", b"127.0.0.1")],
        "path": "/files",
    }
    with pytest.raises(HTTPException, match="larger"):
        asyncio.run(Guard(page, host="127.0.0.1", most_bytes=5000)(scope, endless, None))  # type: ignore[arg-type]
    assert passed == 5000
    assert taken == 50_000


def test_headers(visitor: Visitor) -> None:
    visitor.client.cookies.clear()
    for path in ("/", "/static/app.js", "/nowhere"):
        headers = visitor.client.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
    visitor.client.cookies.clear()
    cookie = visitor.client.get("/").headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


def test_what_goes_wrong_is_a_page(store: Store, monkeypatch: Any) -> None:
    with TestClient(application(store), base_url=HERE, raise_server_exceptions=False) as client:
        assert text(client.get("/nowhere").text) == "There is no such page."
        monkeypatch.setattr(store, "of", None)
        answer = client.get("/")
        assert answer.status_code == 500
        assert "should not" in text(answer.text)


# what is kept


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "<script>alert(1)</script>.csv",
        "..",
        "/etc/shadow",
        "a" * 3000,
        "x\u202ecod.csv",
    ],
)
def test_names_of_clients_are_only_shown(visitor: Visitor, store: Store, name: str) -> None:
    answer = visitor.send((name, LABELS))
    assert answer.status_code == 200
    kept = [path for path in store.folder.rglob("*") if path.is_file()]
    assert len(kept) == 1
    assert re.fullmatch(r"file-[0-9a-f]{8}", kept[0].name)
    assert "<script>alert" not in answer.text
    assert "\u202e" not in answer.text
    shown = next(iter(store.cases.values())).uploads[0].name
    assert len(shown) <= 100


def test_a_new_folder_is_private_and_emptied(visitor: Visitor, store: Store) -> None:
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    page = visitor.post("/files", {"example": "spam"}).url.path
    folder = next(iter(store.cases.values())).folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(list(folder.iterdir())) == 3
    assert visitor.post(f"{page}/delete").url.path == "/"
    assert not folder.exists()
    visitor.post("/files", {"example": "spam"})
    store.expire()
    assert len(store.cases) == 1
    store.expire(0)
    assert not store.cases
    assert list(store.folder.iterdir()) == []


def test_nothing_is_left_when_the_server_ends(store: Store) -> None:
    with TestClient(application(store), base_url=HERE) as client:
        Visitor(client).post("/files", {"example": "spam"})
        assert store.folder.exists()
    assert not store.folder.exists()


# the same words as the command line


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"item,labeler,label\n",
        b"item,labeler,label\n1,a,x\n2,b,y,z\n",
        "item,labeler,label\n1,a,é\n".encode("latin1"),
        b"\x1f\x8b\x08\x00\x00",
        b"item,label,label\n1,a,x\n",
    ],
)
def test_a_file_that_is_no_table(
    visitor: Visitor, store: Store, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(content)
    with pytest.raises(InputError) as problem:
        examine([path])
    answer = visitor.send(("labels.csv", content))
    assert answer.status_code == 422
    assert text(answer.text) == str(problem.value)
    assert not store.cases
    assert list(store.folder.iterdir()) == []


def test_no_file_and_a_bad_one_more(visitor: Visitor, store: Store) -> None:
    assert "no file was chosen" in text(visitor.post("/files").text)
    page = visitor.post("/files", {"example": "spam"}).url.path
    assert "more.csv is empty" in text(visitor.send(("more.csv", b""), path=f"{page}/more").text)
    assert len(next(iter(store.cases.values())).uploads) == 3


def test_columns_can_be_corrected(visitor: Visitor) -> None:
    odd = LABELS.replace("task,who,verdict", "ref,who,verdict")
    page = visitor.send(("odd.csv", odd))
    assert "of a known name" in text(page.text)
    assert "needs a file of predictions and labels" in page.text
    named = {"file": "0", "item_column": "ref", "labeler_column": "who", "label_column": "verdict"}
    page = visitor.post(page.url.path, named)
    assert "ref → item, who → labeler, verdict → label" in page.text
    assert 'role="alert">' not in page.text.replace('role="alert" data-alert', "")
    page = visitor.post(page.url.path, {**named, "item_column": "nothing"})
    assert "has no column 'nothing' for the item" in text(page.text)
    assert visitor.post(page.url.path, {"file": "7"}).status_code == 422


def test_uses_follow_the_columns_until_they_are_said(visitor: Visitor, store: Store) -> None:
    page = visitor.send(("odd.csv", "item,label\n1,x\n2,y\n")).url.path
    case = next(iter(store.cases.values()))
    said = {
        "file": "0",
        "prediction_column": "label",
        "uses": ["labels"],
    }  # as ticked when the form was shown
    visitor.post(page, said)
    assert look(case).files[0].uses == {"predictions"}
    visitor.post(page, {**said, "uses": ["gold"]})
    assert look(case).files[0].uses == {"gold"}


# runs


def start(visitor: Visitor, **answers: str) -> str:
    """Grade a case whose files call everything differently."""
    page = visitor.send(("my labels.csv", LABELS), ("-p.csv", PREDICTIONS)).url.path
    visitor.post(
        page,
        {"file": "0", "labeler_column": "who", "label_column": "verdict", "item_column": "task"},
    )
    files = {"file-predictions": "1", "file-labels": "0", "file-gold": ""}
    return str(visitor.post(f"{page}/grade", {**files, **answers}).url.path)


def test_numbers_are_those_of_the_command_shown(
    visitor: Visitor, tmp_path: Path, monkeypatch: Any
) -> None:
    run = start(
        visitor,
        **{
            "noise": "range",
            "noise-low": "2",
            "noise-high": "12,5",
            "positive": "no",
            "level": "0.8",
        },
    )
    assert visitor.wait(run) == "done"
    page = visitor.client.get(run)
    import html

    command = html.unescape(re.findall(r'<code id="command">(.*?)</code>', page.text)[0])
    assert command == (
        "truthing grade ./-p.csv 'my labels.csv' --item-column image,task --labeler-column who "
        "--label-column verdict "
        "--noise 0.02-0.125 --positive no --level 0.8"
    )
    (tmp_path / "my labels.csv").write_text(LABELS)
    (tmp_path / "-p.csv").write_text(PREDICTIONS)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command_line, [*shlex.split(command)[1:], "--json"])
    assert done.exit_code == 0, done.output
    download = visitor.client.get(f"{run}/download/result.json")
    assert download.json() == json.loads(done.stdout)
    assert download.headers["Content-Disposition"] == 'attachment; filename="grade-result.json"'
    report = visitor.client.get(f"{run}/report")
    assert report.headers["Content-Security-Policy"].startswith("sandbox allow-scripts;")
    assert "allow-same-origin" not in report.headers["Content-Security-Policy"] + page.text
    assert "Accuracy" in report.text
    assert visitor.client.get(f"{run}/download/shown.json").status_code == 404
    case, number = run.replace("runs", "files").rsplit("/", 1)
    assert 'value="12,5"' in visitor.client.get(f"{case}/grade?like={number}").text


def test_any_answer_may_be_no_class_and_none_is_by_default(visitor: Visitor) -> None:
    labels = LABELS.replace("30,0,yes", "30,0,unsure").replace("31,1,no", "31,1,unsure")
    case = visitor.send(
        ("labels.csv", labels.replace("task,who,verdict", "item,labeler,label"))
    ).url
    form = visitor.client.get(f"{case.path}/rate").text
    offered = re.search(r'<select[^>]*name="unsure".*?</select>', form, re.DOTALL)
    assert offered is not None
    values = re.findall(r'<option value="(.*?)"', offered[0])
    assert values == ["", "no", "unsure", "yes"]


def test_a_run_that_cannot_says_why(visitor: Visitor) -> None:
    run = start(visitor, noise="right")
    assert visitor.wait(run) == "failed"
    assert "labels are impossible under the given noise" in text(visitor.client.get(run).text)


def test_answers_are_checked_before_a_run(visitor: Visitor, store: Store) -> None:
    page = visitor.post("/files", {"example": "spam"}).url.path
    files = {"file-predictions": "1", "file-labels": "0"}
    for answers, problem in (
        ({"noise": "rate", "noise-rate": "five"}, "'five' is not a number"),
        ({"noise": "range", "noise-low": "5"}, "the number is missing"),
        (
            {"panel_error": "x"},
            "How often may all labelers be wrong together: 'x' is not a number.",
        ),
        ({"level": "7"}, "level '7' is not offered"),
        ({"file-labels": ""}, "Labels: no file was chosen"),
        ({"file-labels": "9"}, "Labels: there is no such file"),
    ):
        answer = visitor.post(f"{page}/grade", {**files, **answers})
        assert answer.status_code == 422
        assert problem in text(answer.text)
    assert not store.runs()


def test_cancelling_stops_the_work(visitor: Visitor, store: Store) -> None:
    run = start(visitor)
    process = store.runs()[0]._process
    assert process.is_alive()
    assert "cancelled" in visitor.post(f"{run}/cancel").text
    assert not process.is_alive()
    assert not store.runs()[0].folder.exists()
    assert visitor.client.get(f"{run}/status").json()["state"] == "cancelled"


def test_too_many_runs_at_once(visitor: Visitor, store: Store, monkeypatch: Any) -> None:
    monkeypatch.setattr(pages, "MOST_RUNS", 1)
    run = start(visitor)
    page = "/files/" + run.split("/")[2]
    answer = visitor.post(f"{page}/grade", {"file-predictions": "1", "file-labels": "0"})
    assert answer.status_code == 422
    assert "1 runs are under way already" in text(answer.text)
    visitor.post(f"{page}/delete")
    assert not store.cases


def test_a_process_that_dies_is_noticed(visitor: Visitor, store: Store) -> None:
    run = start(visitor)
    pid = store.runs()[0]._process.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert visitor.wait(run) == "failed"
    assert text(visitor.client.get(run).text) == runs.DIED


@pytest.mark.parametrize("job", JOBS)
def test_every_job_gives_the_numbers_of_its_command(
    visitor: Visitor, monkeypatch: Any, job: str, tmp_path: Path
) -> None:
    example = "prefer" if job == "prefer" else "spam"
    page = visitor.post("/files", {"example": example}).url.path
    asked = {field.name for field in JOBS[job].fields}
    answers = {"noise": "rate", "noise-rate": "15"} if "noise" in asked else {}
    if job == "plan":
        answers |= {"budget": "200", "label_cost": "0.5", "gold_cost": "4"}
    files: dict[str, Any] = {"file-labels": "0", "file-predictions": "1", "file-gold": "2"}
    if job == "monitor":
        dated = "date,truth\n" + "".join(f"2026-01-{d:02d},pass\n" for d in range(1, 29))
        (tmp_path / "dated.csv").write_text(dated)
        page, files = visitor.send(("dated.csv", dated)).url.path, {"file-labels": "0"}
    if job == "readers":
        reads = "case,reader,score,truth\n" + "".join(
            f"{c},{r},{(7 * c + 3 * r) % 10},{c % 2}\n" for c in range(30) for r in range(4)
        )
        (tmp_path / "reads.csv").write_text(reads)
        page, files = visitor.send(("reads.csv", reads)).url.path, {"file-labels": "0"}
    if job == "prefer":
        files = {"file-labels": "0", "file-gold": "1"}
    if job == "compare":  # a second model: the labels' own column of predictions would do as well
        other = (EXAMPLE / "predictions.csv").read_text().replace("spam", "ham", 40)
        (tmp_path / "other.csv").write_text(other)
        visitor.send(("other.csv", other), path=f"{page}/more")
        files["file-predictions"] = ["1", "3"]
    run = visitor.post(f"{page}/{job}", {**files, **answers}).url.path
    assert visitor.wait(run) == "done"
    shown = visitor.client.get(run).text
    command = re.findall(r'<code id="command">(.*?)</code>', shown)[0]
    assert command.startswith(f"truthing {job} ")
    for name in (EXAMPLE.parent / example).glob("*.csv"):
        shutil.copy(name, tmp_path)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command_line, [*command.split()[1:], "--json"])
    assert visitor.client.get(f"{run}/download/result.json").json() == json.loads(done.stdout)
    has_page = visitor.client.get(f"{run}/report").status_code == 200
    assert has_page
    assert "<iframe" in shown


@pytest.mark.parametrize("job", ["grade", "rate"])
def test_several_labels_at_once(
    visitor: Visitor, tmp_path: Path, monkeypatch: Any, job: str
) -> None:
    """Tags on the page give the numbers of the command that is shown."""
    import html

    words = ["x;y", "x", "y", "[]"]
    labels = "item,labeler,label\n" + "".join(
        f"{i},w{w},{words[(i + (i % 7 == w)) % 4]}\n" for i in range(40) for w in range(3)
    )
    predictions = "item,prediction\n" + "".join(f"{i},{words[i % 4]}\n" for i in range(40))
    page = visitor.send(("l.csv", labels), ("p.csv", predictions)).url.path
    files = {"file-labels": "0", "file-predictions": "1", "file-gold": ""}
    answers = {"tags": ";", "noise": "rate", "noise-rate": "10"}
    run = visitor.post(f"{page}/{job}", {**files, **answers}).url.path
    assert visitor.wait(run) == "done", visitor.client.get(run).text
    shown = visitor.client.get(run).text
    command = html.unescape(re.findall(r'<code id="command">(.*?)</code>', shown)[0])
    assert "--tags ';'" in command
    (tmp_path / "l.csv").write_text(labels)
    (tmp_path / "p.csv").write_text(predictions)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command_line, [*shlex.split(command)[1:], "--json"])
    assert visitor.client.get(f"{run}/download/result.json").json() == json.loads(done.stdout)


def test_one_file_with_everything_is_named_once() -> None:
    file = Given(Path("x"), "all.csv")
    task = Task(
        "grade", {"predictions": (file,), "labels": (file,)}, {"target": "population"}, 0.95, Path()
    )
    assert JOBS["grade"].command(task) == "truthing grade all.csv --target population"


def test_one_file_with_everything(visitor: Visitor, tmp_path: Path, monkeypatch: Any) -> None:
    """Columns that were named for labels serve the gold of the same file too, here and on the
    command line."""
    rows = [
        f"{i},{w},{'xy'[(i + (i % 5 == w)) % 2]},{'xy'[i % 2]},{'xy'[i % 2] if i < 9 else ''}"
        for i in range(40)
        for w in range(3)
    ]
    content = "item,who,label,prediction,gold\n" + "\n".join(rows)
    (tmp_path / "all.csv").write_text(content)
    monkeypatch.chdir(tmp_path)
    page = visitor.send(("all.csv", content)).url.path
    visitor.post(page, {"file": "0", "labeler_column": "who", "label_column": "label"})
    files = {"file-labels": "0", "file-predictions": "0", "file-gold": "0"}
    run = visitor.post(f"{page}/grade", {**files, "noise": "rate", "noise-rate": "10"}).url.path
    assert visitor.wait(run) == "done"
    command = re.findall(r'<code id="command">(.*?)</code>', visitor.client.get(run).text)[0]
    done = CliRunner().invoke(command_line, [*command.split()[1:], "--json"])
    found = visitor.client.get(f"{run}/download/result.json").json()
    assert found == json.loads(done.stdout)
    assert found["gold"] == 9
    run = visitor.post(f"{page}/grade", {**files, "file-gold": ""}).url.path
    assert visitor.wait(run) == "failed"
    assert "all.csv holds gold, which the command would use" in text(visitor.client.get(run).text)
    for job in ("rate", "ceiling"):
        line = [
            job,
            "all.csv",
            "--labeler-column",
            "who",
            "--gold" if job == "rate" else "--predictions",
            "all.csv",
        ]
        assert CliRunner().invoke(command_line, line).exit_code == 0


# the command


def test_without_the_extra_one_line() -> None:
    code = "import sys; sys.modules['starlette'] = None; from truthing.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "serve"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == 'truthing: the web page needs starlette: pip install "truthing[app]".\n'


def test_serve_listens_here_alone_and_leaves_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    server = subprocess.Popen(
        [*TRUTHING, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert server.stdout is not None
    with server.stdout:
        line = server.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert found is not None, line
        import urllib.request

        with urllib.request.urlopen(found[0]) as answer:
            assert answer.status == 200
        assert [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("truthing-*")] == [
            0o700
        ]
        taken = subprocess.run(
            [*TRUTHING, "serve", "--port", found[1]], capture_output=True, text=True
        )
        assert taken.returncode == 1
        assert "choose another with --port" in taken.stderr
        assert taken.stderr.count("\n") == 1
        server.send_signal(signal.SIGTERM)
        server.wait()
    assert list(tmp_path.glob("truthing-*")) == []


# what people see


def words(page: str) -> str:
    """Everything that is written on a page, without the command that does the same and what scripts
    and styles hold.
    """
    import html

    page = re.sub(r"<(script|style|pre|code)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def test_the_home_page_leads_by_question_to_the_job(visitor: Visitor) -> None:
    page = visitor.client.get("/").text
    for job in JOBS.values():
        assert job.question in words(page)
    case = visitor.post("/files", {"example": "judges", "ask": "labelers"})
    assert case.url.query == b"ask=labelers"
    primary = re.findall(r'<a class="button" href="[^"]+/(\w+)">', case.text)
    assert primary == ["labelers"]


def test_jobs_that_cannot_run_are_grey_and_say_why(visitor: Visitor) -> None:
    page = visitor.post("/files", {"example": "judges"}).text
    assert re.search(r'aria-disabled="true">Grade a classifier', page)
    assert "Not with these files: needs a file of predictions." in words(page)
    page = visitor.post("/files", {"example": "spam"}).text
    assert "needs the predictions of two models or more" in words(page)
    assert re.search(r'aria-disabled="true">Compare models', page)
    alone = "item,labeler,label\n" + "".join(f"{i},a,{'xy'[i % 2]}\n" for i in range(20))
    page = visitor.send(("alone.csv", alone)).text
    assert "one labeler alone says nothing about its own mistakes" in words(page)


def test_a_plan_needs_no_files_and_runs_with_its_defaults(visitor: Visitor) -> None:
    form = visitor.post("/files", {"start": "plan"})
    assert form.url.path.endswith("/plan")
    shown = dict(re.findall(r'name="(\w+)" inputmode="decimal"[^>]*value="([^"]*)"', form.text))
    assert shown["items"] == "500"
    run = visitor.post(form.url.path, {**shown, "level": "0.95"}).url.path
    assert visitor.wait(run) == "done"
    report = visitor.client.get(f"{run}/report").text
    assert "buy 500 items" in words(report)
    assert visitor.client.get(f"{run}/download/table.csv").text.startswith("best,buy_items")
    assert visitor.client.get(f"{run}/download/next.csv").status_code == 404


def test_no_option_and_no_python_is_seen(visitor: Visitor) -> None:
    case = visitor.post("/files", {"example": "spam"}).url.path
    seen = [visitor.client.get(path).text for path in ("/", case, f"{case}/grade", f"{case}/plan")]
    files = {"file-labels": "0", "file-predictions": "1", "file-gold": "2"}
    run = visitor.post(f"{case}/grade", {**files, "noise": "rate", "noise-rate": "15"}).url.path
    assert visitor.wait(run) == "done"
    for page in [*seen, visitor.client.get(run).text, visitor.client.get(f"{run}/report").text]:
        told = words(page)
        assert not re.search(r"(?<![\w-])--[a-z]", told), re.findall(r".{30}--[a-z].{30}", told)
        assert not re.search(r"\b[a-z]+_[a-z]+=|\b[a-z]+=(?![=\s])", told)
        for word in ("link from consensus", "anchor", "pilot"):
            assert word not in told


def test_results_survive_a_restart_where_they_are_kept(tmp_path: Path) -> None:
    from truthing.app.kept import Kept

    kept = Kept.at(str(tmp_path / "results"))
    store = Store(kept)
    with TestClient(application(store), base_url=HERE) as client:
        visitor = Visitor(client)
        case = visitor.post("/files", {"example": "judges"}).url.path
        asked = {"file-labels": "0", "file-gold": "1", "noise": "rate", "noise-rate": "15"}
        run = visitor.post(f"{case}/rate", asked).url.path
        assert visitor.wait(run) == "done"
        (link,) = re.findall(r'href="(/kept/[^"]+)"', client.get(run).text)
    store.close()
    again = Store(kept)
    with TestClient(application(again), base_url=HERE) as client:
        assert link in client.get("/").text
        assert "Count the classes" in client.get(link).text
        report = client.get(f"{link}/report")
        assert report.headers["Content-Security-Policy"].startswith("sandbox allow-scripts;")
        assert "items are pass" in report.text
        assert client.get(f"{link}/download/result.json").json()["kind"] == "rate"
        for path in ("about.json", "..%2Fabout.json", "nothing"):
            assert client.get(f"{link}/download/{path}").status_code == 404
        assert client.get("/kept/../../etc").status_code == 404
        assert client.get("/kept/20260101-000000-rate-00000000").status_code == 404
    again.close()
    assert not any((tmp_path / "results").rglob("file-*"))
    assert Kept().all() == []


def test_nothing_is_kept_unless_asked(visitor: Visitor, store: Store) -> None:
    assert store.kept.folder is None
    assert "Kept results" not in visitor.client.get("/").text


DRAWN = {
    "grade": {"cluster": "patient", "weights": "stands_for", "by": "site", "deployment": "0.1"},
    "rate": {"stratum": "site", "calibration_chosen": "truth", "file-calibration_set": "3"},
    "compare": {"cluster": "patient", "by": "site", "trained_on_labels": "second, said,"},
    "labelers": {"cluster": "patient", "by": "site"},
    "plan": {"cluster": "patient", "budget": "50", "label_cost": "0.5", "gold_cost": "1"},
}


@pytest.mark.parametrize("job", DRAWN)
def test_how_items_were_drawn_is_asked_as_the_command_has_it(
    visitor: Visitor, tmp_path: Path, monkeypatch: Any, job: str
) -> None:
    import html

    import numpy as np

    rng = np.random.default_rng(0)

    def votes(n: int, first: str, truth_of: str) -> tuple[str, list[str]]:
        truth = ["pass" if rng.random() < 0.6 else "fail" for _ in range(n)]
        flip = {"pass": "fail", "fail": "pass"}
        rows = [
            f"{first}{i},w{w},{t if rng.random() < 0.8 else flip[t]},p{i // 4},s{i % 2},{1 + i % 3}"
            + (f",{t}" if truth_of else "")
            for i, t in enumerate(truth)
            for w in range(3)
        ]
        return "\n".join([f"item,judge,label,patient,site,stands_for{truth_of}", *rows]), truth

    labels, truth = votes(80, "g", "")
    other, _ = votes(40, "c", ",truth")
    said = "item,prediction\n" + "".join(f"g{i},{t}\n" for i, t in enumerate(truth))
    gold = "item,truth\n" + "".join(f"g{i},{t}\n" for i, t in list(enumerate(truth))[::3])
    files = {"labels.csv": labels, "said.csv": said, "gold.csv": gold, "other.csv": other}
    second = said.replace("pass", "fail", 9)
    sent = files | ({"second.csv": second} if job == "compare" else {})
    page = visitor.send(*sent.items()).url.path
    used: dict[str, Any] = {"file-labels": "0", "file-predictions": "1", "file-gold": "2"}
    if job == "compare":
        used["file-predictions"] = ["1", "4"]
    run = visitor.post(f"{page}/{job}", {**used, **DRAWN[job]}).url.path
    assert visitor.wait(run) == "done", visitor.client.get(run).text
    shown = visitor.client.get(run).text
    command = html.unescape(re.findall(r'<code id="command">(.*?)</code>', shown)[0])
    for name in ("cluster", "by", "stratum", "weights", "deployment"):
        assert (f"--{name} " in command) == (name in DRAWN[job])
    if job == "compare":
        assert "--trained-on-labels second --trained-on-labels said" in command
    for name, content in sent.items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command_line, [*shlex.split(command)[1:], "--json"])
    assert visitor.client.get(f"{run}/download/result.json").json() == json.loads(done.stdout)
