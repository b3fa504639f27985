"""A conflict in sentences: who asked for what, and what would solve it."""

from collections.abc import Iterable, Mapping, Sequence

from skillpm.core.names import SkillName
from skillpm.errors import ConflictError, NotFoundError, SkillpmError
from skillpm.requirements.dependency_spec import is_range_of
from skillpm.resolver.alternatives import once_older, way_to_another, what_there_is
from skillpm.resolver.candidates import Shelf
from skillpm.resolver.conflict_phrases import as_asked, joined, name_the_place, version_names
from skillpm.resolver.search_space import Need, Option

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
        return NotFoundError(f"none of the versions of `{name}` is there when it is fetched", hint=name_the_place(name))
    name, rows = next(iter(told.items()))
    if (
        len(told) == 1
        and [who for who, _ in rows] == [None]
        and (shelf.options(name, _needs(rows)) or name in shelf.hidden)
    ):
        return NotFoundError(
            f"`{name}`{as_asked(_needs(rows)[0].source)} is not there: {what_there_is(name, _needs(rows), shelf)}",
            hint=once_older(name, _needs(rows), shelf) or way_to_another(name, _needs(rows), shelf),
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
    older = once_older(name, _needs(rows), shelf)
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
    return joined(sentences) + _ending(name, rows, shelf)


def _needs(rows: Rows) -> list[Need]:
    return list(dict.fromkeys(need for _, need in rows))


def _ordered(
    rows: Rows,
) -> list[tuple[tuple[SkillName | None, Need], list[Option]]]:
    """What the manifest asks comes first, then by name, the newest versions of each first."""
    ordered = sorted(rows.items(), key=lambda row: max((option.age for option in row[1]), default=()), reverse=True)
    return sorted(ordered, key=lambda row: row[0][0] or "")


def _sentence(name: SkillName, who: SkillName | None, need: Need, options: Sequence[Option], brought: Brought) -> str:
    said = f"`{name}`{as_asked(need.source)}"
    if who is None:
        return f"skills.json asks for {said}"
    versions = version_names(options)
    verb = "needs" if len({option.version for option in options}) == 1 else "need"
    return f"`{who}`{f' {versions}' if versions else ''}{_way_in(who, brought)} {verb} {said}"


def _way_in(who: SkillName, brought: Brought) -> str:
    """Say how a skill got in that the manifest does not name, or only in some versions."""
    need, parent = brought[who]
    if parent is not None:
        return f" (which `{parent.name}` needs)"
    said = as_asked(need.source)
    return f" (skills.json asks for `{who}`{said})" if said else ""


def _ending(name: SkillName, rows: Rows, shelf: Shelf) -> str:
    needs = _needs(rows)
    if len(shelf.places(name, needs)) > 1:
        return "; a skill comes from one place only"
    which = "both" if len(needs) == 2 else "all of that" if len(needs) > 2 else "that"  # noqa: PLR2004
    return f"; no version of `{name}` fits {which}: {what_there_is(name, needs, shelf)}"


def _nobody_has(name: SkillName, rows: Rows, brought: Brought, shelf: Shelf) -> SkillpmError:
    """Nothing at all is known of a name: whoever was asked says best why."""
    (who, need), options = _ordered(rows)[0]
    try:
        if need.source is not None:
            shelf.provider.pin({name: need.source})
        error: SkillpmError = NotFoundError(f"`{name}` is not there", hint=name_the_place(name))
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
    others = f"allow other versions of {joined([f'`{who}`' for who in narrow])} in skills.json, or " if narrow else ""
    what = "name the other place" if len(shelf.places(name, _needs(told[name]))) > 1 else "ask for another version"
    ask = f"{what} in skills.json, or " if asks else others
    return f'{ask}decide yourself, against what they say: "overrides": {{"{name}": {value}}} in skills.json'


def _is_narrowed(cause: Cause) -> bool:
    """Tell whether the manifest itself keeps other versions of a skill out."""
    need, parent = cause
    return parent is None and need.range.text != "*"
