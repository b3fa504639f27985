"""What an index says of a skill, held against the skill that came: its bytes, its name, its version, its needs."""

from collections.abc import Callable

from skillpm.documents.names import SkillName
from skillpm.documents.needs import told_otherwise
from skillpm.documents.text import show
from skillpm.documents.versions import ANY, is_version, matches
from skillpm.errors import NotFoundError, RefusedError
from skillpm.fetching.base import Found
from skillpm.indexes.reading import Offering
from skillpm.sources.source import IndexSource


def not_as_said(name: str, offering: Offering, found: str) -> RefusedError:
    """Tell what came and what the index says of it: of the bytes, or of the content."""
    said = offering.digest if found.startswith("sha256:") else offering.sha256
    return RefusedError(
        f"`{name}` is not what the index {offering.index.name} says: "
        f"{show(offering.url)} is {found}, and the index says {said}",
        hint="somebody changed the archive or the index; nothing was changed here",
    )


def check_name(declared: str, name: str, offering: Offering) -> None:
    """Raise `RefusedError` for a skill that calls itself otherwise than its index does."""
    if declared and declared != name:
        raise RefusedError(
            f"the index {offering.index.name} offers {show(offering.url)} as `{name}`, "
            f"and the skill calls itself `{show(declared, 80)}`",
            hint="tell whoever keeps the index; nothing was installed",
        )


def numbered(
    name: SkillName, source: IndexSource, offering: Offering, found: Found, warn: Callable[[str], None]
) -> Found:
    """Give a skill the version that its index says; a site says none.

    Raises `RefusedError` where the index has said other needs than the skill does: it was chosen by these.
    """
    if offering.version:
        if found.version and found.version.removeprefix("v") != offering.version:
            warn(f"{name}: the index says version {offering.version}, SKILL.md says {show(found.version)}")
        said = found.dependencies if offering.dependencies is None else offering.dependencies
        if told := told_otherwise(said, found.dependencies):
            raise RefusedError(
                f"the index {offering.index.name} says other needs of `{name}` {offering.version} than the skill "
                f"does: {told}",
                hint="tell whoever keeps the index; nothing was changed",
            )
        return found.but(version=offering.version)
    if source.version.strip() != ANY and not (is_version(found.version) and matches(source.version, found.version)):
        says = f"says that it is {show(found.version)}" if found.version else "says no version"
        raise NotFoundError(
            f"the index {offering.index.name} has no `{name}` {source.version}: the only one {says}",
            hint="ask for any version",
        )
    return found
