"""The skills that ship with the tool as a catalogue: what their files say, and what tells whether they are the same."""

import os
from collections.abc import Iterator

from skillpm import __version__
from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.fetchers.bundled_paths import bundled_folder, bundled_names
from skillpm.formats.catalog_stream import Entry
from skillpm.indexes.client.http_cache import Stamp


def shipped_stamp() -> Stamp:
    """Give what changes when another skillpm is installed, or somebody works on its skills."""
    states = [(name, os.stat(_file(name))) for name in bundled_names()]
    return Stamp(
        etag=" ".join([__version__, *(f"{name}:{state.st_size}:{state.st_mtime_ns}" for name, state in states)])
    )


def shipped_entries() -> Iterator[Entry]:
    """Read them. Their triggers count as tags."""
    from skillpm.skillmd.skill import read_skill  # noqa: PLC0415  (YAML; once for each version of skillpm)

    for name in bundled_names():
        with open(_file(name), "rb") as file:
            skill = read_skill(file.read())
        yield Entry(
            name=SkillName(name),
            description=skill.description,
            category=skill.category,
            tags=tuple(dict.fromkeys([*skill.tags, *skill.triggers])),
            version=skill.version,
        )


def _file(name: str) -> str:
    return os.path.join(bundled_folder(), name, SKILL_FILE)
