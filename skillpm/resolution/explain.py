"""A conflict in sentences: who asked for what, and what would solve it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from skillpm.documents.cutoff import ask_publisher, take_younger
from skillpm.documents.names import SkillName
from skillpm.documents.text import show
from skillpm.errors import ConflictError, NotFoundError, SkillpmError
from skillpm.resolution.options import Need, Option
from skillpm.resolution.shelf import Hidden, Shelf
from skillpm.sources.needs import is_range_of
from skillpm.sources.source import BundledSource, GitSource, IndexSource, PathSource, Source, UrlSource

MOST_REASONS = 3
MOST_VERSIONS = 6
MOST_NAMES = 4
MOST_SENTENCES = 5
Cause = tuple[Need, Option | None]


Rows = Mapping[tuple[SkillName | None, Need], list[Option]]
Brought = Mapping[SkillName, Cause]


def conflict(causes: Sequence[Cause], brought: Brought, shelf: Shelf) -> SkillpmError:
    """Tell why there is no answer.

    `causes` are the needs that could not be met, each with who has it; `brought` is who wanted each name first, for
    telling how a skill that the manifest does not name got into it.
    """
    by_name: dict[SkillName, dict[tuple[SkillName | None, Need], list[Option]]] = {}
    for need, parent in causes:
        options = by_name.setdefault(need.name, {}).setdefault((None if parent is None else parent.name, need), [])
        if parent is not None:
            options.append(parent)
    impossible = [name for name, rows in by_name.items() if any(need.source is None for _, need in rows)]
    told = {name: rows for name, rows in by_name.items() if name not in impossible}
    if not told:
        name = impossible[0]
        return NotFoundError(f"none of the versions of `{name}` is there when it is fetched", hint=_see(name))
    name, rows = next(iter(told.items()))
    if (
        len(told) == 1
        and [who for who, _ in rows] == [None]
        and (shelf.options(name, _needs(rows)) or name in shelf.hidden)
    ):
        return NotFoundError(
            f"`{name}`{_said(_needs(rows)[0].source)} is not there: {_there(name, _needs(rows), shelf)}",
            hint=_once_older(name, _needs(rows), shelf) or _not_there(name, _needs(rows), shelf),
        )
    for name, rows in told.items():
        if (
            name not in shelf.hidden
            and not shelf.options(name, _needs(rows))
            and len(shelf.places(name, _needs(rows))) == 1
        ):
            return _nobody_has(name, rows, brought, shelf)
    parts = [_told(name, rows, brought, shelf) for name, rows in told.items()]
    name, rows = next(iter(told.items()))
    older = _once_older(name, _needs(rows), shelf)
    return ConflictError(
        "; besides, ".join(parts[:MOST_NAMES]),
        where=_file(told.values()),
        hint=f"{older}{'; or ' if older else ''}{_way_out(name, told, brought, shelf)}",
    )


def _told(name: SkillName, rows: Rows, brought: Brought, shelf: Shelf) -> str:
    ordered = _ordered(rows)
    sentences = [_sentence(name, who, need, options, brought) for (who, need), options in ordered[:MOST_SENTENCES]]
    if len(ordered) > MOST_SENTENCES:
        sentences.append(f"{len(ordered) - MOST_SENTENCES} more ask for something else")
    return _joined(sentences) + _ending(name, rows, shelf)


def _needs(rows: Rows) -> list[Need]:
    return list(dict.fromkeys(need for _, need in rows))


def _ordered(
    rows: Rows,
) -> list[tuple[tuple[SkillName | None, Need], list[Option]]]:
    """What the manifest asks comes first, then by name, the newest versions of each first."""
    ordered = sorted(rows.items(), key=lambda row: max((option.age for option in row[1]), default=()), reverse=True)
    return sorted(ordered, key=lambda row: row[0][0] or "")


def _sentence(name: SkillName, who: SkillName | None, need: Need, options: Sequence[Option], brought: Brought) -> str:
    said = f"`{name}`{_said(need.source)}"
    if who is None:
        return f"skills.json asks for {said}"
    versions = _versions(options)
    verb = "needs" if len({option.version for option in options}) == 1 else "need"
    return f"`{who}`{f' {versions}' if versions else ''}{_way_in(who, brought)} {verb} {said}"


def _way_in(who: SkillName, brought: Brought) -> str:
    """Say how a skill got in that the manifest does not name, or only in some versions."""
    need, parent = brought[who]
    if parent is not None:
        return f" (which `{parent.name}` needs)"
    said = _said(need.source)
    return f" (skills.json asks for `{who}`{said})" if said else ""


def _said(source: Source | None) -> str:
    """Give what is asked of a name, as people write it."""
    match source:
        case IndexSource():
            index = f" from {'' if source.site else 'index '}{show(source.index)}" if source.index else ""
            return f" {show(source.version, 60)}{index}" if source.version != "*" else index
        case GitSource():
            wanted = "" if source.ref == "*" else source.ref
            folder = f" ({show(source.path, 80)})" if source.path not in {"", "."} else ""
            ref = "" if not wanted else f" {wanted}" if source.kind == "version" else f" at {wanted}"
            return f"{show(ref, 80)} from {show(source.url)}{folder}"
        case PathSource():
            return f" from {show(source.path)}"
        case UrlSource():
            return f" from {show(source.url)}"
        case BundledSource():
            return " from the bundled skills"
        case None:
            return ""
        case _:
            assert_never(source)


def _versions(options: Sequence[Option]) -> str:
    known = [option for option in options if option.version]
    ordered = [show(option.version, 40) for option in sorted(known, key=lambda option: option.age)]
    unique = list(dict.fromkeys(ordered))
    if len(unique) > MOST_VERSIONS:
        return f"{unique[0]} to {unique[-1]} ({len(unique)} versions)"
    return _and(unique)


def _ending(name: SkillName, rows: Rows, shelf: Shelf) -> str:
    needs = _needs(rows)
    if len(shelf.places(name, needs)) > 1:
        return "; a skill comes from one place only"
    which = "both" if len(needs) == 2 else "all of that" if len(needs) > 2 else "that"  # noqa: PLR2004
    return f"; no version of `{name}` fits {which}: {_there(name, needs, shelf)}"


def _there(name: SkillName, needs: Sequence[Need], shelf: Shelf) -> str:
    """Say which versions there are, and which there would be if they were not kept back."""
    options = sorted(shelf.options(name, needs), key=lambda option: option.age, reverse=True)
    versions = list(dict.fromkeys(show(option.version, 40) or "one without a version" for option in options))
    more = [f"{len(versions) - MOST_VERSIONS} more"] if len(versions) > MOST_VERSIONS else []
    early = [
        option
        for option in options
        if option.parsed is not None
        and option.parsed.is_prerelease
        and all(need.range.holds(option.parsed, early=True) for need in needs)
    ]
    verb = "are" if len(versions) > 1 else "is"
    said = [f"there {verb} {_and([*versions[:MOST_VERSIONS], *more])}"] if versions else []
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
        more = [f"{len(versions) - MOST_VERSIONS} more"] if len(versions) > MOST_VERSIONS else []
        several = len(versions) > 1
        verb = ("are" if several else "is") if is_young else ("were" if several else "was")
        said.append(f"{_and([*versions[:MOST_VERSIONS], *more])} {verb} {why}")
    if len(reasons) > MOST_REASONS:
        said.append("and so on")
    return said


def _once_older(name: SkillName, needs: Sequence[Need], shelf: Shelf) -> str:
    """Say what to do where a version would do that is only too young."""
    young = [item.option.version for item in _kept_back(name, needs, shelf) if item.is_young]
    return take_younger(young[0]) if young else ""


def _not_there(name: SkillName, needs: Sequence[Need], shelf: Shelf) -> str:
    """Say what to do where no version will do: ask for one that there is, if there is one."""
    if shelf.options(name, needs) or any(item.is_young for item in shelf.hidden.get(name, ())):
        return "ask for another version, or name the repository it is in"
    return ask_publisher(name) if name in shelf.hidden else _see(name)


def _nobody_has(name: SkillName, rows: Rows, brought: Brought, shelf: Shelf) -> SkillpmError:
    """Nothing at all is known of a name: whoever was asked says best why."""
    (who, need), options = _ordered(rows)[0]
    try:
        if need.source is not None:
            shelf.provider.pin({name: need.source})
        error: SkillpmError = NotFoundError(f"`{name}` is not there", hint=_see(name))
    except NotFoundError as found:
        error = found
    if who is None:
        return error
    return NotFoundError(
        f"{_sentence(name, who, need, options, brought)}, which is not there: {error.message}",
        hint=f"tell its author, or take it from where you know it: skillpm install owner/repo@{name}",
    )


def _file(told: Iterable[Rows]) -> str:
    """Give the place that a person can change."""
    return next((f"skills.json: skills.{need.name}" for rows in told for who, need in rows if who is None), "")


def _way_out(name: SkillName, told: Mapping[SkillName, Rows], brought: Brought, shelf: Shelf) -> str:
    ranges = [need for _, need in told[name] if need.source is not None and is_range_of(need.source)]
    value = '"…"' if ranges else "{…}"
    asks = any(who is None for rows in told.values() for who, _ in rows)
    narrow = sorted({who for rows in told.values() for who, _ in rows if who and _is_narrowed(brought[who])})
    others = f"allow other versions of {_and([f'`{who}`' for who in narrow])} in skills.json, or " if narrow else ""
    what = "name the other place" if len(shelf.places(name, _needs(told[name]))) > 1 else "ask for another version"
    ask = f"{what} in skills.json, or " if asks else others
    return f'{ask}decide yourself, against what they say: "overrides": {{"{name}": {value}}} in skills.json'


def _is_narrowed(cause: Cause) -> bool:
    """Tell whether the manifest itself keeps other versions of a skill out."""
    need, parent = cause
    return parent is None and need.range.text != "*"


def _see(name: SkillName) -> str:
    return f"name the repository it is in: skillpm install owner/repo@{name}"


def _joined(sentences: Sequence[str]) -> str:
    return ", ".join(sentences[:-1]) + (" and " if len(sentences) > 1 else "") + sentences[-1]


def _and(words: Sequence[str]) -> str:
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1] if words else ""
