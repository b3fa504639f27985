"""What `install`, `sync`, `update` and `outdated` cost with indexes of 10, 1,000 and 100,000 skills: it shall be flat.

    python bench/scaling.py [--sizes 10 1000 100000] [-n 3]

For each size a static index is written to a folder (the ten skills that are installed are real, the others share the
archives of one of them) and served on this machine by a server that counts requests and the bytes of bodies. Then, in
whole processes, with ten skills: the first install, `sync` from the lockfile with an empty cache, `sync` with nothing
to do, `update` when nothing is known of the index, `update` and `outdated` with nothing new, a name that the index
lacks, and `update` with one new version. Times are medians. Ends with 1 where the requests or bytes of two sizes
differ, or a large index takes the processor more than a quarter longer than the small one.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from skillpm.core.names import SkillName
from skillpm.formats.index_catalog import Catalog, CatalogSkill, write_catalog

INSTALLED = 10
CHANGED = 3
TOLERATED = 1.25
BODY = "# A skill\n\n" + "Do it with care, look at what came of it, and say so.\n" * 60
Cost = tuple[int, int, float, float]  # requests, bytes, seconds, seconds of the processor


def name_of(number: int) -> SkillName:
    return SkillName(f"skill-{number:06}")


def build(root: Path) -> None:
    """Build two indexes of the ten real skills, `old` of three versions each and `new` with one version more."""
    for version in ("1.0.0", "1.1.0", "1.2.0", "1.3.0"):
        if version == "1.3.0":
            shutil.copytree(root / "old", root / "new")
        for number in range(INSTALLED) if version != "1.3.0" else [CHANGED]:
            head = f"---\nname: {name_of(number)}\ndescription: Does the thing of number {number:06}.\n"
            text = f'{head}metadata:\n  version: "{version}"\n---\n{BODY}Version {version}.\n'
            put(root / f"drafts/{name_of(number)}/SKILL.md", text.encode())
        out = root / ("new" if version == "1.3.0" else "old")
        command = [sys.executable, "-m", "skillpm", "index", "build", "drafts", "--out", str(out), "--name", "bench"]
        subprocess.run(command, cwd=root, check=True, capture_output=True)


def write_index(root: Path, folder: Path, size: int) -> None:
    """Write an index of so many skills, each in three versions; but for the ten they share the archives of one."""
    shutil.copytree(root / "old", folder)
    like = (root / f"old/skills/{name_of(0)}.json").read_text()
    for number in range(INSTALLED, size):
        text = like.replace(f'"name": "{name_of(0)}"', f'"name": "{name_of(number)}"')
        (folder / f"skills/{name_of(number)}.json").write_text(text)
    output = "Does a thing that nobody has done before, in the way that everybody would, and says what came of it. " * 2
    skills = [
        CatalogSkill(name=name_of(number), description=output, category="bench", tags=("one", "two"), latest="1.2.0")
        for number in range(size)
    ]
    put(folder / "index.json", write_catalog(Catalog(name="bench", skills=tuple(skills))).encode())


def release(root: Path, which: str, folder: Path) -> None:
    """Put one skill into an index as it is in the old one, or with its newest version."""
    for path in (f"skills/{name_of(CHANGED)}.json", f"archives/{name_of(CHANGED)}-1.3.0.tar.gz"):
        if (root / which / path).exists():
            put(folder / path, (root / which / path).read_bytes())


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


class Server(ThreadingHTTPServer):
    """Serves a folder with ETags, as any static web server, and counts."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: list[tuple[str, str, int, int]] = []
        super().__init__(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        file = self.server.folder / self.path.lstrip("/")
        status, etag, body = 404, "", b""
        if file.is_file():
            state = file.stat()
            etag = f'"{state.st_mtime_ns:x}-{state.st_size:x}"'
            status = 304 if self.headers.get("If-None-Match") == etag else 200
            body = file.read_bytes() if (status, self.command) == (200, "GET") else b""
        self.send_response(status)
        if etag:
            self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.server.answers.append((self.command, self.path, status, len(body)))

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None: ...


class Machine:
    """A project with one index, on a machine of its own."""

    def __init__(self, root: Path, server: Server) -> None:
        self.root = root
        self.server = server
        shutil.rmtree(root, ignore_errors=True)
        (root / "work").mkdir(parents=True)
        manifest = {"skills": {}, "indexes": [{"name": "bench", "url": server.address}]}
        (root / "work/skills.json").write_text(json.dumps(manifest))

    def run(self, *words: str, code: int = 0) -> Cost:
        """Run a command; give what it cost."""
        self.server.answers.clear()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "SKILLPM_CACHE_DIR": str(self.root / "cache"),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        start, before = time.perf_counter(), _processor()
        done = subprocess.run(
            [sys.executable, "-m", "skillpm", *words],
            env=environment, cwd=self.root / "work", capture_output=True, text=True, check=False,
        )  # fmt: skip
        seconds, cpu = time.perf_counter() - start, _processor() - before
        if done.returncode != code:
            raise SystemExit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        answers = self.server.answers
        return len(answers), sum(answer[3] for answer in answers), seconds, cpu

    def forget(self) -> None:
        """Lose what is installed, and the cache."""
        shutil.rmtree(self.root / "work/.agent-skills")
        shutil.rmtree(self.root / "cache")


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def costs(root: Path, size: int) -> dict[str, Cost]:
    """Give what each command costs with an index of so many skills."""
    folder = root / f"index-{size}"
    if not folder.exists():
        write_index(root, folder, size)
    release(root, "old", folder)
    server = Server(folder)
    machine = Machine(root / "machine", server)
    names = [f"{name_of(number)}@^1" for number in range(INSTALLED)]
    found = {"install, first": machine.run("install", *names)}
    machine.forget()
    found["sync, empty cache"] = machine.run("sync", "--locked")
    found["sync, nothing to do"] = machine.run("sync")
    found["update, empty cache"] = machine.run("update")
    found["update, nothing new"] = machine.run("update")
    found["outdated"] = machine.run("outdated")
    found["a name it lacks"] = machine.run("install", "nobody-knows-this", code=1)
    release(root, "new", folder)
    found["update, one new"] = machine.run("update")
    server.shutdown()
    server.server_close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 1_000, 100_000])
    parser.add_argument("-n", type=int, default=3, help="runs; the median counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        build(root)
        for size in options.sizes:
            start = time.perf_counter()
            costs(root, size)  # and warms the file system
            print(f"index of {size:,} skills: {_bytes(root, size)}, {time.perf_counter() - start:.0f} s", flush=True)
        runs = [{size: costs(root, size) for size in options.sizes} for _ in range(options.n)]
    print_table(options.sizes, runs)


def _bytes(root: Path, size: int) -> str:
    folder = root / f"index-{size}"
    size_of = (folder / "index.json").stat().st_size
    return f"index.json {size_of / 1e6:.1f} MB, {len(os.listdir(folder / 'skills')):,} documents"


def print_table(sizes: list[int], runs: list[dict[int, dict[str, Cost]]]) -> None:
    """Print the table, and end with 1 where it is not flat."""
    wrong = []
    print(f"\n{'':20}" + "".join(f"{size:>32,}" for size in sizes))
    print(f"{'':20}" + "".join(f"{'requests':>9}{'bytes':>8}{'ms':>7}{'cpu ms':>8}" for _ in sizes))
    for what in runs[0][sizes[0]]:
        row, counted, processor = f"{what:20}", set(), []
        for size in sizes:
            found = [run[size][what] for run in runs]
            seconds, processor_seconds = (statistics.median(run[part] for run in found) for part in (2, 3))
            counted |= {it[:2] for it in found}
            processor.append(min(it[3] for it in found))
            row += f"{found[0][0]:9}{found[0][1]:8}{seconds * 1000:7.0f}{processor_seconds * 1000:8.0f}"
        is_flat = len(counted) == 1 and max(processor) <= TOLERATED * processor[0]
        wrong += [] if is_flat else [what]
        print(f"{row}  {'flat' if is_flat else 'NOT FLAT'}")
    if wrong:
        raise SystemExit(f"not flat: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
