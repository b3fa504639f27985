"""What the search goes over: needs (who wants which versions of a name) and options (what could be taken for it)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillpm.documents.lockfile import LockedSkill
from skillpm.documents.names import SkillName
from skillpm.documents.versions import range_of, version_of
from skillpm.sources.needs import covers, is_range_of, is_same_folder, range_text, without_range
from skillpm.sources.source import IndexSource, Source

if TYPE_CHECKING:
    from packaging.version import Version


class Option:
    """One way to have a skill: locked already, a version that is offered, or what a source leads to.

    It is itself and equal to no other, so that asking whether two are the same costs nothing.
    """

    __slots__ = (
        "dependencies",
        "locked",
        "name",
        "needs",
        "parsed",
        "place",
        "sole",
        "source",
        "version",
        "withdrawn",
    )

    def __init__(
        self,
        name: SkillName,
        source: Source,
        version: str,
        *,
        dependencies: Mapping[str, Any] | None = None,
        locked: LockedSkill | None = None,
        place: Source | None = None,
    ) -> None:
        self.name = name
        self.source = source
        self.version = version
        self.parsed: Version | None = version_of(version)
        self.dependencies = dependencies
        self.locked = locked
        self.place = source if place is None else place
        self.needs: list[Need] | None = None
        self.sole = False  # a pre-release, and there is nothing else
        self.withdrawn = False  # yanked, and allowed only since it is locked already

    @property
    def age(self) -> tuple[bool, bool, Any]:
        """What to sort by, newest last; what is no version comes before all that are, what was yanked before these."""
        parsed = self.parsed
        return (not self.withdrawn, parsed is not None, self.version if parsed is None else parsed)


class Need:
    """A requirement on a name, from whomever it comes. `source` None is one that nothing can fulfil."""

    __slots__ = ("_verdicts", "early", "name", "place", "range", "source")

    def __init__(self, name: SkillName, source: Source | None, *, early: bool = False) -> None:
        self.name = name
        self.source = source
        self.early = early
        self.range = range_of("*" if source is None else range_text(source))
        self.place = None if source is None else without_range(source)
        self._verdicts: dict[Option, bool] = {}

    @property
    def is_open(self) -> bool:
        """Tell whether any place may fulfil it: a version range without a place of its own."""
        return isinstance(self.source, IndexSource) and not self.source.index

    def allows(self, option: Option) -> bool:
        """Tell whether an option fulfils this; the answer is remembered, for it is asked a million times."""
        verdict = self._verdicts.get(option)
        if verdict is None:
            verdict = self._verdicts[option] = self._is_allowed(option)
        return verdict

    def _is_folder_of(self, option: Option) -> bool:
        """Tell whether a range over tags may be fulfilled by a tag, a branch or a commit of the same folder, and a
        skill that is to be found by its name by the folder that somebody else names.
        """
        if self.source is None or not is_range_of(self.source):
            return covers(option.place, self.place)
        return is_same_folder(self.place, option.place)

    def _is_allowed(self, option: Option) -> bool:
        if self.source is None or not (self.is_open or self.place == option.place or self._is_folder_of(option)):
            return False
        if not is_range_of(self.source):
            return True
        # What a person chose by tag, branch or folder, or locked once, is not shut out for being early.
        chosen = option.locked is not None or not is_range_of(option.place)
        if self.range.text == "*":
            return chosen or self.early or option.sole or option.parsed is None or not option.parsed.is_prerelease
        return self.range.holds(option.parsed, early=chosen or self.early)
