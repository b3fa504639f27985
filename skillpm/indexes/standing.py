"""What stands in the folder of an index before anything is written there."""

import os

from skillpm.documents.catalogue import Catalogue, read_catalogue
from skillpm.documents.names import SkillName, is_skill_name
from skillpm.documents.releases import Releases, read_releases
from skillpm.errors import DocumentError, RefusedError
from skillpm.files import read_document, read_text, told
from skillpm.indexes.ground import CATALOGUE, PAGE
from skillpm.indexes.page.head import head_of


def standing_catalogue(folder: str) -> Catalogue | None:
    """Give the catalogue of an index, None where there is none yet."""
    where = os.path.join(folder, CATALOGUE)
    text = read_text(where)
    return None if text is None else read_catalogue(text, where)


def standing_releases(folder: str, catalogue: Catalogue | None) -> dict[SkillName, Releases]:
    """Give the versions of every skill of an index.

    Raises `DocumentError` where they and the catalogue do not belong together: writing would lose versions.
    """
    found = {}
    for path in _files(folder):
        name = os.path.basename(path).removesuffix(".json")
        if path.endswith(".json") and is_skill_name(name):
            text = read_text(path)
            if text is not None:
                releases = read_releases(text, path, name)
                found[releases.name] = releases
    if found and catalogue is None:
        raise DocumentError(
            "there are versions of skills here, and no index.json", where=folder, hint="is this an index?"
        )
    for summary in catalogue.skills if catalogue else ():
        if summary.name not in found:
            raise DocumentError(
                f"index.json lists `{summary.name}`, and its versions are not there",
                where=os.path.join(folder, "skills", f"{summary.name}.json"),
                hint="take that file from version control or from where the index is served; nothing was written",
            )
    return found


def standing_page(folder: str, *, replaced: bool) -> bytes | None:
    """Give the page for people, None where there is none of ours. Raises `RefusedError` where one of somebody else
    would be replaced.
    """
    where = os.path.join(folder, PAGE)
    if not os.path.lexists(where):
        return None
    with told("read a page", where):
        page = read_document(where)
    if head_of(page) is not None:
        return page
    if replaced:
        raise RefusedError(
            "this page is not skillpm's, and would be replaced",
            where=where,
            hint="move it away, or leave it there with --no-catalog; nothing was written",
        )
    return None


def _files(folder: str) -> list[str]:
    try:
        return sorted(os.path.join(folder, "skills", name) for name in os.listdir(os.path.join(folder, "skills")))
    except FileNotFoundError:
        return []
