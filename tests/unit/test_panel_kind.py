"""What a panel is made of, told from names that are in none of our data sets."""

from __future__ import annotations

from importlib import resources

import pytest
from typer.testing import CliRunner

import truthing as tr
from truthing.app.fields import option
from truthing.app.jobs import JOBS
from truthing.cli.main import app
from truthing.panel_kind import guess_panel, is_model_name, is_person_name, panel_of

MODELS = (
    "gpt-6-mini", "claude-opus-7", "Gemini 4 Flash", "llama-5-70b-instruct", "mistral-huge-2611",
    "Qwen4-32B", "deepseek-v5", "o5-mini", "nova-2-pro", "phi-6", "grok-7", "command-x-plus",
    "some-new-model-13b",
)  # fmt: skip
PEOPLE = ("A1B2C3D4E5F6G7", "mary@example.com", "worker-19", "w042", "Reader 2", "annotator_b")
NEITHER = ("anna", "17", "r3", "judge_a", "Philip 2", "Claude", "Opal", "rule: has_link", "user9")


@pytest.mark.parametrize("name", MODELS)
def test_names_of_models(name: str) -> None:
    assert is_model_name(name)
    assert not is_person_name(name)


@pytest.mark.parametrize("name", PEOPLE)
def test_names_of_people(name: str) -> None:
    assert is_person_name(name)
    assert not is_model_name(name)


@pytest.mark.parametrize("name", NEITHER)
def test_names_that_tell_nothing(name: str) -> None:
    assert not is_person_name(name)
    assert not is_model_name(name)


def test_four_fifths_of_the_names_decide() -> None:
    assert guess_panel([*MODELS[:4], "anna"]) == "models"
    assert guess_panel([*MODELS[:3], "anna"]) is None
    assert guess_panel([*PEOPLE[:4], "r3"]) == "people"
    assert guess_panel([]) is None
    assert guess_panel(NEITHER) is None


def test_the_users_word_counts_and_is_checked() -> None:
    notes: list[str] = []
    assert panel_of("people", MODELS, notes) == "people"
    assert notes == []
    assert panel_of(None, MODELS, notes) == "models"
    assert "language models" in notes[0]
    with pytest.raises(tr.InputError, match="panel 'model' is not known"):
        panel_of("model", MODELS, notes)


SPAM = resources.files("truthing") / "examples" / "spam"
LABELS, PREDICTIONS = str(SPAM / "labels.csv"), str(SPAM / "predictions.csv")
COMMANDS = {
    "grade": [PREDICTIONS, LABELS],
    "compare": [LABELS, f"a={PREDICTIONS}", f"b={PREDICTIONS}"],
    "rate": [LABELS],
    "labelers": [LABELS],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_and_forms_ask_for_the_panel(command: str) -> None:
    done = CliRunner().invoke(app, [command, *COMMANDS[command], "--panel", "peple"])
    assert "Did you mean 'people'" in str(done.exception)
    field = next(field for field in JOBS[command].fields if field.name == "panel")
    assert option("panel", field.value({"panel": "models"})) == ["--panel", "models"]
    assert field.value({"panel": ""}) is None


def test_models_that_learned_from_the_labels_are_named() -> None:
    line = ["compare", *COMMANDS["compare"], "--trained-on-labels", "c"]
    assert "'c'" in str(CliRunner().invoke(app, line).exception)
