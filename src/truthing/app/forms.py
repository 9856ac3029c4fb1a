"""What an address or a form chose: a job, a file, the files for a job."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request

from truthing.app.jobs import JOBS
from truthing.app.jobs.job import Job
from truthing.app.look import Look
from truthing.app.task import Given
from truthing.app.uploads import UploadedCase
from truthing.errors import InputError


def job_of(request: Request) -> Job:
    job = JOBS.get(request.path_params["job"])
    if job is None:
        raise HTTPException(404, "There is no such page.")
    return job


def chosen_file(case: UploadedCase, number: Any) -> int:
    """The place of a file that a form speaks of."""
    if not str(number).isdecimal() or int(number) >= len(case.uploads):
        raise HTTPException(422, "There is no such file.")
    return int(number)


def given_files(found: Look, job: Job, form: FormData) -> dict[str, tuple[Given, ...]]:
    """The files that a form chose for each slot of a job."""
    files: dict[str, tuple[Given, ...]] = {}
    for slot in job.slots:
        chosen = [str(place) for place in form.getlist(f"file-{slot.use}") if place != ""]
        if not chosen and slot.needed:
            raise InputError(f"{slot.words}: no file was chosen.")
        if any(not place.isdecimal() or int(place) >= len(found.files) for place in chosen):
            raise InputError(f"{slot.words}: there is no such file.")
        seen = [found.files[int(place)] for place in chosen]
        if seen:
            files[slot.use] = tuple(
                Given(s.upload.path, s.upload.name, s.upload.columns, s.roles.get("item"))
                for s in seen
            )
    return files
