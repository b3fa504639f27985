"""What a service shows in a project: its skills and the user's, as the documents currently permit."""

import json
import os
from pathlib import Path

import pytest
from agent_hosts.world import HostWorkspace
from kit import make_skill, prefix_paths, wait_for
from kit.registry import write_files

from skillpm import Discovery, SkillService, discover, open_service
from skillpm.agent_hosts.host_registry import HostRegistry
from skillpm.errors import DocumentError, NotAllowedError, NotFoundError
from skillpm.formats.registry import write_registry
from skillpm.serving.live_permissions import EffectivePermissions, WatchedPermissions


class Place:
    """A project and a home, and the service in it."""

    def __init__(self, root: Path) -> None:
        self.project = root / "project"
        self.home = root / "home"
        self.own = self.home / ".config/skillpm"
        write_files(self.project, {"skills.json": '{"skills": {}}'})
        write_files(
            self.project / ".agent-skills",
            prefix_paths("pdf", make_skill("pdf", "The project's.")) | prefix_paths("web", make_skill("web")),
        )
        write_files(
            self.home / ".agent-skills",
            prefix_paths("pdf", make_skill("pdf", "My own.")) | prefix_paths("notes", make_skill("notes")),
        )

    def serve(self) -> SkillService:
        return open_service(self.project)

    def say(self, file: Path, **value: object) -> None:
        write_files(file.parent, {file.name: json.dumps({"skills": {}, **value})})


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    for name in [name for name in os.environ if name.startswith(("SKILLPM_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Place(tmp_path)


def seen(service: SkillService) -> dict[str, str]:
    return {name: Path(card.location).parts[-4] for name, card in service.visible.items()}


def test_project_skills_take_precedence_over_user_skills(place: Place) -> None:
    service = place.serve()

    assert seen(service) == {"notes": "home", "pdf": "project", "web": "project"}
    assert service.load("pdf").directory == str(place.project / ".agent-skills/pdf")
    assert service.load("notes").directory == str(place.home / ".agent-skills/notes")


def test_changes_in_either_directory_are_visible(place: Place) -> None:
    service = place.serve()
    before = service.visible

    write_files(place.home / ".agent-skills", prefix_paths("later", make_skill("later")))
    assert [*service.visible] == ["later", "notes", "pdf", "web"]
    (place.project / ".agent-skills/pdf").rename(place.project / "gone")
    assert seen(service)["pdf"] == "home"
    assert [*before] == ["notes", "pdf", "web"]


def test_unreadable_skill_hides_no_other_and_is_reported_with_its_path(place: Place) -> None:
    write_files(place.project / ".agent-skills", {"notes/SKILL.md": "words"})
    write_files(place.home / ".agent-skills", {"web/SKILL.md": "words", "bad/SKILL.md": "words"})
    service = place.serve()

    assert seen(service) == {"notes": "home", "pdf": "project", "web": "project"}
    assert [problem.path for problem in service.registry.problems] == [
        "notes/SKILL.md",
        f"{place.home}/.agent-skills/bad/SKILL.md",
        f"{place.home}/.agent-skills/web/SKILL.md",
    ]


def test_skill_disabled_by_a_project_is_disabled_for_user_skills_too(place: Place) -> None:
    place.say(place.project / "skills.json", disabled={"pdf": True, "notes": True})

    assert [*place.serve().visible] == ["web"]


def test_skill_disabled_by_the_user_is_disabled_in_user_scope(place: Place) -> None:
    place.say(place.own / "skills.json", disabled={"pdf": True, "notes": True})

    assert seen(place.serve()) == {"pdf": "project", "web": "project"}


@pytest.mark.parametrize(("mode", "flag"), [("project", ""), ("own", " -g")])
def test_error_for_a_disabled_skill_names_the_command_that_enables_it(place: Place, mode: str, flag: str) -> None:
    place.say((place.project if mode == "project" else place.own) / "skills.json", disabled={"notes": True})
    with pytest.raises(NotFoundError) as caught:
        place.serve().load("notes")

    assert caught.value.message == "skill `notes` is disabled"
    assert caught.value.hint == f"to use it, run `skillpm enable{flag} notes`"


@pytest.mark.parametrize(("folder", "flag"), [("project", ""), ("home", " -g")])
def test_skill_that_only_a_registry_disables_is_disabled(place: Place, folder: str, flag: str) -> None:
    """While `disable` is being executed, the registry may be ahead of the manifest."""
    directory = (place.project if folder == "project" else place.home) / ".agent-skills"
    write_files(directory, prefix_paths("extra", make_skill("extra")) | {"skills.json": write_registry([], ["extra"])})
    if folder == "project":
        write_files(place.home / ".agent-skills", prefix_paths("extra", make_skill("extra")))
    with pytest.raises(NotFoundError) as caught:
        place.serve().load("extra")

    assert caught.value.hint == f"to use it, run `skillpm enable{flag} extra`"


def test_user_manifest_applies_in_a_project(place: Place) -> None:
    place.say(place.own / "skills.json", permissions={"w*": "deny"})
    place.say(place.project / "skills.json", permissions={"*": "allow", "n*": "deny"})

    assert [*place.serve().visible] == ["pdf"]


@pytest.mark.parametrize("document", ["project", "own", "config"])
def test_new_rule_applies_immediately(place: Place, document: str) -> None:
    service = place.serve()
    service.load("web")

    if document == "config":
        write_files(place.own, {"config.toml": '[permissions]\nweb = "deny"\n'})
    else:
        place.say((place.project if document == "project" else place.own) / "skills.json", permissions={"web": "deny"})

    assert "web" not in service.visible
    assert "web" not in service.description
    with pytest.raises(NotAllowedError):
        service.load("web")
    place.say(place.project / "skills.json")
    place.say(place.own / "skills.json")
    write_files(place.own, {"config.toml": ""})
    assert service.load("web").name == "web"


def test_a_running_service_obeys_new_settings_for_what_is_served(place: Place) -> None:
    service = place.serve()
    assert (service.load("web").mode, service.load("web").truncated) == ("full", False)

    write_files(place.own, {"config.toml": '[serving]\nmode = "compact"\nmax-length = 2\n'})

    assert (service.load("web").mode, service.load("web").truncated) == ("compact", True)
    assert service.load("web", mode="full").mode == "full"


def test_recently_written_rules_are_read_each_time(tmp_path: Path) -> None:
    """Two writes within a tick of the file system's clock may leave the same stat."""
    file, reads = tmp_path / "skills.json", list[int]()

    def read() -> EffectivePermissions:
        reads.append(1)
        return EffectivePermissions()

    watched = WatchedPermissions(lambda: [str(file)], read)

    def reads_of_second_look() -> int:
        file.write_text("{}")
        watched()
        reads.clear()
        watched()
        return len(reads)

    # Several attempts, since the machine may be slow: "recent" means 50 ms.
    assert wait_for(reads_of_second_look, 10) == 1

    def is_left_alone() -> bool:
        reads.clear()
        watched()
        return not reads

    assert wait_for(is_left_alone)


def test_nothing_is_served_while_rules_are_unreadable(place: Place) -> None:
    service = place.serve()
    service.load("web")

    write_files(place.project, {"skills.json": '{"skills": {}, "permissions": {"web": "dney"}}'})

    where = f"{place.project}/skills.json: permissions.web"
    for ask in (lambda: service.visible, service.prompt, lambda: service.load("pdf"), lambda: service.match("web")):
        with pytest.raises(DocumentError) as caught:
            ask()
        assert caught.value.where == where
    answer = service.call({"name": "pdf"})
    assert (answer.ok, answer.text) == (
        False,
        f'Failed to load skill content for "pdf": expected allow, ask or deny, got "dney" ({where})',
    )
    assert service.call({}).text == f'Error: expected allow, ask or deny, got "dney" ({where})'
    place.say(place.project / "skills.json")
    assert service.load("web").name == "web"


def test_host_skills_are_searched_again(world: HostWorkspace) -> None:
    first = world.write_skill("home/.claude/skills/pdf", "pdf", "Reads.")
    registry = HostRegistry(lambda: discover("claude-code", settings=world.settings()), refresh_interval=0.0)
    service = SkillService(registry)
    before = registry.snapshot
    assert [*service.visible] == ["pdf"]
    assert registry.snapshot is before

    world.write_skill("home/.claude/skills/web", "web", "Opens pages.")
    first.write_text("---\nname: pdf\ndescription: Reads and writes.\ntriggers: [paper]\n---\nRead.\n")

    assert [skill.description for skill in service.list()] == ["Reads and writes.", "Opens pages."]
    assert [card.name for card in service.match("some paper").skills] == ["pdf"]
    assert service.load("pdf", style="omega").text == "Read."


def test_host_is_not_searched_again_too_soon(world: HostWorkspace) -> None:
    looks: list[int] = []

    def look() -> Discovery:
        looks.append(1)
        return Discovery(agent="claude-code")

    registry = HostRegistry(look, refresh_interval=3600.0)

    assert (len(registry), registry.names, len(looks)) == (0, (), 1)
    registry.refresh()
    assert len(looks) == 2


@pytest.mark.parametrize("mode", ["project", "own"])
def test_newly_disabled_skill_disappears_immediately(place: Place, mode: str) -> None:
    service = place.serve()
    assert "notes" in service.visible

    place.say((place.project if mode == "project" else place.own) / "skills.json", disabled={"notes": True})

    assert "notes" not in service.visible
