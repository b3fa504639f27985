"""The layout `registry`: an old `skills.json` that says which skills there are. It is read, and never trusted."""

import json
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from skillpm.core.names import path_problem
from skillpm.core.text import one_line, sanitize
from skillpm.files import is_below
from skillpm.registry.frontmatter_cache import read_bytes

MAX_BYTES = 16_000_000  # of JSON that is made to be large, a byte takes sixty of memory


class RegisteredSkill(NamedTuple):
    """One skill that a registry lists, its file surely in the folder."""

    name: str
    description: str
    path: str


def list_registered_skills(folder: str, warn: Callable[[str, str], None]) -> Iterator[RegisteredSkill]:
    """Give what the `skills.json` of a folder lists and what is there; the rest is remarked."""
    file = f"{folder}/skills.json"
    top = os.path.realpath(folder)
    for number, entry in enumerate(_read_entries(file, warn)):
        where = f"skills.{number}"
        fields = entry if isinstance(entry, dict) else {}
        name, path, said = (fields.get(key) for key in ("name", "filePath", "description"))
        if not isinstance(name, str) or not name.strip() or not isinstance(path, str):
            warn(file, f"{where}: an entry needs a `name` and a `filePath`")
        elif fault := path_problem(path.removeprefix("./")):
            warn(
                file, f"{where}: the filePath of `{sanitize(name, 60)}` {fault}, so it is refused: {sanitize(path, 80)}"
            )
        elif not os.path.isfile(full := os.path.join(folder, path.removeprefix("./"))):
            warn(file, f"{where}: the file of `{sanitize(name, 60)}` is not there: {sanitize(path, 80)}")
        elif not is_below(os.path.realpath(full), top):
            warn(file, f"{where}: the filePath of `{sanitize(name, 60)}` leads out of the folder, so it is refused")
        else:
            yield RegisteredSkill(one_line(name), one_line(said) if isinstance(said, str) else "", full)


def _read_entries(file: str, warn: Callable[[str, str], None]) -> list[object]:
    try:
        data = read_bytes(file, MAX_BYTES)[0]
        top = json.loads(data) if len(data) <= MAX_BYTES else None
    except FileNotFoundError:
        warn(file, "there is none, so nothing is listed")
        return []
    except OSError as error:
        warn(file, error.strerror or "it cannot be read")
        return []
    except (ValueError, RecursionError):
        warn(file, "this is not JSON")
        return []
    if len(data) > MAX_BYTES:
        warn(file, f"it is over {MAX_BYTES} bytes, so it is not read")
        return []
    skills = top.get("skills") if isinstance(top, dict) else None
    if isinstance(skills, list):
        return skills
    warn(file, "this is no registry: `skills` is no list")
    return []
