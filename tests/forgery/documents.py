"""Forged files: one key replaced, a whole entry made up, a document of another machine, or no file at all."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from forgery.world import HERE, OURS, World, Worlds
from kit.journals import bind_journal

from skillpm.core.digest import compute_digest, content_hash

# What is forged, by place: documents, whose keys are forged one by one, and other files and folders.
DOCUMENTS = {
    "receipt": f"{OURS}/receipt.json",
    "journal": f"{OURS}/journal.json",
    "stat cache": f"{OURS}/scan.json",
    "registry": f"{HERE}/skills.json",
    "staged receipt": f"{OURS}/staging/.documents/receipt",
    "staged lockfile": f"{OURS}/staging/.documents/lockfile",
    "staged registry": f"{OURS}/staging/.documents/registry",
    "rejected journal": f"{OURS}/rejected/journal-1.json",
    "backup metadata": f"{OURS}/backup/pdf-1.told",
}
OTHERS = {
    "lock": f"{OURS}/lock",
    "process id": f"{OURS}/lock.pid",
    "gitignore": f"{OURS}/.gitignore",
    "backup origin": f"{OURS}/backup/docx-1.from",
    "backup": f"{OURS}/backup/pdf-1",
    "backups": f"{OURS}/backup",
    "staged skill": f"{OURS}/staging/pdf",
    "staging": f"{OURS}/staging",
    "trash": f"{OURS}/trash",
    "undeletable": f"{OURS}/left",
    "rejected": f"{OURS}/rejected",
    "half a copy": ".claude/skills/.pdf.skillpm-new",
    "internal folder": OURS,
}
PLACES = {**DOCUMENTS, **OTHERS}
BELOW_JOURNAL = {"journal", "staged receipt", "staged lockfile", "staged registry", "staged skill", "staging", "trash"}
DEEP: Any = json.loads("[" * 400 + "]" * 400)
ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2**70,
        1.5,
        "",
        "x",
        [],
        {},
        [[]],
        {"a": {}},
        ["pdf"],
        DEEP,
        "\0",
        "\ud83d",
        "x" * 5000,
    ),
    *(
        "../../outside/victim.txt",
        "/etc/passwd",
        "~/.ssh",
        ".git/hooks",
        ".claude/skills",
        "../outside",
        ".",
        "..",
        "pdf",
    ),
    *("sha256:" + "0" * 64, "0" * 64, "0" * 40, "symlink", "copy", "https://127.0.0.1:9/x.git", "-oProxyCommand=x"),
)
NAMES = ("docx", "xlsx", "evil", "mine", "../../outside", ".git", "", "PDF", "con", "a/b", "pdf/SKILL.md", ".skillpm")


def forge(world: World, worlds: Worlds, place: str, chance: Random, number: int) -> str:
    """Change the files of some skills, and forge one place; return what was done."""
    done = [_change_content(world, worlds, name, chance) for name in ("pdf", "docx")]
    path = world.work / PLACES[place]
    way = chance.random()
    document = _read_json(path) if place in DOCUMENTS else None
    if document is not None and way < 0.55:
        done.append(_forge_key(document, worlds, chance, number))
        path.write_bytes(json.dumps(document, ensure_ascii=True).encode())
    elif place in {"receipt", "staged receipt", "registry"} and way < 0.8:
        done.append(_forge_entry(world, worlds, path, chance))
    else:
        done.append(_forge_file(world, worlds, place, path, chance))
    return ", ".join(done)


def bind(world: World) -> bool:
    """Let the journal pass for one that was written here, which nobody else can; return whether it is a document."""
    journal = _read_json(world.work / DOCUMENTS["journal"])
    if isinstance(journal, dict):
        bind_journal(world.work / HERE, journal)
    return isinstance(journal, dict)


def _change_content(world: World, worlds: Worlds, name: str, chance: Random) -> str:
    folder, word = (
        world.work / HERE / name,
        chance.choices(["locked", "evil", "edited", "extra", "missing"], [4, 3, 1, 1, 1])[0],
    )
    if word in {"evil", "missing"}:
        shutil.rmtree(folder)
    if word == "evil":
        shutil.copytree(worlds.other.work / HERE / name, folder, symlinks=True)
    elif word == "edited":
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Mine.\n---\nmy edit\n")
    elif word == "extra":
        (folder / "more.md").write_text("my page\n")
    return f"{name} {word}"


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes()) if path.is_file() else None  # reading a FIFO would not end
    except (OSError, ValueError, RecursionError):
        return None


def _keys(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each key and element of a document."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*above, key)
        yield from _keys(part, (*above, key))


def _forge_key(document: Any, worlds: Worlds, chance: Random, number: int) -> str:
    """Replace, drop, rename or add one key; the keys take turns, so that each is forged."""
    keys = [*_keys(document)]
    if not keys:
        return "nothing to forge"
    key = keys[number % len(keys)]
    holder = document
    for part in key[:-1]:
        holder = holder[part]
    last, way = key[-1], chance.random()
    if way < 0.15:
        del holder[last]
        return f"without {key}"
    if way < 0.25 and isinstance(holder, dict):
        name = chance.choice([*NAMES, *holder])
        holder[name] = holder.pop(last)
        return f"{key} renamed {name!r}"
    donors = [value for other in _donors(worlds) for value in _values_of(other, last)]
    if way < 0.6 and donors:
        holder[last] = chance.choice(donors)
    elif way < 0.7 and isinstance(holder, dict):
        holder[chance.choice(NAMES)] = chance.choice(ODD)
    else:
        holder[last] = chance.choice(ODD)
    return f"{key} forged as {json.dumps(holder.get(last) if isinstance(holder, dict) else holder[last])[:200]}"


def _donors(worlds: Worlds) -> list[Any]:
    """Return documents of other projects and machines."""
    found = [
        _read_json(world.work / path) for world in (worlds.other, worlds.interrupted) for path in DOCUMENTS.values()
    ]
    found += [
        json.loads(world.read(name)) for world in (worlds.other, worlds.well) for name in ("skills.json", "skills.lock")
    ]
    return [document for document in found if document is not None]


def _values_of(document: Any, last: Any) -> Iterator[Any]:
    for key in _keys(document):
        if key[-1] == last:
            value = document
            for part in key:
                value = value[part]
            yield value


def _forge_entry(world: World, worlds: Worlds, path: Path, chance: Random) -> str:
    """Make up the entry of a skill from well-formed parts, as somebody would who knows the formats."""
    document = _read_json(path)
    name = chance.choice(["pdf", "docx", "old", "mine", "evil"])
    if "registry" in path.name or path.name == "skills.json":
        return _forge_card(document, path, name, chance)
    locked = json.loads(world.read("skills.lock"))["skills"]
    evil = json.loads(worlds.other.read("skills.lock"))["skills"]
    files = {
        "there": _record(world.work / HERE / name),
        "locked": document["skills"].get(name, {}).get("files", {}),
        "evil": _record(worlds.other.work / HERE / name),
    }
    which = chance.choice([*files])
    rows = ((file, row["sha256"]) for file, row in files[which].items())
    digests = [compute_digest(rows), locked.get(name, locked["pdf"])["digest"], evil.get(name, evil["pdf"])["digest"]]
    sources = [skill["source"] for skill in (*locked.values(), *evil.values())]
    digest, source = chance.choice(digests), chance.choice([locked.get(name, locked["pdf"])["source"], *sources])
    document["skills"][name] = {"source": source, "digest": digest, "files": files[which]}
    if chance.random() < 0.3:
        document["skills"][name]["version"] = "9.9.9"
    if chance.random() < 0.1:
        del document["skills"][name]["digest"]
        document["skills"][name] |= {"source": {"path": "../outside/folder", "link": True}, "files": {}}
    path.write_text(json.dumps(document))
    return f"entry of {name} with files {which}: {json.dumps(document['skills'][name])[:400]}"


def _forge_card(document: Any, path: Path, name: str, chance: Random) -> str:
    card = next((card for card in document["skills"] if card["name"] == name), dict(document["skills"][0], name=name))
    files = ["old/SKILL.md", "docx/SKILL.md", "../../outside/victim.txt", ".skillpm/receipt.json", "pdf/again.md"]
    card |= {"filePath": chance.choice([card["filePath"], *files]), "description": "Forged.", "version": "9.9.9"}
    card["digest"] = chance.choice([other.get("digest", "") for other in document["skills"]])
    document["skills"] = [*(other for other in document["skills"] if other["name"] != name), card]
    path.write_text(json.dumps(document))
    return f"card {json.dumps(card)[:300]}"


def _record(folder: Path) -> dict[str, Any]:
    """Return the files of a folder as a receipt records them."""
    found = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        name: {"sha256": content_hash(path.read_bytes()), "size": path.stat().st_size}
        | ({"executable": True} if os.access(path, os.X_OK) and path.stat().st_mode & 0o100 else {})
        for name, path in found.items()
    }


def _forge_file(world: World, worlds: Worlds, place: str, path: Path, chance: Random) -> str:
    """Put something else in the place of a file or folder."""
    there = path.read_bytes() if path.is_file() else b""
    outside = world.root / "outside"
    way = chance.choice(
        ["donor", "empty", "cut", "noise", "deep", "odd", "link", "folder", "fifo", "hard link", "process"]
    )
    donor = chance.choice(
        [worlds.other.work / PLACES[place], worlds.interrupted.work / chance.choice([*PLACES.values()])]
    )
    _remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if way == "donor" and donor.is_dir():
        shutil.copytree(donor, path, symlinks=True)
    elif way == "donor":
        path.write_bytes(donor.read_bytes() if donor.is_file() else b"{}")
    elif way == "cut":
        path.write_bytes(there[: chance.randrange(len(there) + 1)])
    elif way == "noise":
        path.write_bytes(chance.randbytes(300))
    elif way == "deep":
        path.write_bytes(b"[" * 100_000)
    elif way == "odd":
        path.write_text(json.dumps(chance.choice(ODD)))
    elif way == "link":
        target = chance.choice(
            ["victim.txt", "folder", "missing", ".agent-skills", "../home/.ssh", "../home/.ssh/id_rsa"]
        )
        path.symlink_to(outside / target)
        return f"{place} is a link to {target}"
    else:
        _write_odd_file(path, way, outside / "victim.txt", chance)
    return f"{place} replaced: {way}"


def _write_odd_file(path: Path, way: str, victim: Path, chance: Random) -> None:
    if way == "folder":
        path.mkdir()
        chance.choice([path / "file", path / "pdf", path / "pdf-1"]).write_text("x")
    elif way == "fifo":
        os.mkfifo(path)
    elif way == "hard link":
        path.hardlink_to(victim)
    else:
        path.write_text("1\n" if way == "process" else "")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
