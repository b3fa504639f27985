"""A coverage-guided fuzzer on everything that reads a SKILL.md: ten minutes must find nothing.

    .venv/bin/pip install -e '.[bench]'
    .venv/bin/python bench/fuzz.py [--seconds 600] [--corpus FOLDER] [--pure]

First the files that were made to take long (tests/skillmd/slow_inputs.py) are read once each; then atheris
(libFuzzer) goes on from the bundled skills, from those and from what it keeps in FOLDER. An exception, a repair that
changes what is read, one input over a second or 200 MB of memory ends it with a report. With `--pure` the YAML parser
is the one in Python, as where libyaml is absent: slower, but atheris sees into it.
"""

import argparse
import contextlib
import multiprocessing
import re
import resource
import sys
import tempfile
import time
from pathlib import Path

import atheris

ROOT = Path(__file__).parent.parent
PURE = "--pure" in sys.argv
with atheris.instrument_imports(include=["skillpm", "tomllib", "shlex", "json", *(["yaml"] if PURE else [])]):
    import yaml

    if PURE:
        vars(yaml)["__with_libyaml__"] = False
    from skillpm.skillmd.autofix import PRESERVED_FIELDS, fix
    from skillpm.skillmd.findings import NotLoadable
    from skillpm.skillmd.head import extract_frontmatter, read_head
    from skillpm.skillmd.skill import read_skill
    from skillpm.skillmd.validation import validate_skill

sys.path.insert(0, str(ROOT / "tests"))
from skillmd.slow_inputs import slow_inputs  # noqa: E402  (from the tests beside us)

LARGEST_SEED = 300
MIDDLE_SEED = 1_200
FOR_ALL = 1_000  # larger ones are only read: mending reads a file a dozen times, and watched code is slow
MEMORY = 200
DICTIONARY = """\
"---\\x0a" "+++\\x0a" "---toml\\x0a" "name: " "description: " "metadata:\\x0a  " "requires: " "triggers: " "mcp-a: "
"allowed-tools: " "mcp:\\x0a" "[mcp.a]\\x0a" ": |\\x0a" ": >-\\x0a" "&a " "*a" "!!" "<<: " "? " "- " "{\\"openclaw\\":"
"\\xef\\xbb\\xbf" "\\x0d\\x0a" "\\xe2\\x80\\xa8" "\\xc2\\x85" "<<<<<<< " "%YAML 1.1\\x0a" "...\\x0a"
"](" "!`" "@" "''" "\\\\"
"""
SEEDS = (
    "---\nname: x\ndescription: a: b\nversion: 1.0\ntags: [a, b]\n---\nbody\n",
    '---\nname: x\nmetadata:\n  openclaw: \'{"requires": {"bins": ["a"]}}\'\n---\n',
    "---\nrequires: git, a (b, c)\nallowed-tools: Bash(a b) Read\nmcp-a: run 'x y'\n---\n",
    "---\ntriggers:\n- pattern: a|b\nmcp: {a: {command: x, args: [y]}}\n---\n[a](b.md) @c !`d`\n",
    "\ufeff\r\n---\r\nname: 'open\r\n  # c\r\nname: y\r\n<<<<<<< x\r\n---\r\n",
    '+++\nname = "x"\n[mcp.a]\ncommand = "b"\nargs = ["c"]\n+++\n',
    "---\na: |+\n  b\n\n  c\nd: >-\n  e\n---",
)


def one(data: bytes) -> None:
    """Read, validate_skill and mend one file; whatever may be asked of all files is asked here."""
    start = time.process_time()
    try:
        skill = read_skill(data)
    except NotLoadable:
        skill = None
    assert PURE or time.process_time() - start < 1, "reading took a second"
    if len(data) > FOR_ALL:
        return
    verdict = validate_skill(data, "x", ["SKILL.md", "a/b.md"])
    fixed = fix(data, "x")
    assert verdict.loadable == (skill is not None)
    assert fix(fixed.data, "x").fixes == (), "mending twice is not mending once"
    assert (fixed.data == data) == (not fixed.fixes), "a repair without a name"
    if skill is not None:
        after = read_skill(fixed.data)
        assert all(getattr(skill, field) == getattr(after, field) for field in PRESERVED_FIELDS), (
            "a repair changed what is read"
        )
        front = extract_frontmatter(data)
        assert front is None or read_head(front).description == skill.description, "discovery reads something else"


def directed(seeds: Path) -> None:
    """Time the files that were made to take long, and leave their beginnings as seeds."""
    times = []
    for name, data in slow_inputs().items():
        start = time.process_time()
        with contextlib.suppress(NotLoadable):
            read_skill(data[:LARGEST_SEED] if PURE else data)
        times.append((time.process_time() - start, name))
        (seeds / f"slow-{len(times)}").write_bytes(data[:LARGEST_SEED] + b"\n---\n")
    seconds, name = max(times)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{len(times)} files made to take long: at most {seconds:.2f} s, for {name}; all of them in {memory} MB")


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--corpus", default="", help="a folder to go on from, and to keep what is new in")
    parser.add_argument("--pure", action="store_true", help="the YAML parser in Python")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        corpus, seeds = Path(wanted.corpus or f"{scratch}/corpus"), Path(scratch, "seeds")
        corpus.mkdir(parents=True, exist_ok=True)
        seeds.mkdir()
        if PURE:
            print("the YAML parser in Python: times mean nothing")
        child = multiprocessing.Process(target=directed, args=(seeds,))  # its memory goes with it
        child.start()
        child.join()
        for path in (ROOT / "bundled").glob("*/SKILL.md"):
            (seeds / path.parent.name).write_bytes(path.read_bytes()[:MIDDLE_SEED])
        for number, text in enumerate(SEEDS):
            (seeds / f"small-{number}").write_text(text)
        words = Path(scratch, "words")
        words.write_text("\n".join(re.findall(r'"(?:[^"\\]|\\.)*"', DICTIONARY)) + "\n")
        print(f"memory before: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB", flush=True)
        limits = [f"-max_total_time={wanted.seconds}", "-timeout=20", f"-rss_limit_mb={MEMORY}", "-max_len=4096"]
        rest = [f"-dict={words}", "-print_final_stats=1", "-verbosity=0", str(corpus), str(seeds)]
        atheris.Setup([sys.argv[0], *limits, *rest], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
