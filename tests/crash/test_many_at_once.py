"""Many processes at once: no work is lost, and no reader sees a partial state."""

import json
from pathlib import Path

import pytest
from kit import Repository, Sandbox, make_skill, prefix_paths

pytestmark = pytest.mark.slow

BUNDLED = ["api-design", "code-review", "git-release", "skillpm", "testing"]


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    made = Sandbox(tmp_path / "sandbox")
    made.git_config("[safe]\n\tdirectory = *\n")
    return made


def names_in(file: Path) -> list[str]:
    skills = json.loads(file.read_text(encoding="utf-8"))["skills"]
    return sorted(entry["name"] for entry in skills) if isinstance(skills, list) else sorted(skills)


def test_twelve_installs_at_once_all_arrive_and_readers_see_only_whole_skills(sandbox: Sandbox, tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "upstream")
    wanted = [f"skill-{number}" for number in range(7)]
    for name in wanted:
        files = make_skill(name) | {f"pages/{page}.md": f"{name} {page}\n" * 100 for page in range(20)}
        repository.write(prefix_paths(f"skills/{name}", files))
    repository.commit("all")
    specs = [*BUNDLED, *(f"{repository.file_url}@{name}" for name in wanted)]
    running = [sandbox.spawn("install", "-g", spec) for spec in specs]
    seen: set[str] = set()
    while any(process.poll() is None for process in running):
        listing = sandbox.run("list", "-g", "--json", check=True).json
        assert {entry["state"] for entry in listing["skills"]} <= {"installed"}
        now = {entry["name"] for entry in listing["skills"]}
        assert seen <= now, "a skill that was there is gone"
        seen = now
    for process in running:
        _, complaint = process.communicate()
        assert process.returncode == 0, complaint.decode()
    everything = sorted([*BUNDLED, *wanted])
    home = sandbox.home / ".agent-skills"
    config = sandbox.home / ".config" / "skillpm"
    assert sorted(path.name for path in home.iterdir() if path.is_dir() and path.name != ".skillpm") == everything
    for file in (config / "skills.json", config / "skills.lock", home / "skills.json"):
        assert names_in(file) == everything, file
    assert sandbox.run("verify", "-g").code == 0
    assert sandbox.run("registry", "check", "-g").code == 0


def test_one_skill_installed_by_eight_at_once_is_installed_once(sandbox: Sandbox) -> None:
    running = [sandbox.spawn("install", "-g", "testing", "--json") for _ in range(8)]
    answers = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0] * 8
    assert sorted(json.loads(answer)["changed"] for answer in answers) == [False] * 7 + [True]


def test_six_migrations_at_once_are_one_and_readers_see_none_or_all(sandbox: Sandbox) -> None:
    names = [f"skill-{number:02}" for number in range(40)]
    flat = {f"c/{name}.md": f"---\nname: {name}\ndescription: Use it.\n---\n" for name in names}
    sandbox.write_files(prefix_paths("../home/.agent-skills", flat))
    sandbox.run("install", "-g", "testing", check=True)
    running = [sandbox.spawn("migrate", "-g", "--json") for _ in range(6)]
    while any(process.poll() is None for process in running):
        listing = sandbox.run("list", "-g", "--json", check=True).json
        assert len(listing["skills"]) in {1, 41}
    answers = [json.loads(process.communicate()[0]) for process in running]
    assert [process.returncode for process in running] == [0] * 6
    assert sorted(len(answer["moved"]) for answer in answers) == [0] * 5 + [40]
    assert sandbox.run("registry", "check", "-g").code == 0
