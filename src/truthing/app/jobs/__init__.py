"""What the page can answer: one entry a job, in the order of the menu. A new job is one file and one line here."""

from truthing.app.jobs import ceiling, grade, rate
from truthing.app.jobs.job import Job

JOBS: dict[str, Job] = {job.name: job for job in (grade.JOB, rate.JOB, ceiling.JOB)}
