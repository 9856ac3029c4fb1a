"""What a panel is made of, told from names that are in none of our data sets."""

from __future__ import annotations

import pytest

import truthing as tr
from truthing.panel_kind import guess_panel, is_model_name, is_person_name, panel_of

MODELS = (
    "gpt-6-mini", "claude-opus-7", "Gemini 4 Flash", "llama-5-70b-instruct", "mistral-huge-2611", "Qwen4-32B",
    "deepseek-v5", "o5-mini", "nova-2-pro", "phi-6", "grok-7", "command-x-plus", "some-new-model-13b",
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
