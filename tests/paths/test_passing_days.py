"""Days pass between two commands, and while a server runs: exceptions end, and published policies are fetched again.

Nor is a file remembered that changed within the last tick of the clock: another change could leave the same stat.
"""

import os
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit import GitServer, Repository, make_skill, prefix_paths, wait_for
from kit.moments import opened
from policy.test_published_policies import NEW, NOW, OLD, Publisher
from policy.world import closed_connections, working_directory

from skillpm import Registry
from skillpm.change.change import ChangeOptions
from skillpm.errors import NotTrusted
from skillpm.installer.disk import stat_cache
from skillpm.installer.disk.stat_cache import is_recent, read_file_stat
from skillpm.operations.install.add import install
from skillpm.operations.install.sync import sync
from skillpm.registry.card import Card
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import project_scope, user_scope
from skillpm.settings import Settings, read_settings
from skillpm.specs.request import InstallRequest
from skillpm.vetting import load_check
from skillpm.vetting.acceptance import Acceptance
from skillpm.vetting.load_check import LoadValidator

DAY = 86_400.0
HOUR_NS = 3_600_000_000_000
HIDDEN = "Be kind.\U000e0052\U000e0075\U000e006e\n"
# On the day of NOW.
EXCEPTION = """\
[[audit.allow]]
skill = "tool"
rule = "hidden-text"
digest = "*"
reason = "it is being replaced"
until = "2026-11-30"
"""


class Clock:
    """The clock of a server."""

    def __init__(self) -> None:
        self.now = NOW

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(load_check, "time", clock)
    return clock


@pytest.fixture
def excepted(tmp_path: Path) -> CommandSandbox:
    """Return a project whose user has an exception until the day of NOW."""
    scene = CommandSandbox(tmp_path / "scene").create_project('{"skills": {}, "agents": ["claude-code"]}\n')
    scene.write("../home/.config/skillpm/config.toml", EXCEPTION)
    return scene


def settings_of(scene: CommandSandbox, now: float = NOW) -> Settings:
    return read_settings(scene.environment(), now=now)


def make_validator(scene: CommandSandbox, now: float = NOW) -> LoadValidator:
    settings = settings_of(scene, now)
    return LoadValidator(project_scope(settings, str(scene.work)), settings, [str(scene.work / "skills.json")])


def settled_card(scene: CommandSandbox, name: str = "tool") -> Card:
    """Return the card of a skill once its files and the documents are older than a tick of the clock."""
    card = next(each for each in Registry.load(scene.work / ".agent-skills").cards.values() if each.name == name)
    files = [*Path(card.folder).rglob("*"), *(scene.home / ".config/skillpm").iterdir(), scene.work / "skills.json"]
    wait_for(lambda: not any(is_recent(read_file_stat(str(path))) for path in files))
    return card


@pytest.mark.parametrize("is_same_process", [True, False], ids=["in a server", "in the next command"])
def test_an_exception_ends_for_what_was_loaded_before(
    excepted: CommandSandbox, clock: Clock, *, is_same_process: bool
) -> None:
    excepted.write_files(prefix_paths(".agent-skills/tool", make_skill("tool", body=HIDDEN)))
    card, validator = settled_card(excepted), make_validator(excepted)
    validator(card)
    with opened(card.location) as reads:
        validator(card)
    assert reads == []

    clock.now += DAY

    with pytest.raises(NotTrusted, match="hidden-text"):
        (validator if is_same_process else make_validator(excepted, clock.now))(card)


def test_an_exception_ends_for_what_was_accepted_before(
    excepted: CommandSandbox, upstream: Repository, clock: Clock
) -> None:
    upstream.write(prefix_paths("skills/tool", make_skill("tool", body=HIDDEN))).commit("first")
    link = excepted.work / ".claude/skills/tool"

    def open_project(now: float) -> Project:
        settings = settings_of(excepted, now)
        return Project(project_scope(settings, str(excepted.work)), Session(settings=settings))

    with working_directory(excepted.work), closed_connections():
        request = InstallRequest(specs=(f"{upstream.file_url}@tool",))
        install(open_project(NOW), request, ChangeOptions())
        sync(open_project(NOW), ChangeOptions())
        assert link.is_symlink()
        validator = make_validator(excepted)
        validator(settled_card(excepted))

        with pytest.raises(NotTrusted, match="hidden-text"):
            sync(open_project(NOW + DAY), ChangeOptions())

    assert not os.path.lexists(link)
    clock.now += DAY
    with pytest.raises(NotTrusted, match="hidden-text"):
        validator(settled_card(excepted))


def test_a_policy_that_is_fetched_after_days_is_not_one_of_the_future(
    server: GitServer, tmp_path: Path, clock: Clock
) -> None:
    publisher = Publisher(server, tmp_path)
    skill = tmp_path / ".agent-skills/tool/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_bytes(make_skill("tool")["SKILL.md"])
    publisher.publish(OLD, "")
    assert publisher.refresh() == OLD
    (card,) = Registry.load(tmp_path / ".agent-skills").cards.values()
    validator = LoadValidator(user_scope(publisher.settings), publisher.settings, [str(publisher.file)])
    validator(card)

    clock.now += 3 * DAY
    publisher.publish(NEW, "")
    assert publisher.refresh(now=clock.now) == NEW

    validator(card)


def test_a_file_that_has_just_changed_is_read_at_each_load(
    excepted: CommandSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    excepted.write_files(prefix_paths(".agent-skills/tool", make_skill("tool")))
    card, validator = settled_card(excepted), make_validator(excepted)
    monkeypatch.setattr(stat_cache, "RECENT_NS", HOUR_NS)

    for each in (validator, validator, make_validator(excepted)):
        with opened(card.location) as reads:
            each(card)
        assert reads


def test_rules_that_have_just_changed_are_read_for_each_skill(
    excepted: CommandSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    excepted.run("install", "testing", "code-review", check=True)
    excepted.run("sync", check=True)
    cards, validator = [settled_card(excepted, name) for name in ("testing", "code-review")], make_validator(excepted)
    monkeypatch.setattr(stat_cache, "RECENT_NS", HOUR_NS)
    (listing,) = (path for path in excepted.cache.glob("v1/verdicts/*") if b'"testing"' in path.read_bytes())

    with opened(str(listing)) as reads:
        for card in cards:
            validator(card)

    assert len(reads) == 2


def test_a_folder_that_has_just_changed_is_not_accepted_for_later(
    excepted: CommandSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    excepted.write_files(prefix_paths(".agent-skills/tool", make_skill("tool")))
    folder, settings = settled_card(excepted).folder, settings_of(excepted)
    acceptance = Acceptance(project_scope(settings, str(excepted.work)), settings)
    assert acceptance.hash_stats(folder) != ""

    monkeypatch.setattr(stat_cache, "RECENT_NS", HOUR_NS)

    assert acceptance.hash_stats(folder) == ""
