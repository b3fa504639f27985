"""The bundled skills as a catalog to search."""

import os
from collections.abc import Iterator

from skillpm import __version__
from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.fetchers.bundled_paths import bundled_folder, bundled_names
from skillpm.formats.catalog_stream import CatalogEntry
from skillpm.indexes.client.http_cache import Validators


def bundled_validators() -> Validators:
    """Return validators that change with the version of skillpm, and with edits to the skills of a checkout."""
    states = [(name, os.stat(_skill_file_path(name))) for name in bundled_names()]
    return Validators(
        etag=" ".join([__version__, *(f"{name}:{state.st_size}:{state.st_mtime_ns}" for name, state in states)])
    )


def read_bundled_entries() -> Iterator[CatalogEntry]:
    """Read the catalog entries of the bundled skills. Triggers are added to the tags."""
    from skillpm.skillmd.skill import read_skill  # noqa: PLC0415  (imports YAML, once per version of skillpm)

    for name in bundled_names():
        with open(_skill_file_path(name), "rb") as file:
            skill = read_skill(file.read())
        yield CatalogEntry(
            name=SkillName(name),
            description=skill.description,
            category=skill.category,
            tags=tuple(dict.fromkeys([*skill.tags, *skill.triggers])),
            version=skill.version,
        )


def _skill_file_path(name: str) -> str:
    return os.path.join(bundled_folder(), name, SKILL_FILE)
