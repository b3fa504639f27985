"""Forge a lockfile key by key, and install it with every cache: the same verdict, and only what all its keys say."""

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

from forgery.lock_world import CACHES, LockWorld, Project, digest_of
from forgery.report import Report
from kit import GitError, Result

COMMANDS = (("sync", "--frozen"), ("sync",))
NONSENSE: Mapping[str, tuple[Any, ...]] = {
    "commit": ("0" * 40, "f" * 64),
    "tree": ("0" * 40, "4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
    "path": (".", "skills", "skills/none", "-oProxyCommand=x", "../pdf"),
    "ref": ("refs/heads/none", "refs/tags/v1.1.0", "refs/heads/pull/7", "HEAD"),
    "digest": ("sha256:" + "0" * 64,),
    "sha256": ("0" * 64,),
    "git": ("https://127.0.0.1:9/none.git", "file:///etc"),
    "url": ("https://127.0.0.1:9/pdf.tar.gz", "./mine/other"),
    "index": ("https://127.0.0.1:9/",),
    "bundled": ("code-review", "none"),
    "env": ("theirs", "none", "../ours"),
    "npm": ("theirs", "@ours/none", "../ours"),
    "version": ("9.9.9", "1.0.1", "0.1"),
    "dependencies": ({"docx": {"bundled": True}},),
    "link": (True, False),
}
OTHER_TYPES: tuple[Any, ...] = (None, 1, True, [], {}, "")
# Keys that an attacker would change together.
TOGETHER = (
    *(("tree", "digest"), ("commit", "tree"), ("commit", "tree", "digest"), ("git", "commit", "tree", "digest")),
    *(("path", "tree", "digest"), ("path", "commit", "tree", "digest"), ("commit", "tree", "digest", "ref")),
    *(("url", "sha256"), ("url", "sha256", "digest"), ("index", "url", "sha256", "digest"), ("sha256", "digest")),
    *(("url", "sha256", "digest", "version"), ("path", "digest"), ("bundled", "digest")),
    *(("env", "path"), ("env", "path", "digest"), ("npm", "digest"), ("npm", "path", "digest")),
)


def forged_entries(world: LockWorld, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every forgery of a kind's entry, with what was done."""
    entry = world.projects[kind].entry
    donors = {f"evil {other}": evil for other, evil in world.evil.items()}
    donors |= {other: project.entry for other, project in world.projects.items() if other != kind}
    keys = {*entry, *entry["source"], "version", "dependencies"} - {"source"}
    for key in sorted(keys):
        values = [(label, _get(donor, key)) for label, donor in donors.items()]
        values += [("nonsense", value) for value in NONSENSE.get(key, ())]
        values += [("another type", value) for value in OTHER_TYPES]
        yield from _with_values(entry, key, values)
        yield f"without {key}", _set(entry, {key: ...})
    for together in TOGETHER:
        for label, donor in donors.items():
            values_by_key = {key: _get(donor, key) for key in together}
            if None not in values_by_key.values() and {*together} <= keys:
                yield f"{'+'.join(together)} of {label}", _set(entry, values_by_key)
    for label, donor in donors.items():
        yield f"source of {label}", {**entry, "source": donor["source"]}
        yield f"all of {label}", donor


def _with_values(
    entry: dict[str, Any], key: str, values: list[tuple[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    seen = [_get(entry, key)]
    for label, value in values:
        if (label == "another type" or value is not None) and not any(
            value == old and type(value) is type(old) for old in seen
        ):
            seen.append(value)
            yield f"{key} of {label}: {json.dumps(value)}", _set(entry, {key: value})


def _get(entry: Mapping[str, Any], key: str) -> Any:
    return entry.get(key) if key in {"version", "digest", "dependencies"} else entry["source"].get(key)


def _set(entry: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry with other values; `...` drops the key."""
    forged = copy.deepcopy(entry)
    for key, value in values.items():
        place = forged if key in {"version", "digest", "dependencies"} else forged["source"]
        place[key] = value
        if value is ...:
            del place[key]
    return forged


def attempt(world: LockWorld, kind: str, about: str, forged: Any, report: Report) -> None:
    """Install a forged lockfile with each command and cache, and compare the verdicts."""
    honest = world.projects[kind]
    lockfile = json.loads(honest.read("skills.lock"))
    lockfile["skills"][honest.name] = forged
    report.forgeries += 1
    for words in COMMANDS:
        verdicts = {}
        for cache in CACHES:
            with world.victim(kind, json.dumps(lockfile, indent=2) + "\n", cache) as victim:
                before = victim.read("skills.json"), victim.read("skills.lock")
                result = victim.run(*words)
                report.commands += 1
                report.refused += result.code != 0
                verdicts[cache] = (result.code, victim.installed() if result.code == 0 else None)
                is_changed = before != (victim.read("skills.json"), victim.read("skills.lock"))
                wrong = [*_judge(world, kind, victim, result)]
                if is_changed and words != ("sync",):
                    wrong.append("manifest or lockfile changed")
                report.wrong += [f"{kind}: {about}: {' '.join(words)}, {cache}: {line}; {result}" for line in wrong]
        if len({str(verdict) for verdict in verdicts.values()}) > 1:
            report.wrong.append(f"{kind}: {about}: {' '.join(words)}: verdicts differ: {verdicts}")


def _judge(world: LockWorld, kind: str, victim: Project, result: Result) -> Iterator[str]:
    if result.code not in {0, 1, 2} or "Traceback" in result.stderr or (result.code and "error: " not in result.stderr):
        yield "a defect"
    if result.code:
        if victim.installed() is not None:
            yield "installed although refused"
        return
    entry, required = victim.entry, json.loads(victim.read("skills.json"))["skills"][victim.name]
    try:
        meant = world.bytes_of(entry["source"], victim)
    except (GitError, KeyError, ValueError) as error:
        meant = None
        yield f"the lockfile's source leads nowhere: {error}"
    if meant != victim.installed() or meant is None:
        yield f"installed {victim.installed()}, but the lockfile means {meant}"
        return
    if not entry["source"].get("link") and digest_of(meant) != entry["digest"]:
        yield f"digest {entry['digest']}, but it is {digest_of(meant)}"
    yield from _misbound(world, kind, entry, required)
    if kind in {"env", "npm"} and entry["source"] != world.projects[kind].entry["source"]:
        yield "a package, a version or a folder that is not installed"


def _misbound(world: LockWorld, kind: str, entry: dict[str, Any], required: dict[str, Any]) -> Iterator[str]:
    """Yield every value that contradicts the manifest or the rest of the entry."""
    source, honest = entry["source"], world.projects[kind].entry
    if "git" in source:
        repository = world.repositories["acme"]
        if repository.tree_id(source["path"], source["commit"]) != source["tree"]:
            yield "the tree is not that of the commit"
        if required.get("rev", source["commit"]) != source["commit"]:
            yield "the commit is not the manifest's rev"
    for key in {*required} & {*source} - {"version"}:
        if source[key] != required[key] and key != "bundled":
            yield f"{key} is not the manifest's"
    if kind == "index" and source["index"] != honest["source"]["index"]:
        yield "another index"
    if kind == "index" and f"-{entry.get('version')}.tar.gz" not in source["url"]:
        yield f"version {entry.get('version')}, but the archive is {source['url']}"
    # Without a version, its commit is shown. What a live link leads to may change at any time.
    is_other = entry.get("version") not in {None, "", honest.get("version")}
    if kind not in {"index", "live link"} and is_other and source == honest["source"]:
        yield f"version {entry.get('version')}, but it is {honest.get('version')}"
    if entry.get("dependencies"):
        yield "dependencies that the skill does not declare"
