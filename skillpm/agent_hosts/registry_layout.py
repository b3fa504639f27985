"""The layout `registry`: an old `skills.json` that says which skills there are. It is read, and never trusted."""

import json
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from skillpm.core.names import path_fault
from skillpm.core.text import one_line, show
from skillpm.files import is_below
from skillpm.registry.frontmatter_cache import read_bytes

LARGEST = 16_000_000  # of JSON that is made to be large, a byte takes sixty of memory


class Listed(NamedTuple):
    """One skill that a registry lists, its file surely in the folder."""

    name: str
    description: str
    path: str


def listed(folder: str, remark: Callable[[str, str], None]) -> Iterator[Listed]:
    """Give what the `skills.json` of a folder lists and what is there; the rest is remarked."""
    file = f"{folder}/skills.json"
    top = os.path.realpath(folder)
    for number, entry in enumerate(_entries(file, remark)):
        where = f"skills.{number}"
        fields = entry if isinstance(entry, dict) else {}
        name, path, said = (fields.get(key) for key in ("name", "filePath", "description"))
        if not isinstance(name, str) or not name.strip() or not isinstance(path, str):
            remark(file, f"{where}: an entry needs a `name` and a `filePath`")
        elif fault := path_fault(path.removeprefix("./")):
            remark(file, f"{where}: the filePath of `{show(name, 60)}` {fault}, so it is refused: {show(path, 80)}")
        elif not os.path.isfile(full := os.path.join(folder, path.removeprefix("./"))):
            remark(file, f"{where}: the file of `{show(name, 60)}` is not there: {show(path, 80)}")
        elif not is_below(os.path.realpath(full), top):
            remark(file, f"{where}: the filePath of `{show(name, 60)}` leads out of the folder, so it is refused")
        else:
            yield Listed(one_line(name), one_line(said) if isinstance(said, str) else "", full)


def _entries(file: str, remark: Callable[[str, str], None]) -> list[object]:
    try:
        data = read_bytes(file, LARGEST)[0]
        top = json.loads(data) if len(data) <= LARGEST else None
    except FileNotFoundError:
        remark(file, "there is none, so nothing is listed")
        return []
    except OSError as error:
        remark(file, error.strerror or "it cannot be read")
        return []
    except (ValueError, RecursionError):
        remark(file, "this is not JSON")
        return []
    if len(data) > LARGEST:
        remark(file, f"it is over {LARGEST} bytes, so it is not read")
        return []
    skills = top.get("skills") if isinstance(top, dict) else None
    if isinstance(skills, list):
        return skills
    remark(file, "this is no registry: `skills` is no list")
    return []
