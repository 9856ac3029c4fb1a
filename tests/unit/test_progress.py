"""Progress: it only grows, it can stop the work, and who listens does not change the answer."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from rich.console import Console

import truthing as tr
from truthing import compiled
from truthing import progress as words
from truthing.noise.base import table_log_likelihood
from truthing.render import waiting
from truthing.truth.consensus import Entries
from truthing.truth.samplers.diagnostics import split_rhat
from truthing.truth.samplers.known import sample_known
from truthing.truth.samplers.labelers import RowModel, sample_crowd


class StoppedError(Exception):
    pass


@pytest.fixture(scope="module")
def data() -> tr.simulation.Simulated:
    return tr.simulate(
        300, 4, prior=[0.7, 0.3], operating_point=(0.85, 0.1), fallibility=0.3, seed=3
    )


def test_share_done_grows_and_the_answer_is_the_same(data) -> None:
    heard: list[float] = []
    listened = tr.grade(
        data.predictions, data.labels, progress=lambda done, said: heard.append(done)
    )
    alone = tr.grade(data.predictions, data.labels)
    assert heard == sorted(heard)
    assert 0 <= heard[0] <= heard[-1] <= 1
    assert len(heard) > 10
    assert np.array_equal(listened["accuracy"].draws, alone["accuracy"].draws)
    heard.clear()
    listened.sensitivity(progress=lambda done, said: heard.append(done))
    assert heard == sorted(heard)
    assert heard[-1] <= 1


@pytest.mark.parametrize(
    "options", [{}, {"panel_error": 0}, {"noise": 0.15}, {"noise": tr.noise.Difficulty()}]
)
def test_raising_stops_the_work(data, options) -> None:
    def stop(done: float, said: str) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        tr.grade(data.predictions, data.labels, progress=stop, **options)
    with pytest.raises(StoppedError):
        tr.prevalence(data.labels, progress=stop)


def test_a_bar_on_a_terminal_and_nothing_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal in (True, False):
        screen = io.StringIO()
        monkeypatch.setattr(
            waiting,
            "err",
            lambda: Console(file=screen, force_terminal=terminal, width=80),  # noqa: B023
        )
        monkeypatch.setattr(waiting, "PATIENCE", 0.0)
        monkeypatch.setattr(compiled, "_tell", [])
        monkeypatch.setattr(compiled, "compiled_before", lambda function: False)
        waiting._say_compiling.cache_clear()
        monkeypatch.setenv("TERM", "xterm")
        with waiting.waiting() as progress:
            progress(0.5, "thinking")
            for _ in range(2):  # said once, and only where something is compiled
                compiled.njit(lambda x: x).made()
            for _ in range(6000 if terminal else 1):  # the bar starts in its own thread
                if "50%" in screen.getvalue():
                    break
                time.sleep(0.01)
        shown = screen.getvalue()
        assert shown.count("First run of this kind") == terminal
        assert ("thinking" in shown and "50%" in shown) == terminal


def test_lines_for_true(data, capsys: pytest.CaptureFixture[str]) -> None:
    tr.grade(data.predictions, data.labels, progress=True)
    said = capsys.readouterr()
    assert "looking for the consensus" in said.err
    assert said.out == ""


def test_stretches_leave_the_chains_where_they_were(data, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains cut into stretches have the same distribution as whole ones: their means differ by
    Monte Carlo error only."""
    entries, nobody = Entries.of(data.labels), np.full(300, -1)
    predicted = np.array([data.labels.classes.index(c) for c in data.predictions])
    evidence = table_log_likelihood(data.labels, np.full((4, 2, 2), 0.2) + 0.6 * np.eye(2))
    found = {}
    for name, at_once in (("whole", 10**12), ("cut", 30_000)):
        monkeypatch.setattr(words, "AT_ONCE", at_once)
        crowd = sample_crowd(
            entries,
            predicted,
            2,
            nobody,
            RowModel.learned(4, 2),
            prior=None,
            row_weight=1.0,
            n_draws=4000,
            burn=200,
            seed=1,
        )
        known = sample_known(
            evidence,
            predicted,
            np.ones(300),
            n_outcomes=2,
            row_prior=np.ones((2, 2)),
            prior=None,
            n_draws=4000,
            seed=1,
        )
        found[name] = [np.trace(s.counts, axis1=1, axis2=2) for s in (crowd, known)]
    for whole, cut in zip(found["whole"], found["cut"]):
        assert not np.array_equal(whole, cut)
        assert split_rhat(np.concatenate([whole, cut]), 8) < 1.02
        assert whole.std() == pytest.approx(cut.std(), rel=0.15)
