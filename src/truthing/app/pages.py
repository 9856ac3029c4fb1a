"""The pages: files in, what they are, a job's questions, its run and its result."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from truthing import __version__
from truthing.app import security
from truthing.app.forms import chosen_file, given_files, job_of
from truthing.app.jobs import JOBS
from truthing.app.jobs.job import Job
from truthing.app.jobs.questions import LEVELS
from truthing.app.kept import FILES
from truthing.app.look import USES, look
from truthing.app.runs import MOST_RUNS, MOST_TOGETHER, Run
from truthing.app.task import Task
from truthing.app.uploads import EXAMPLES, Store, UploadedCase
from truthing.app.words import CAPTIONS, plain
from truthing.errors import InputError, TruthingError, in_words
from truthing.render.console import safe

MOST_FILES = 20
MOST_KEPT = 5  # times what may be sent at once, for each visitor
WENT_WRONG = (
    "Something went wrong that should not. The terminal that runs the page shows the details."
)
ROLES = ("item", "labeler", "label", "prediction", "score", "truth")
LAYOUTS = {
    "long": "one row per label",
    "wide": "one column per labeler",
    "counts": "votes for each class",
    "grouped": "patterns and how often",
}


class Pages:
    """Every page, over one store of cases."""

    def __init__(self, store: Store, *, most_bytes: int) -> None:
        self.store = store
        self.most_bytes = most_bytes
        self.secret = secrets.token_bytes(32)
        self.starting = threading.Lock()
        self.templates = Environment(
            loader=PackageLoader("truthing.app"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.filters |= {"plain": plain}

    def routes(self) -> list[Route]:
        return [
            Route("/", self.home),
            Route("/files", self.receive, methods=["POST"]),
            Route("/files/{case}", self.case),
            Route("/files/{case}", self.correct, methods=["POST"]),
            Route("/files/{case}/more", self.receive, methods=["POST"]),
            Route("/files/{case}/delete", self.delete, methods=["POST"]),
            Route("/files/{case}/{job}", self.job),
            Route("/files/{case}/{job}", self.start, methods=["POST"]),
            Route("/runs/{case}/{run}", self.run),
            Route("/runs/{case}/{run}/status", self.status),
            Route("/runs/{case}/{run}/cancel", self.cancel, methods=["POST"]),
            Route("/runs/{case}/{run}/report", self.report),
            Route("/runs/{case}/{run}/download/{name}", self.download),
            Route("/kept/{kept}", self.kept),
            Route("/kept/{kept}/report", self.kept_report),
            Route("/kept/{kept}/download/{name}", self.kept_download),
        ]

    def show(
        self, request: Request, template: str, status: int = 200, **shown: Any
    ) -> HTMLResponse:
        token = security.token(self.secret, request.scope["session_id"])
        page = self.templates.get_template(template)
        return HTMLResponse(
            page.render(
                token=token, version=__version__, jobs=JOBS, keep=self.store.kept.folder, **shown
            ),
            status,
        )

    def home_page(self, request: Request, problem: str = "", status: int = 200) -> HTMLResponse:
        cases = self.store.of(request.scope["session_id"])
        return self.show(
            request,
            "home.html",
            status,
            problem=problem,
            cases=cases,
            examples=EXAMPLES,
            most_bytes=self.most_bytes,
            too_large=security.too_large(self.most_bytes),
            kept=self.store.kept.all(),
        )

    def home(self, request: Request) -> Response:
        return self.home_page(request)

    async def receive(self, request: Request) -> Response:
        """Files for a new case, or more files for one; a file that is no table is refused and
        nothing of it kept.
        """
        form = await self.form(request)
        session = request.scope["session_id"]
        if form.get("start") in JOBS:  # before there are any files
            return RedirectResponse(f"/files/{self.store.new(session).key}/{form['start']}", 303)
        old = self.case_of(request) if "case" in request.path_params else None
        case = old or self.store.new(session)
        before = list(case.uploads)
        try:
            for upload in form.getlist("files"):
                if isinstance(upload, UploadFile) and upload.filename:
                    await run_in_threadpool(case.add, upload.filename, upload.file)
            if form.get("example") in EXAMPLES:
                await run_in_threadpool(case.add_example, str(form["example"]))
            if case.uploads == before:
                raise InputError("no file was chosen: choose one or more, or take the example.")
            if self.store.bytes_of(session) > MOST_KEPT * self.most_bytes:
                raise InputError(
                    f"your files are larger than {MOST_KEPT * self.most_bytes / 1e6:g} MB "
                    "together: delete some that you no longer need."
                )
            await run_in_threadpool(
                lambda: [upload.table() for upload in case.uploads[len(before) :]]
            )
        except TruthingError as problem:
            return await run_in_threadpool(self.undo, request, case, before, safe(problem, 2000))
        except OSError as problem:
            words = f"The files could not be kept: {in_words(problem)}"
            return await run_in_threadpool(self.undo, request, case, before, words)
        finally:
            await form.close()
        asked = f"?ask={form['ask']}" if form.get("ask") in JOBS else ""
        return RedirectResponse(f"/files/{case.key}{asked}", 303)

    def undo(
        self, request: Request, case: UploadedCase, before: list[Any], problem: str
    ) -> Response:
        for upload in case.uploads[len(before) :]:
            upload.path.unlink()
        case.uploads[len(before) :] = []
        case.look = None
        if before:
            return self.case_page(request, case, problem, 422)
        self.store.remove(case)
        return self.home_page(request, problem, 422)

    def case(self, request: Request) -> Response:
        return self.case_page(request, self.case_of(request))

    def case_page(
        self, request: Request, case: UploadedCase, problem: str = "", status: int = 200
    ) -> Response:
        return self.show(
            request,
            "case.html",
            status,
            case=case,
            look=look(case),
            ask=request.query_params.get("ask", ""),
            problem=problem,
            roles=ROLES,
            layouts=LAYOUTS,
            uses=USES,
            captions=CAPTIONS,
            most_bytes=self.most_bytes,
            too_large=security.too_large(self.most_bytes),
        )

    async def correct(self, request: Request) -> Response:
        """What people say about the columns and uses of one file."""
        form = await self.form(request)
        case = self.case_of(request)
        place = chosen_file(case, form.get("file"))
        names = [f"{role}_column" for role in ROLES] + ["layout", *CAPTIONS]
        columns = {name: str(form[name]) for name in names if form.get(name)}
        uses = frozenset(str(use) for use in form.getlist("uses")) & frozenset(USES)
        upload, before = case.uploads[place], await run_in_threadpool(look, case)
        if uses == before.files[place].uses:
            uses = (
                upload.uses or frozenset()
            )  # nothing new was said: other columns may be recognised as something else
        case.uploads[place] = replace(upload, columns=columns, uses=uses or None)
        case.look = None
        return RedirectResponse(f"/files/{case.key}", 303)

    async def delete(self, request: Request) -> Response:
        await self.form(request)
        await run_in_threadpool(self.store.remove, self.case_of(request))
        return RedirectResponse("/", 303)

    def job(self, request: Request) -> Response:
        case = self.case_of(request)
        like = case.runs.get(request.query_params.get("like", ""))
        return self.job_page(
            request, case, job_of(request), like.answers if like is not None else {}
        )

    def job_page(
        self,
        request: Request,
        case: UploadedCase,
        job: Job,
        form: Mapping[str, Any],
        problem: str = "",
        status: int = 200,
    ) -> Response:
        return self.show(
            request,
            "job.html",
            status,
            case=case,
            look=look(case),
            job=job,
            form=form,
            problem=problem,
            levels=LEVELS,
        )

    async def start(self, request: Request) -> Response:
        form = await self.form(request)
        case, job = self.case_of(request), job_of(request)
        try:
            run = await run_in_threadpool(self.launch, case, job, form)
        except TruthingError as problem:
            return await run_in_threadpool(
                self.job_page, request, case, job, form, safe(problem, 2000), 422
            )
        return RedirectResponse(f"/runs/{case.key}/{run.key}", 303)

    def launch(self, case: UploadedCase, job: Job, form: FormData) -> Run:
        values = {field.name: field.value(form) for field in job.fields}
        options = {name: value for name, value in values.items() if value is not None}
        level = str(form.get("level", "0.95"))
        if level not in dict(LEVELS):
            raise InputError(f"level {level!r} is not offered.")
        files = given_files(look(case), job, form)
        key, kept = secrets.token_hex(4), self.store.kept.folder
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{job.name}-{key}"
        task = Task(
            job.name,
            files,
            options,
            float(level),
            case.folder / f"run-{key}",
            title=job.title,
            keep=None if kept is None else kept / name,
        )
        task = replace(task, command=job.command(task))
        with self.starting:
            if _running(self.store.runs(case.session)) >= MOST_RUNS:
                raise InputError(
                    f"{MOST_RUNS} runs are under way already: wait until one ends or cancel one, "
                    "then run again."
                )
            if _running(self.store.runs()) >= MOST_TOGETHER:
                raise InputError("others are using all of this machine: run again in a while.")
            task.folder.mkdir(mode=0o700)
            run = Run(task, {name: str(value) for name, value in form.items()})
            case.runs[run.key] = run
        return run

    def run(self, request: Request) -> Response:
        case, run = self.run_of(request)
        return self.show(request, "run.html", case=case, run=run, job=JOBS[run.task.job])

    def kept(self, request: Request) -> Response:
        """A result of an earlier day; whoever reaches the page may see it."""
        found = self.store.kept.find(request.path_params["kept"])
        if found is None:
            raise HTTPException(404, "There is no such result.")
        return self.show(
            request,
            "kept.html",
            result=found,
            has_next=self.store.kept.file(found.name, "next.csv") is not None,
        )

    def kept_report(self, request: Request) -> Response:
        return self._report(self._kept_file(request, "report.html"))

    def kept_download(self, request: Request) -> Response:
        return self._kept_file(request, request.path_params["name"], as_download=True)

    def _kept_file(self, request: Request, name: str, *, as_download: bool = False) -> Response:
        path = self.store.kept.file(request.path_params["kept"], name)
        if path is None or name not in FILES:
            raise HTTPException(404, "There is no such result.")
        shown = f"{request.path_params['kept']}-{name}" if as_download else None
        return FileResponse(path, media_type=FILES[name], filename=shown)

    def status(self, request: Request) -> Response:
        _, run = self.run_of(request)
        return JSONResponse({"state": run.state, "fraction": run.fraction, "words": run.words})

    async def cancel(self, request: Request) -> Response:
        await self.form(request)
        case, run = self.run_of(request)
        await run_in_threadpool(run.cancel)
        return RedirectResponse(f"/runs/{case.key}/{run.key}", 303)

    def report(self, request: Request) -> Response:
        """The report itself, under a policy that lets its scripts run and reach nothing."""
        return self._report(self._file(request, "report.html"))

    def _report(self, response: Response) -> Response:
        response.headers["Content-Security-Policy"] = security.REPORT
        return response

    def download(self, request: Request) -> Response:
        return self._file(request, request.path_params["name"], as_download=True)

    def _file(self, request: Request, name: str, *, as_download: bool = False) -> Response:
        _, run = self.run_of(request)
        if name not in FILES or not (run.folder / name).is_file():
            raise HTTPException(404, "This run has no such result.")
        shown = f"{run.task.job}-{name}" if as_download else None
        return FileResponse(run.folder / name, media_type=FILES[name], filename=shown)

    async def form(self, request: Request) -> FormData:
        """A form of this visitor; no other is read."""
        form = await request.form(max_files=MOST_FILES, max_fields=100)
        expected = security.token(self.secret, request.scope["session_id"])
        if not hmac.compare_digest(str(form.get("token", "")).encode(), expected.encode()):
            raise HTTPException(
                403, "This form is out of date: go back, reload the page and send it again."
            )
        return form

    def case_of(self, request: Request) -> UploadedCase:
        case = self.store.find(request.path_params["case"], request.scope["session_id"])
        if case is None:
            raise HTTPException(
                404,
                "These files are not here (any more): they are deleted after a while. Start again.",
            )
        return case

    def run_of(self, request: Request) -> tuple[UploadedCase, Run]:
        case = self.case_of(request)
        if request.path_params["run"] not in case.runs:
            raise HTTPException(404, "There is no such run.")
        return case, case.runs[request.path_params["run"]]

    def problem(self, request: Request, error: Exception) -> Response:
        """A refused or lost request, as a page with one sentence."""
        if isinstance(error, ClientDisconnect):
            words, status = "The files did not arrive: send them again.", 400
        elif not isinstance(error, HTTPException):
            words, status = WENT_WRONG, 500
        else:
            words = "There is no such page." if error.detail == "Not Found" else error.detail
            status = error.status_code
        return self.show(request, "problem.html", status, problem=words)


def _running(runs: list[Run]) -> int:
    return sum(run.state == "running" for run in runs)
