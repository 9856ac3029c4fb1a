"""--require: a result as a gate for machines; 0 met, 3 missed, 4 undecided, 2 not understood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from xml.etree import ElementTree as Xml

import typer

from truthing.errors import InputError

if TYPE_CHECKING:
    from truthing.requirements import Judged, Requirement, Verdict

MISSED, UNDECIDED = 3, 4
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        help="What must hold, as in --help above; repeat for more. Ends with 0 met, 3 missed, 4 "
        "undecided.",
    ),
]
Probability = Annotated[
    float,
    typer.Option("--with-probability", help="How sure --require must be."),
]
Undecided = Annotated[
    str | None,
    typer.Option(
        "--undecided",
        metavar="pass|fail",
        help="End an undecided --require with 0 or 3 instead of 4.",
    ),
]
Junit = Annotated[
    str | None,
    typer.Option("--junit", metavar="FILE", help="Write the requirements as JUnit XML."),
]


@dataclass(frozen=True)
class Gate:
    """What is required of a result, and how that ends."""

    require: Require = None
    with_probability: Probability = 0.95
    undecided: Undecided = None
    junit: Junit = None

    def asked(self, kind: str) -> list[Requirement]:
        """The requirements, understood before anything is read."""
        from truthing.requirements import check_probability, parse

        with usage():
            check_probability(self.with_probability)
            found = [parse(text, kind) for text in self.require or ()]
        if self.undecided not in (None, "pass", "fail"):
            raise typer.BadParameter(
                f"{self.undecided!r}: choose pass or fail.", param_hint="--undecided"
            )
        if self.junit is not None and not found:
            raise typer.BadParameter(
                "there is nothing to report without --require.", param_hint="--junit"
            )
        return found

    def judge(self, result: Judged, asked: Sequence[Requirement]) -> list[Verdict]:
        with usage():
            return [result.require(each, self.with_probability) for each in asked]

    def end(self, verdicts: Sequence[Verdict], kind: str) -> None:
        """Write the file for build servers, and leave with the code that the verdicts ask for."""
        if self.junit is not None:
            write_junit(self.junit, verdicts, kind, fail_undecided=self.undecided == "fail")
        code = 0
        if any(verdict.outcome == "missed" for verdict in verdicts):
            code = MISSED
        elif any(verdict.outcome == "undecided" for verdict in verdicts):
            code = {None: UNDECIDED, "pass": 0, "fail": MISSED}[self.undecided]
        if code:
            raise typer.Exit(code)


OPEN = Gate()


class usage:  # noqa: N801  (reads as a word: with usage())
    """What is wrong with a requirement is wrong with the command line: exit code 2."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, problem: BaseException | None, __: object) -> None:
        if isinstance(problem, InputError):
            raise typer.BadParameter(str(problem), param_hint="--require") from None


def write_junit(
    path: str, verdicts: Sequence[Verdict], kind: str, *, fail_undecided: bool = False
) -> None:
    """One test case for each requirement: passed, failure, or skipped with the reason."""
    from truthing.tables.write import write_bytes

    failed = {"missed"} | ({"undecided"} if fail_undecided else set())
    outcomes = [verdict.outcome for verdict in verdicts]
    failures = sum(outcome in failed for outcome in outcomes)
    skipped = outcomes.count("undecided") if not fail_undecided else 0
    suite = Xml.Element(
        "testsuite",
        name=f"truthing {kind}",
        tests=str(len(verdicts)),
        failures=str(failures),
        errors="0",
        skipped=str(skipped),
    )
    for verdict in verdicts:
        case = Xml.SubElement(
            suite,
            "testcase",
            classname=f"truthing.{kind}",
            name=_xml_text(verdict.requirement.text),
        )
        if verdict.outcome in failed:
            Xml.SubElement(case, "failure", message=_xml_text(verdict.sentence))
        elif verdict.outcome == "undecided":
            Xml.SubElement(case, "skipped", message=_xml_text(verdict.sentence))
    everything = Xml.Element("testsuites")
    everything.append(suite)
    write_bytes(Path(path), Xml.tostring(everything, encoding="utf-8", xml_declaration=True))


def _xml_text(text: str) -> str:
    """XML knows no control codes."""
    from truthing.render.console import safe

    return safe(text, 2000).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
