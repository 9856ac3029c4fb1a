"""Pages of the commands from their --help, so that they cannot drift: `make docs` writes them, a
test compares.
"""

from __future__ import annotations

from pathlib import Path

import typer.main

from truthing.cli.main import app

FOLDER = Path(__file__).parent / "commands"


def pages() -> dict[str, str]:
    """Markdown for each command, named by it."""
    group = typer.main.get_command(app)
    found = {}
    for name in sorted(group.commands):  # type: ignore[attr-defined]
        command = group.commands[name]  # type: ignore[attr-defined]
        with command.make_context(f"truthing {name}", [], resilient_parsing=True) as context:
            context.max_content_width = 110
            context.terminal_width = 110
            found[name] = f"# truthing {name}\n\n```\n{command.get_help(context).rstrip()}\n```\n"
    return found


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.md"):
        old.unlink()
    for name, page in pages().items():
        (FOLDER / f"{name}.md").write_text(page)


if __name__ == "__main__":
    main()
