"""What there would be to take, told of a name for which nothing fits: other versions, and those kept back."""

from collections.abc import Sequence

from skillpm.core.exclude_newer import ask_publisher, take_younger
from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.resolver.candidates import Hidden, Shelf
from skillpm.resolver.conflict_phrases import a_few, name_the_place
from skillpm.resolver.search_space import Need

MOST_REASONS = 3


def what_there_is(name: SkillName, needs: Sequence[Need], shelf: Shelf) -> str:
    """Say which versions there are, and which there would be if they were not kept back."""
    options = sorted(shelf.options(name, needs), key=lambda option: option.age, reverse=True)
    versions = list(dict.fromkeys(show(option.version, 40) or "one without a version" for option in options))
    early = [
        option
        for option in options
        if option.parsed is not None
        and option.parsed.is_prerelease
        and all(need.range.holds(option.parsed, early=True) for need in needs)
    ]
    verb = "are" if len(versions) > 1 else "is"
    said = [f"there {verb} {a_few(versions)}"] if versions else []
    said += [f"{show(option.version, 40)} is a pre-release, to be asked for as such" for option in early[:1]]
    said += _why_not(_kept_back(name, needs, shelf))
    # Where nothing at all is left, what was kept back tells why, whether it would do or not.
    return "; ".join(said or _why_not(_newest_hidden(name, shelf)) or ["there is none"])


def _kept_back(name: SkillName, needs: Sequence[Need], shelf: Shelf) -> list[Hidden]:
    """Give the versions, the newest first, that would do but may not be taken."""
    return [
        item
        for item in _newest_hidden(name, shelf)
        if all(need.range.holds(item.option.parsed, early=True) for need in needs)
    ]


def _newest_hidden(name: SkillName, shelf: Shelf) -> list[Hidden]:
    return sorted(shelf.hidden.get(name, ()), key=lambda item: item.option.age, reverse=True)


def _why_not(hidden: Sequence[Hidden]) -> list[str]:
    """Say why versions may not be taken, all that it holds for in one sentence; of very many reasons the first."""
    said = []
    reasons = [*dict.fromkeys((item.why, item.is_young) for item in hidden)]
    for why, is_young in reasons[:MOST_REASONS]:
        versions = [show(item.option.version, 40) for item in hidden if item.why == why]
        several = len(versions) > 1
        verb = ("are" if several else "is") if is_young else ("were" if several else "was")
        said.append(f"{a_few(versions)} {verb} {why}")
    if len(reasons) > MOST_REASONS:
        said.append("and so on")
    return said


def once_older(name: SkillName, needs: Sequence[Need], shelf: Shelf) -> str:
    """Say what to do where a version would do that is only too young."""
    young = [item.option.version for item in _kept_back(name, needs, shelf) if item.is_young]
    return take_younger(young[0]) if young else ""


def way_to_another(name: SkillName, needs: Sequence[Need], shelf: Shelf) -> str:
    """Say what to do where no version will do: ask for one that there is, if there is one."""
    if shelf.options(name, needs) or any(item.is_young for item in shelf.hidden.get(name, ())):
        return "ask for another version, or name the repository it is in"
    return ask_publisher(name) if name in shelf.hidden else name_the_place(name)
