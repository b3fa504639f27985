"""`fit`: choose which skills a host lists by name alone, so that the model gets all other descriptions whole."""

import os
import stat

from skillpm.agent_hosts.discover import read_user_config
from skillpm.agent_hosts.profiles import load_profile
from skillpm.core.json_text.decoder import parse_json
from skillpm.core.values import Value
from skillpm.errors import ConflictError, UsageError
from skillpm.files import is_below, read_text, translate_os_errors, write_document
from skillpm.formats.editing.json_edit import set_members
from skillpm.formats.host_profile import ListingBudget
from skillpm.operations.host_listing import HostListing, read_host_listing
from skillpm.operations.serve import Viewer, make_service
from skillpm.registry.last_use import read_last_uses
from skillpm.scope.scope import Scope
from skillpm.serving.host_rules.claude_code import load_overrides
from skillpm.serving.token_budget import sort_by_relevance
from skillpm.settings import Settings

FITTED_HOST = "claude-code"


class FitResult(Value):
    """What would be listed by name alone, or is now, and in which file it is written."""

    agent: str
    file: str
    names: tuple[str, ...]
    total: int
    is_written: bool = False


def fit(scope: Scope, settings: Settings, agent: str, *, write: bool = False) -> FitResult:
    """Return the least relevant skills, by name: those without which all other descriptions reach the model.

    With `write`, they become `name-only` in the settings of the host, of the project or the user; other overrides stay.
    Raises `UsageError` for a host that has no such setting, and `DocumentError` for settings that cannot be edited.
    """
    if agent != FITTED_HOST:
        raise UsageError(
            f"{agent} has no setting for skills that are listed by name alone",
            hint=f"`skillpm disable NAME --agent {agent}` hides a skill from it",
        )
    place = settings.replace(working_directory=scope.root)
    listing = read_host_listing(scope, place, agent)
    budget = load_profile(agent, read_user_config(settings).profiles).listing
    file = _settings_file(scope, settings)
    names = () if budget is None or not listing.cut else _choose(scope, place, listing, budget)
    result = FitResult(agent=agent, file=file, names=names, total=len(listing.skills))
    if not write or not names:
        return result
    _write_overrides(file, names, scope, settings)
    return result.replace(is_written=True)


def _choose(scope: Scope, settings: Settings, listing: HostListing, budget: ListingBudget) -> tuple[str, ...]:
    """Return the skills to list by name, sorted: all that are left when the most relevant have their descriptions.

    Never those that any settings file turns `on`: a person has decided about them.
    """
    service = make_service(scope, settings, Viewer(agent=listing.agent))
    lengths = {skill.name: min(skill.length, budget.description) for skill in listing.skills}
    skills = [skill for skill in service.list() if skill.name in lengths and skill.name not in listing.name_only]
    by_relevance = sort_by_relevance(
        skills, found=(), priority=service.priority, last_used=read_last_uses(settings.cache_dir)
    )
    on = {name for name, value in load_overrides(settings).items() if value == "on"}
    left = budget.total - sum(len(name) + budget.overhead for name in lengths)
    chosen = []
    for skill in sorted(by_relevance, key=lambda skill: skill.name not in on):
        needed = lengths[skill.name] + len(": ")
        if needed > left and skill.name not in on:
            chosen.append(skill.name)
        else:
            left -= needed
    return tuple(sorted(chosen))


def _settings_file(scope: Scope, settings: Settings) -> str:
    if scope.kind == "user":
        folder = settings.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(settings.home, ".claude")
    else:
        folder = os.path.join(scope.root, ".claude")
    return os.path.join(folder, "settings.json")


def _write_overrides(file: str, names: tuple[str, ...], scope: Scope, settings: Settings) -> None:
    boundary = "" if scope.kind == "user" else scope.root
    if boundary and not is_below(os.path.realpath(file), os.path.realpath(boundary)):
        raise ConflictError("the settings are behind a link that points outside the project", where=file)
    old = read_text(file)
    text = old if old and old.strip() else "{}\n"
    # Strict: the editor knows no comments.
    overrides = parse_json(text, file).get("skillOverrides")
    if overrides is not None:
        overrides.items()
    new = set_members(text, ("skillOverrides",), dict.fromkeys(names, "name-only"))
    with translate_os_errors("write the settings of the host", file):
        mode = stat.S_IMODE(os.stat(file).st_mode) if old is not None else 0o644
        write_document(file, new.encode(), fsync=settings.fsync, mode=mode, link_boundary=boundary)
