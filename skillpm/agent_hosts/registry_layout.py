"""The layout `registry`: an untrusted `skills.json` of another tool lists the skills of a folder."""

import json
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from skillpm.core.names import path_problem
from skillpm.core.text import one_line, sanitize
from skillpm.files import is_below
from skillpm.registry.frontmatter_cache import read_bytes

MAX_BYTES = 16_000_000  # hostile JSON takes up to sixty times its size in memory


class RegisteredSkill(NamedTuple):
    """A skill that a registry lists; its file is inside the folder."""

    name: str
    description: str
    path: str


def list_registered_skills(folder: str, warn: Callable[[str, str], None]) -> Iterator[RegisteredSkill]:
    """Yield the entries of a folder's `skills.json` whose files exist, and warn about the others."""
    file = f"{folder}/skills.json"
    real_folder = os.path.realpath(folder)
    for index, entry in enumerate(_read_entries(file, warn)):
        where = f"skills.{index}"
        fields = entry if isinstance(entry, dict) else {}
        name, path, description = (fields.get(key) for key in ("name", "filePath", "description"))
        if not isinstance(name, str) or not name.strip() or not isinstance(path, str):
            warn(file, f"{where}: an entry needs a `name` and a `filePath`")
        elif problem := path_problem(path.removeprefix("./")):
            warn(
                file,
                f"{where}: the filePath of `{sanitize(name, 60)}` {problem}, so it is refused: {sanitize(path, 80)}",
            )
        elif not os.path.isfile(full := os.path.join(folder, path.removeprefix("./"))):
            warn(file, f"{where}: the file of `{sanitize(name, 60)}` is missing: {sanitize(path, 80)}")
        elif not is_below(os.path.realpath(full), real_folder):
            warn(file, f"{where}: the filePath of `{sanitize(name, 60)}` points outside the folder, so it is refused")
        else:
            yield RegisteredSkill(one_line(name), one_line(description) if isinstance(description, str) else "", full)


def _read_entries(file: str, warn: Callable[[str, str], None]) -> list[object]:
    try:
        data = read_bytes(file, MAX_BYTES)[0]
        top = json.loads(data) if len(data) <= MAX_BYTES else None
    except FileNotFoundError:
        warn(file, "missing, so the folder has no skills")
        return []
    except OSError as error:
        warn(file, error.strerror or "cannot be read")
        return []
    except (ValueError, RecursionError):
        warn(file, "invalid JSON")
        return []
    if len(data) > MAX_BYTES:
        warn(file, f"over {MAX_BYTES} bytes, so it is not read")
        return []
    skills = top.get("skills") if isinstance(top, dict) else None
    if isinstance(skills, list):
        return skills
    warn(file, "not a registry: `skills` is not a list")
    return []
