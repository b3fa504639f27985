"""Write what the FAQ says about speed, its picture and its sentence, from the results of `bench/run.py --save`.

.venv/bin/python bench/chart.py
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench/results/run.json"
PICTURE = ROOT / "docs/assets/speed.svg"
PAGE = ROOT / "docs/faq.md"
START, END = "<!-- speed: written by bench/chart.py -->\n", "<!-- end of speed -->"
NAMES = {"skillpm": "skillpm", "skills-lock": "skills-lock", "skills": "skills", "floor": "least possible"}
COLORS = {"skillpm": "#2563eb", "skills-lock": "#10b981", "skills": "#f59e0b", "floor": "#9ca3af"}
# Of the picture, in pixels.
LEFT, WIDTH, LINE, GAP = 220, 420, 18, 14
STYLE = (
    "text { font: 13px system-ui, sans-serif; fill: #1f2328 } .scenario { font-weight: 600; text-anchor: end }"
    " @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }"
)
Row = dict[str, Any]


def draw(rows: Sequence[Row]) -> str:
    """Return a picture of the rows as SVG: a group of bars for each scenario, on a scale of its own."""
    parts: list[str] = []
    top = GAP
    for row in rows:
        times: dict[str, float] = row["milliseconds"]
        shown = [name for name in NAMES if name in times]
        longest = max(times.values())
        middle = top + LINE * len(shown) / 2 + 4
        parts.append(f'<text class="scenario" x="{LEFT - 12}" y="{middle:.0f}">{row["scenario"]}</text>')
        for name in shown:
            long = max(times[name] / longest * WIDTH, 1)
            parts.append(f'<rect x="{LEFT}" y="{top}" width="{long:.1f}" height="{LINE - 4}" fill="{COLORS[name]}"/>')
            label = f"{NAMES[name]} {seconds(times[name])}"
            parts.append(f'<text x="{LEFT + long + 6:.1f}" y="{top + LINE - 7}">{label}</text>')
            top += LINE
        top += GAP
    size = f'width="{LEFT + WIDTH + 160}" height="{top}" viewBox="0 0 {LEFT + WIDTH + 160} {top}"'
    body = "\n".join(parts)
    return f'<svg {size} xmlns="http://www.w3.org/2000/svg">\n<style>{STYLE}</style>\n{body}\n</svg>\n'


def describe(results: Row) -> str:
    """Return the lines of the FAQ: its picture, and what is below."""
    rows = {row["scenario"]: row["milliseconds"] for row in results["rows"]}
    alternative = "; ".join(
        f"{scenario}: {', '.join(f'{NAMES[name]} {seconds(times[name])}' for name in NAMES if name in times)}"
        for scenario, times in rows.items()
    )
    return f"""\
![{alternative}](assets/speed.svg)

Medians of {results["runs"]} runs in turns, {results["date"]}, {results["machine"]}; {results["setting"]}
The least possible is what git, a plain copy or a bare start of Python take.
"""


def seconds(milliseconds: float) -> str:
    """Return a time in seconds, with its unit."""
    return f"{milliseconds / 1000:.2f} s"


def fill(page: str, results: Row) -> str:
    """Return the FAQ with these results."""
    before, _, rest = page.partition(START)
    return f"{before}{START}\n{describe(results)}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    """Write the picture and the lines."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    PICTURE.write_text(draw(results["rows"]), encoding="utf-8")
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")


if __name__ == "__main__":
    main()
