"""What a panel is made of, people or language models, as far as its labelers' names tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from truthing.errors import InputError, did_you_mean

PANELS = ("people", "models", "mixed")
MOST = 0.8  # of the names must look alike before anything is said about the panel

# words that name a language model wherever they stand in a name
_SURE = re.compile(
    "gpt|llama(?!z)|mistral|mixtral|ministral|pixtral|codestral|devstral|magistral|mathstral|qwen|qwq|deepseek|deepscaler|vicuna|"
    "flan-?t5|wizardlm|internlm|chatglm|baichuan|nemotron|openthinker|stablelm|smollm|exaone|"
    "moonshot|hunyuan|doubao|palmyra|dbrx|text-bison|mercury-coder|nousresearch|openhermes|openchat|openorca|pandalm|anthropic|openai|cohere|language.?model",
    re.IGNORECASE,
)
# words that may be a person's too: they need a version, a size or a model's adjective beside them
_STEMS = (
    "claude|opus|sonnet|haiku|gemini|gemma|palm|bard|alpaca|tulu|olmo|yi|phi|falcon|t5|ul2|bart|"
    "bert|roberta|deberta|command|aya|grok|nova|titan|jamba|jurassic|dbrx|granite|hermes|orca|"
    "solar|zephyr|glm|ernie|kimi|minimax|pythia|bloom|opt|athene|prometheus|reka|starling|mpt|"
    "dolly|dolphin|koala|marco|sailor|notus|davinci|curie|babbage|ada|lm|llm"
)
_MODEL = re.compile(rf"(?:^|[^a-z])(?:{_STEMS})(?![a-z])", re.IGNORECASE)
_VERSION = re.compile(
    r"\d|(?:^|[^a-z])(?:small|base|large|xl|xxl|mini|nano|turbo|pro|flash|beta|chat|instruct|"
    r"plus|expanse|reasoner|latest)(?![a-z])",
    re.IGNORECASE,
)
_SIZE = re.compile(r"(?<![a-z0-9])\d{1,3}(?:\.\d+)?b(?![a-z])", re.IGNORECASE)
_REASONER = re.compile(r"^o[1-9](?:-|$)", re.IGNORECASE)
_WORKER = re.compile(r"^(?:A[0-9A-Z]{11,14}|w(?:orker)?[_-]?\d+)$")
_MAIL = re.compile(r"^[^@\s]+@[^@\s]+\.[^@\s]+$")
_ROLE = re.compile(
    r"(?:^|[^a-z])(?:worker|annotator|annot|rater|reader|radiologist|pathologist|physician|doctor|"
    r"resident|consultant|nurse|(?<![a-z]-)coder|expert|turker|reviewer|assessor|participant|student|person)"
    r"(?![a-z]*model)",
    re.IGNORECASE,
)


def is_model_name(name: Any) -> bool:
    """Does this name a language model: a maker's or model's stem with a version or size?

    >>> [is_model_name(n) for n in ("gpt-4o-mini", "Llama-3.1-8B", "worker 7", "Claudia", "anna")]
    [True, True, False, False, False]
    """
    text = str(name)
    if _MAIL.match(text) or _WORKER.match(text):
        return False
    if any(pattern.search(text) for pattern in (_SURE, _SIZE, _REASONER)):
        return True
    return bool(_MODEL.search(text) and _VERSION.search(text))


def is_person_name(name: Any) -> bool:
    """Is there positive evidence of a person: a worker id, an e-mail address, a role?

    >>> [is_person_name(n) for n in ("A2JY8N1D6V4LQG", "kim@example.org", "reader 3", "kim",
    ...     "gpt-4")]
    [True, True, True, False, False]
    """
    text = str(name)
    if is_model_name(text):
        return False
    return bool(_WORKER.match(text) or _MAIL.match(text) or _ROLE.search(text))


def guess_panel(labelers: Sequence[Any]) -> str | None:
    """ "models" or "people" where at least 80% of the names say so, else None: not known."""
    if not labelers:
        return None
    for kind, test in (("models", is_model_name), ("people", is_person_name)):
        if _mostly(test, labelers):
            return kind
    return None


def _mostly(test: Callable[[Any], bool], names: Sequence[Any]) -> bool:
    """Does the test hold for `MOST` of the names? Stops once it cannot: names may be a million."""
    left = len(names)
    for name in names:
        left -= not test(name)
        if left < MOST * len(names):
            return False
    return True


def panel_of(panel: str | None, labelers: Sequence[Any], notes: list[str]) -> str | None:
    """The kind of panel as the user says, or as the names say; what was taken is noted."""
    if panel is not None:
        if panel not in PANELS:
            hint = did_you_mean(str(panel), PANELS)
            raise InputError(f"panel {panel!r} is not known.{hint} Choose people, models or mixed.")
        return panel
    found = guess_panel(labelers)
    if found is not None:
        words = {"models": "language models", "people": "people"}[found]
        notes.append(f"The labelers' names look like {words}; `panel=` says otherwise.")
    return found
