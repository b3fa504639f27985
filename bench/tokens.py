"""How far the estimate of tokens is from real tokenizers, over every SKILL.md of some git repositories.

    npm install --prefix FOLDER gpt-tokenizer @anthropic-ai/tokenizer
    .venv/bin/python bench/tokens.py FOLDER REPOSITORY...

Both packages bring their vocabularies along. Prints for bodies and descriptions of 20 tokens and more the median error
of the estimate, the 95th percentile, and which way it leans; and the same for four bytes a token, which is what most
tools reckon with.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from corpus import blobs

from skillpm.core.text import estimate_tokens
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill

COUNT = """
const { createRequire } = require('module');
const here = createRequire(process.argv[1] + '/');
const gpt = here('gpt-tokenizer/encoding/o200k_base');
const claude = here('@anthropic-ai/tokenizer').getTokenizer();
const none = { disallowedSpecial: new Set() };
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const text = JSON.parse(line);
  console.log(JSON.stringify([gpt.encode(text, none).length, claude.encode(text.normalize('NFKC'), 'all').length]));
});
"""
FEWEST = 20
LONGEST = 200_000


def texts(repositories: Sequence[str]) -> dict[str, list[str]]:
    """Give the bodies and descriptions of every skill that loads, each file once."""
    found: dict[str, list[str]] = {"bodies": [], "descriptions": []}
    for data in {data for repository in repositories for _, data in blobs(repository)}:
        try:
            skill = read_skill(data)
        except NotLoadable:
            continue
        found["bodies"].append(skill.body[:LONGEST])
        found["descriptions"].append(skill.description)
    return found


def counted(folder: str, these: Sequence[str]) -> list[tuple[int, int]]:
    """Give what the two tokenizers count."""
    lines = "".join(json.dumps(text) + "\n" for text in these)
    words = ["node", "--max-old-space-size=3000", "-e", COUNT, str(Path(folder).resolve())]
    output = subprocess.run(words, input=lines, check=True, capture_output=True, text=True).stdout
    return [tuple(json.loads(line)) for line in output.splitlines()]


def tell(what: str, estimates: Sequence[int], real: Sequence[int]) -> None:
    """Print how far estimates are from what was counted."""
    errors = sorted((guess - true) / true for guess, true in zip(estimates, real, strict=True) if true >= FEWEST)
    sizes = sorted(map(abs, errors))
    late = sizes[int(0.95 * len(sizes))]
    print(
        f"{what:44} {len(sizes):6} texts  median {statistics.median(sizes):5.1%}  95th {late:5.1%}  "
        f"leans {statistics.median(errors):+5.1%}"
    )


def main() -> None:
    """Measure."""
    folder, *repositories = sys.argv[1:]
    for kind, these in texts(repositories).items():
        counts = counted(folder, these)
        for column, tokenizer in enumerate(("o200k_base (GPT)", "Claude (2023)")):
            real = [row[column] for row in counts]
            tell(f"{kind}, {tokenizer}: estimate", [estimate_tokens(text) for text in these], real)
            tell(f"{kind}, {tokenizer}: four bytes", [(len(text.encode()) + 3) // 4 for text in these], real)


if __name__ == "__main__":
    main()
