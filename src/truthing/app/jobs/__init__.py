"""What the page can answer: one entry a job, in the order of the menu. A new job is one file and
one line here.
"""

from truthing.app.jobs import (
    ceiling,
    compare,
    grade,
    labelers,
    monitor,
    plan,
    prefer,
    rate,
    readers,
)
from truthing.app.jobs.job import Job

JOBS: dict[str, Job] = {
    module.JOB.name: module.JOB
    for module in (grade, compare, rate, prefer, monitor, readers, labelers, plan, ceiling)
}
