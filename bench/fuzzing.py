"""A coverage-guided fuzzer on the readers of all documents that a checkout or a server may bring.

    .venv/bin/pip install -e '.[bench]'
    .venv/bin/python bench/fuzzing.py [--seconds 600] [--corpus FOLDER]

Receipt, journal, stat cache, registry, manifest, lockfile, and the documents of indexes: atheris (libFuzzer) goes on
from documents of a real project and from those of docs/formats.md. Only documented errors may leave a reader. Any other
exception, a file that is opened for writing, an input over 20 seconds or 300 MB of memory ends it with a report.
"""

import argparse
import atexit
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import atheris

ROOT = Path(__file__).parent.parent
MEMORY = 300
with atheris.instrument_imports(include=["skillpm", "json"]):
    from skillpm.core.json_text.decoder import parse_json
    from skillpm.errors import SkillpmError
    from skillpm.formats.index_catalog import read_catalog
    from skillpm.formats.index_releases import read_releases
    from skillpm.formats.legacy_metadata import read_legacy_metadata
    from skillpm.formats.legacy_registry import read_legacy_registry
    from skillpm.formats.lockfile import read_lockfile, write_lockfile
    from skillpm.formats.manifest import read_manifest
    from skillpm.formats.receipt import read_receipt, write_receipt
    from skillpm.formats.registry import read_registry
    from skillpm.formats.searched_catalog import read_searched_catalog
    from skillpm.formats.well_known import read_site
    from skillpm.installer.disk.journal import add_hash, read_binding, read_journal
    from skillpm.installer.disk.layout import Layout
    from skillpm.installer.disk.stat_cache import read_stat_cache
    from skillpm.registry.foreign_registry import read_foreign_registry

SCRATCH = tempfile.TemporaryDirectory()
LAYOUT = Layout(directory=SCRATCH.name)
Path(LAYOUT.staged_document_path("receipt")).parent.mkdir(parents=True)
EXECUTIONS: Counter[str] = Counter()
# The reader that runs now, if any.
WATCHED: list[str] = []


def read_receipt_twice(text: str) -> None:
    """Read a receipt; what is written of it is read as the same."""
    receipt = read_receipt(text, "receipt.json").replace(disbelieved=())
    again = read_receipt(write_receipt(receipt), "receipt.json")
    assert again.skills == receipt.skills, "a receipt that is read differently after it was written"


def read_lockfile_twice(text: str) -> None:
    """Read a lockfile; what is written of it is read as the same."""
    lockfile = read_lockfile(text, "skills.lock")
    assert read_lockfile(write_lockfile(lockfile), "skills.lock") == lockfile, "a lockfile that changes when written"


def read_bound_journal(text: str) -> None:
    """Read a journal with the right binding and checksum, so that its content is reached."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        text = json.dumps(add_hash({**value, "binding": read_binding(LAYOUT)}))
    Path(LAYOUT.journal).write_bytes(text.encode(errors="replace"))
    read_journal(LAYOUT)


def read_stats(text: str) -> None:
    """Read a stat cache, which is never an error."""
    Path(LAYOUT.stat_cache).write_bytes(text.encode(errors="replace"))
    read_stat_cache(LAYOUT.stat_cache)


READERS: dict[str, Callable[[str], Any]] = {
    "receipt": read_receipt_twice,
    "journal": read_bound_journal,
    "stat cache": read_stats,
    "registry": lambda text: read_registry(text, "skills.json"),
    "foreign registry": read_foreign_registry,
    "legacy registry": lambda text: read_legacy_registry(text, "skills.json"),
    "backup metadata": lambda text: read_legacy_metadata(parse_json(text, "pdf-1.told")),
    "lockfile": read_lockfile_twice,
    "manifest": lambda text: read_manifest(text, "skills.json"),
    "index": lambda text: read_catalog(text, "index.json"),
    "releases": lambda text: read_releases(text, "pdf.json"),
    "site": lambda text: read_site(text, "index.json"),
    "searched catalog": lambda text: read_searched_catalog(text.encode(), "index.json", is_skillpm_index=True),
    "searched site": lambda text: read_searched_catalog(text.encode(), "index.json", is_skillpm_index=False),
}
NAMES = [*READERS]
ODD: list[Any] = [None, True, 0, -1, 2**70, 1.5, "", [], {}, [[]], {"a": {}}, ["x"], {"pdf": "x"}, {"pdf": {}}]
WORDS = ["pdf", "../x", "a/b.md", "https://example.org/x", "./x", "0" * 64, "sha256:" + "0" * 64, "0" * 40, "^1.0"]
WORDS += ["link", "bundled", "path", "git", "url", "index", "commit", "tree", "ref", "files", "dependencies", "copies"]
WORDS += ["inherited", "folders", "agents", "disabled", "indexes", "overrides", "exclude-newer", "refs/tags/v1", "\0"]


def one(data: bytes) -> None:
    """Let the reader that the first byte chooses read the rest."""
    if not data:
        return
    name = NAMES[data[0] % len(NAMES)]
    EXECUTIONS[name] += 1
    WATCHED.append(name)
    try:
        READERS[name](data[1:].decode("utf-8", "replace"))
    except SkillpmError as error:
        if error.exit_code not in {1, 2}:
            raise
    finally:
        WATCHED.clear()


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Change one value of a document, so that it stays JSON, or any bytes."""
    chance = Random(seed)  # noqa: S311  (a mutation that repeats)
    try:
        document = json.loads(data[1:])
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict | list) or not document or chance.choices([True, False], [3, 7])[0]:
        return bytes(atheris.Mutate(data, max_size))
    holder, key = choose_place(document, chance)
    way = chance.choice(["drop", "text", "rename", "value", "value"])
    if way == "drop":
        del holder[key]
    elif way == "text" and isinstance(holder[key], str):
        holder[key] = bytes(atheris.Mutate(holder[key].encode(errors="replace"), 200)).decode("utf-8", "replace")
    elif way == "rename" and isinstance(holder, dict):
        holder[chance.choice(WORDS)] = holder.pop(key)
    else:
        holder[key] = chance.choice([*ODD, *WORDS])
    reader = chance.choice([chance.randrange(len(NAMES)), *[data[0]] * 19])
    return bytes([reader]) + json.dumps(document).encode()[: max_size - 1]


def choose_place(document: Any, chance: Random) -> tuple[Any, Any]:
    """Return an object or list in a document, and a key of it; deeper ones are more likely."""
    while True:
        key = chance.choice([*document] if isinstance(document, dict) else range(len(document)))
        part = document[key]
        if not (isinstance(part, dict | list) and part and chance.choices([True, False], [8, 2])[0]):
            return document, key
        document = part


def refuse_writes(event: str, arguments: tuple[Any, ...]) -> None:
    """Stop a reader that changes a file outside the temporary folder, starts a program or connects to a server."""
    if not WATCHED:
        return
    if event == "open" and isinstance(arguments[0], str) and re.search("[wax+]", str(arguments[1] or "")):
        assert arguments[0].startswith((tempfile.gettempdir(), "/dev/")), f"wrote {arguments[0]}"
    assert event not in {"os.remove", "os.rename", "os.mkdir", "os.symlink", "subprocess.Popen", "socket.connect"}, (
        event
    )


def write_seeds(folder: Path) -> None:
    """Write the documents of a project, and those of docs/formats.md, as seeds for every reader."""
    work = folder.parent / "project"
    work.mkdir()
    (work / "skills.json").write_text('{"skills": {}, "agents": ["claude-code"]}')
    command = [sys.executable, "-m", "skillpm", "install", "testing", "code-review"]
    subprocess.run(command, cwd=work, check=True, capture_output=True)
    texts = [path.read_text() for path in work.rglob("*.json") if path.is_file()]
    texts += [(work / "skills.lock").read_text()]
    texts += re.findall(r"```json\n(.*?)```", (ROOT / "docs/formats.md").read_text(), re.DOTALL)
    journal = {
        "puts": {"pdf": [1, 2, False, ""]},
        "removals": {"docx": [3, True]},
        "documents": {"receipt": ["a", "b"]},
    }
    journal |= {"asides": {".claude/skills": ["pdf"]}, "returns": {".claude/skills": {"pdf": "pdf-1"}}}
    texts.append(json.dumps({"version": 2, **journal, "spent": ["pdf-1"], "flat": {"old": "old.md"}}))
    for number, text in enumerate(texts):
        for reader in range(len(NAMES)):
            (folder / f"{number}-{reader}").write_bytes(bytes([reader]) + text.encode())


def main() -> None:
    """Fuzz for the time that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--corpus", default="", help="a folder to go on from, and to keep what is new in")
    wanted = parser.parse_args()
    corpus, seeds = Path(wanted.corpus or f"{SCRATCH.name}/corpus"), Path(SCRATCH.name, "seeds")
    corpus.mkdir(parents=True, exist_ok=True)
    seeds.mkdir()
    write_seeds(seeds)
    limits = [f"-max_total_time={wanted.seconds}", "-timeout=20", f"-rss_limit_mb={MEMORY}", "-max_len=8192"]
    atheris.Setup(
        [sys.argv[0], *limits, "-print_final_stats=1", "-verbosity=1", str(corpus), str(seeds)],
        one,
        custom_mutator=mutate,
    )
    sys.addaudithook(refuse_writes)
    atexit.register(lambda: print(dict(EXECUTIONS)))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
