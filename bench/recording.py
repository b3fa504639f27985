"""Make the picture of a terminal session for the README, docs/assets/session.svg, from what the commands really print.

    .venv/bin/python bench/recording.py

The session is typed into a shell on the machine of `tests/pages`: no network, no path of this machine.
"""

import io
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kit import GitServer
from pages.reading import Step
from pages.world import UserMachine, build_forge

ROOT = Path(__file__).parents[1]
SESSION = (
    "skillpm install anthropics/skills@pdf 'acme/skills#v1.0.0@deploy'",
    "skillpm sync --frozen",
    "echo 'Always ask before production.' >> .agent-skills/deploy/SKILL.md",
    "skillpm sync",
    "skillpm sync --force",
    "skillpm verify",
)
WIDTH = 96
# rich's own format names a web font on another host; this one asks for the reader's.
SVG = """\
<svg class="rich-terminal" width="{width}" height="{height}" viewBox="0 0 {width} {height}"
  xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font: 16px system-ui, sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""
STYLES = (
    (re.compile(r"^error:"), "bold red"),
    (re.compile(r"^warning:"), "bold yellow"),
    (re.compile(r"^ +(?:hint|try|next):"), "cyan"),
    (re.compile(r"^ [+] "), "green"),
    (re.compile(r"^ ~ "), "yellow"),
)


def run_session() -> list[str]:
    """Run every command of the session and return what each printed."""
    with tempfile.TemporaryDirectory() as folder, GitServer() as server:
        build_forge(server, Path(folder) / "forge")
        machine = UserMachine(Path(folder) / "machine", server, Path(folder) / "forge")
        setup = Step(line=0, command="mkdir -p ~/.claude && skillpm init -q", shown=None)
        steps = [Step(line=0, command=command, shown=None) for command in SESSION]
        return [text for _, text in machine.run_steps([setup, *steps])[1:]]


def main() -> None:
    """Write the picture."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    for command, printed in zip(SESSION, run_session(), strict=True):
        console.print(Text("$ ", style="dim").append(command, style="bold not dim"), soft_wrap=False)
        for line in printed.splitlines():
            style = next((style for pattern, style in STYLES if pattern.match(line)), "")
            console.print(Text(line, style=style), soft_wrap=False)
    target = ROOT / "docs" / "assets" / "session.svg"
    target.parent.mkdir(exist_ok=True)
    target.write_text(console.export_svg(title="skillpm", code_format=SVG, unique_id="session"), encoding="utf-8")
    print(f"wrote {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
