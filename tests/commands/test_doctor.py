"""`doctor` reports problems without changing anything; `--fix` repairs them without losing data."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from kit import Repository, make_skill, prefix_paths
from kit.sandbox import Environment

from skillpm.locks import hold_lock
from skillpm.operations.doctor.environment_checks import KNOWN_VARIABLES

pytestmark = pytest.mark.slow

DEAD = 2**22 - 3  # no process of this machine has this id
MINE = prefix_paths(".agent-skills/mine", make_skill("mine", "By hand."))
OURS = ".agent-skills/.skillpm"


@pytest.fixture
def sick(project: CommandSandbox, url: str) -> CommandSandbox:
    """Return a project with git, bundled and local skills and with links, still without problems."""
    project.run("install", f"{url}@pdf", "testing", check=True)
    project.run("link", "claude-code", check=True)
    project.write_files(MINE)
    project.run("registry", "build", check=True)
    assert project.run("doctor").code == 0
    return project


def problems(scene: CommandSandbox, *words: str, env: Environment | None = None) -> list[str]:
    """Return the problems that doctor reports, and check that it changes nothing."""
    before = scene.snapshot("..")
    result = scene.run("doctor", *words, "--json", env=env)
    assert result.stderr == ""
    assert scene.snapshot("..") == before, "doctor changed something"
    found = [
        row["message"]
        for row in json.loads(scene.add_placeholders(result.stdout))["checks"]
        if row["level"] == "problem"
    ]
    assert result.code == (1 if found else 0)
    return found


def notes(scene: CommandSandbox, *words: str, env: Environment | None = None) -> list[str]:
    """Return the notes that doctor reports."""
    output = json.loads(scene.add_placeholders(scene.run("doctor", *words, "--json", env=env).stdout))
    return [row["message"] for row in output["checks"] if row["level"] == "note"]


def flip(path: Path) -> None:
    """Change a byte in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.chmod(0o644)
    path.write_bytes(data)


def store_entry(scene: CommandSandbox) -> Path:
    return min(path for path in (scene.cache / "v1/store").rglob("*") if path.is_file())


def pack(scene: CommandSandbox) -> Path:
    return min((scene.cache / "v1/git").rglob("*.pack"))


def interrupt(scene: CommandSandbox, name: str = "code-review") -> None:
    """Kill an installation right after it wrote its journal."""
    script = (
        "import os, sys\nfrom skillpm.installer import transaction\n"
        "transaction.finish = lambda *_: os._exit(9)\n"
        "from skillpm.cli.main import main\nmain(sys.argv[1:])\n"
    )
    words = [sys.executable, "-c", script, "install", name]
    done = subprocess.run(words, cwd=scene.work, env=scene.environment(), capture_output=True, check=False)
    assert done.returncode == 9, done.stderr
    assert scene.exists(f"{OURS}/journal.json")


def receipt_gone(scene: CommandSandbox) -> None:
    (scene.work / OURS / "receipt.json").unlink()


def receipt_damaged(scene: CommandSandbox) -> None:
    scene.write(f"{OURS}/receipt.json", scene.read(f"{OURS}/receipt.json").replace('"links"', '"lunks"'))


def journal_damaged(scene: CommandSandbox) -> None:
    interrupt(scene)
    scene.write(f"{OURS}/journal.json", scene.read(f"{OURS}/journal.json")[:-20])


def journal_with_a_wrong_inode(scene: CommandSandbox) -> None:
    interrupt(scene)
    journal = json.loads(scene.read(f"{OURS}/journal.json"))
    journal["puts"]["code-review"][0] += 1
    scene.write(f"{OURS}/journal.json", json.dumps(journal))


def leftovers(scene: CommandSandbox) -> None:
    scene.write(f"{OURS}/staging/pdf/SKILL.md", "half")
    scene.write(f"{OURS}/trash/pdf-1/SKILL.md", "old")
    scene.write(f"skills.lock.{DEAD}.tmp", "half")


def skill_gone(scene: CommandSandbox) -> None:
    shutil.rmtree(scene.work / ".agent-skills/testing")


def link_gone(scene: CommandSandbox) -> None:
    (scene.work / ".claude/skills/pdf").unlink()


def dead_link(scene: CommandSandbox) -> None:
    (scene.work / ".claude/skills/old").symlink_to("../../.agent-skills/old")


def half_copy(scene: CommandSandbox) -> None:
    scene.write(".claude/skills/.pdf.skillpm-new/SKILL.md", "half")


def registry_stale(scene: CommandSandbox) -> None:
    scene.write(".agent-skills/skills.json", scene.read(".agent-skills/skills.json").replace("By hand", "By foot"))


def registry_damaged(scene: CommandSandbox) -> None:
    scene.write(".agent-skills/skills.json", scene.read(".agent-skills/skills.json")[:-30])


def slipped_in(scene: CommandSandbox) -> None:
    (pack(scene).parents[2] / "config").write_text("[core]\n")


REPAIRED: dict[str, tuple[Callable[[CommandSandbox], None], list[str]]] = {
    "an interrupted change": (interrupt, ["a change was interrupted"]),
    "a damaged journal": (
        journal_damaged,
        ["the journal of an interrupted change is damaged: invalid JSON: Unterminated string starting at"],
    ),
    "a wrong inode in the journal": (
        journal_with_a_wrong_inode,
        ["the journal of an interrupted change is damaged: checksum mismatch"],
    ),
    "leftovers": (leftovers, ["left by a killed command"] * 3),
    "a receipt that is gone": (
        receipt_gone,
        [
            "the receipt, which records installed skills, is missing: pdf, testing",
            "the registry is out of date: pdf stale, testing stale",
        ],
    ),
    "a damaged receipt": (
        receipt_damaged,
        ["the receipt is damaged: unknown key `lunks`; did you mean `links`?"],
    ),
    "a skill that is gone": (
        skill_gone,
        [
            "testing is missing: locked, but not installed; `skillpm sync` installs it",
            "a link to a skill that does not exist",
            "the registry is out of date: testing gone",
        ],
    ),
    "a link that is gone": (
        link_gone,
        ["pdf has a broken link: its link .claude/skills/pdf is missing; `skillpm sync` creates it again"],
    ),
    "a dead link of ours": (dead_link, ["a link to a skill that does not exist"]),
    "half a copy": (half_copy, ["left by a killed command"]),
    "a stale registry": (registry_stale, ["the registry is out of date: mine stale"]),
    "a damaged registry": (
        registry_damaged,
        ["the registry is out of date: mine missing, pdf missing, testing missing"],
    ),
    "a damaged store": (lambda scene: flip(store_entry(scene)), ["a store entry is damaged"]),
    "a damaged repository": (lambda scene: flip(pack(scene)), ["a cached repository is damaged"]),
    "configuration in a repository": (
        slipped_in,
        ["a cached repository is damaged"],
    ),
}


@pytest.mark.parametrize("damage", REPAIRED)
def test_fix_reports_and_repairs_the_damage_and_loses_nothing(sick: CommandSandbox, damage: str) -> None:
    spoil, expected = REPAIRED[damage]
    spoil(sick)
    manifest = sick.read("skills.json")

    assert problems(sick) == expected
    result = sick.run("doctor", "--fix")

    assert result.code == 0, result
    repaired = [line for line in result.stdout.splitlines() if line.startswith("repaired: ")]
    assert repaired == [f"repaired: {line}" for line in expected]
    assert problems(sick) == []
    assert {path: (sick.work / path).read_bytes() for path in MINE} == MINE
    if "change" not in damage:
        assert sick.read("skills.json") == manifest
    for command in (["verify"], ["registry", "check"], ["sync", "--frozen"]):
        assert sick.run(*command).code == 0
    assert sick.read(".claude/skills/testing/SKILL.md") == sick.read(".agent-skills/testing/SKILL.md")
    before = sick.full_snapshot
    sick.run("doctor", "--fix", check=True)
    assert sick.full_snapshot == before, "a second repair changes nothing"


def test_fix_does_not_touch_edited_skills_and_foreign_folders(sick: CommandSandbox) -> None:
    receipt_damaged(sick)
    sick.write(".agent-skills/pdf/SKILL.md", "my own words")
    sick.write(".agent-skills/pdf/notes.txt", "my notes")
    skill_gone(sick)
    sick.write(".agent-skills/testing/mine.txt", "in the way")
    (sick.work / ".claude/skills/elsewhere").symlink_to("../../nowhere")

    result = sick.run("doctor", "--fix")

    assert result.code == 1
    assert sick.read(".agent-skills/pdf/SKILL.md") == "my own words"
    assert sick.read(".agent-skills/pdf/notes.txt") == "my notes"
    assert sick.read(".agent-skills/testing/mine.txt") == "in the way"
    assert os.path.islink(sick.work / ".claude/skills/elsewhere")
    assert sick.exists(f"{OURS}/backup/receipt.json-1")
    assert problems(sick) == [
        "pdf is modified: differs from the lockfile, and was not installed by skillpm",
        "testing is modified: differs from the lockfile, and was not installed by skillpm",
    ]


def test_a_replaced_link_does_not_block_other_repairs(sick: CommandSandbox) -> None:
    skill_gone(sick)
    (sick.work / ".claude/skills/pdf").unlink()
    (sick.work / ".claude/skills/pdf").symlink_to("/nowhere/at/all")

    assert sick.output("doctor", "--fix") == expected_output("""\
repaired: testing is missing: locked, but not installed; `skillpm sync` installs it
repaired: a link to a skill that does not exist
repaired: the registry is out of date: testing gone
problem: pdf has a broken link: .claude/skills/pdf no longer links to it
    where: WORK/.agent-skills/pdf
    hint: move it away, or run `skillpm sync --force` to back it up
note: not installed by skillpm and never changed: mine
    where: WORK/.agent-skills
note: a dead link (to /nowhere/at/all), not created by skillpm
    where: WORK/.claude/skills/pdf
! WORK/.claude/skills/pdf was not created by skillpm; it is left as it is, and pdf is not linked there
! 1 problem
[1]
""")
    assert os.readlink(sick.work / ".claude/skills/pdf") == "/nowhere/at/all"
    sick.run("sync", "--force", check=True)
    assert problems(sick) == []
    assert os.readlink(sick.work / f"{OURS}/backup/pdf-1") == "/nowhere/at/all"


@pytest.mark.parametrize("how", ["readable", "unreadable"])
def test_metadata_recorded_by_migrate_survives_a_damaged_receipt(project: CommandSandbox, how: str) -> None:
    project.write(".agent-skills/x.md", "---\nname: x\ndescription: Use it.\n---\n")
    old = {"skills": [{"name": "x", "category": "house", "triggers": ["open the door"], "filePath": "x.md"}]}
    project.write(".agent-skills/skills.json", json.dumps(old))
    project.run("migrate", check=True)
    before = project.read_json(".agent-skills/skills.json")
    assert (before["skills"][0]["category"], before["skills"][0]["triggers"]) == ("house", ["open the door"])
    damaged = project.read(f"{OURS}/receipt.json")
    damaged = damaged.replace('"links"', '"lunks"') if how == "readable" else "{" + damaged
    project.write(f"{OURS}/receipt.json", damaged)

    assert project.run("doctor", "--fix").code == 0
    project.run("registry", "build", check=True)

    assert project.read_json(".agent-skills/skills.json") == before
    assert project.read(f"{OURS}/backup/receipt.json-1") == damaged


def test_a_healthy_scope(sick: CommandSandbox) -> None:
    assert sick.output("doctor") == expected_output("""\
note: not installed by skillpm and never changed: mine
    where: WORK/.agent-skills
no problems in WORK/.agent-skills; checked:
  environment variables
  the command skillpm
  git
  a single home
  free disk space
  config.toml
  manifest and lockfile
  permissions
  policies
  trusted signers
  the skills directory
  interrupted changes and leftovers
  the receipt
  installed files
  links in the folders of agents
  folders that hosts start
  the registry
  shadowed skills
  requirements of skills
  the cache
  store entries
  cached repositories
""")
    output = sick.json_output("doctor")
    assert list(output) == ["ok", "checks"]
    assert {tuple(row) for row in output["checks"]} == {("id", "ok", "message", "hint", "where", "level")}
    assert (output["ok"], len({row["id"] for row in output["checks"]})) == (True, 22)
    assert sick.output("doctor", "-q") == ""


def test_a_problem_is_reported_with_its_location_and_its_repair(sick: CommandSandbox) -> None:
    receipt_gone(sick)
    sick.write(".agent-skills/pdf/SKILL.md", "my own words")

    output = sick.output("doctor", "-q")

    assert output == expected_output("""\
problem: the receipt, which records installed skills, is missing: pdf, testing
    where: WORK/.agent-skills/.skillpm/receipt.json
    hint: run `skillpm doctor --fix` to adopt the skills that match the lockfile
problem: pdf is modified: differs from the lockfile, and was not installed by skillpm
    where: WORK/.agent-skills/pdf
    hint: run `skillpm diff pdf`, then `skillpm sync --force` to back it up and restore the locked version
problem: the registry is out of date: testing stale, pdf gone
    where: WORK/.agent-skills/skills.json
    hint: run `skillpm registry build` or `skillpm doctor --fix`
[1]
""")


def test_an_edited_skill_is_reported_with_its_files(sick: CommandSandbox) -> None:
    sick.write(".agent-skills/pdf/SKILL.md", "my own words")
    sick.write(".agent-skills/pdf/new.txt", "more")

    assert problems(sick)[0] == ("pdf is modified: edited since it was installed (SKILL.md modified, new.txt extra)")
    assert sick.run("doctor", "--fix").code == 1
    assert sick.read(".agent-skills/pdf/SKILL.md") == "my own words"


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("skills.json", "{", "invalid JSON: Expecting property name enclosed in double quotes"),
        ("skills.json", '{"skills": {"pdf": 3}}', "expected an object, got 3"),
        ("skills.json", '{"hello": 1}', "this skills.json belongs to another tool"),
        ("skills.lock", "<<<<<<< HEAD\n", "unresolved merge conflict"),
        ("skills.lock", '{"version": 7}', "unsupported format 7; this version of skillpm reads up to 1"),
        (f"{OURS}/receipt.json", '{"version": 7}', "unsupported format 7; this version of skillpm reads up to 1"),
        ("../home/.config/skillpm/config.toml", "agents = [", "invalid TOML: Invalid value (at end of document)"),
        ("../home/.config/skillpm/config.toml", 'agents = ["nobody"]\n', None),
        ("../home/.config/skillpm/config.toml", "[skills]\nenabled = 3\n", "expected true or false, got 3"),
    ],
)
def test_unreadable_documents_are_reported_and_not_changed(
    sick: CommandSandbox, path: str, content: str, expected: str | None
) -> None:
    if expected is None:
        sick.write("skills.json", json.dumps({"skills": json.loads(sick.read("skills.json"))["skills"]}))
        expected = "unknown agent `nobody`"
    sick.write(path, content)

    assert expected in problems(sick)
    assert sick.run("doctor", "--fix").code == 1
    assert sick.read(path) == content


def test_a_disagreement_of_manifest_and_lockfile_is_reported(sick: CommandSandbox) -> None:
    manifest = json.loads(sick.read("skills.json"))
    manifest["skills"]["code-review"] = "*"
    sick.write("skills.json", json.dumps(manifest))

    assert problems(sick) == ["manifest and lockfile disagree: `code-review` is not locked"]
    assert sick.run("doctor", "--fix").code == 1


def test_invalid_variables_are_reported_and_do_not_stop_other_checks(sick: CommandSandbox) -> None:
    odd = {
        "SKILLPM_LINK_MODE": "glue",
        "SKILLPM_MAX_FILE": "big",
        "SKILLPM_CACHE": "cache",
        "SKILLPM_FSYNC": "0",
        "SKILLPM_HOME": "agents",
    }

    assert problems(sick, env=odd) == [
        "invalid value `glue` for SKILLPM_LINK_MODE",
        "invalid number SKILLPM_MAX_FILE=big",
    ]
    assert [line for line in notes(sick, env=odd) if "SKILLPM" in line] == [
        "unknown variable SKILLPM_CACHE",
        "SKILLPM_HOME=agents is relative to the current folder",
        "SKILLPM_FSYNC is off: a power failure may undo changes or damage installed skills",
    ]


def test_doctor_knows_every_variable_of_the_settings() -> None:
    source = (Path(__file__).parents[2] / "skillpm/settings.py").read_text(encoding="utf-8")
    assert {*re.findall(r'"(SKILLPM_[A-Z_]+)"', source)} - {*KNOWN_VARIABLES} == set()


def test_a_deleted_working_directory_is_reported(scene: CommandSandbox) -> None:
    shell = 'mkdir gone; cd gone; rmdir ../gone; exec "$@"'
    words = ["sh", "-c", shell, "sh", *scene.command, "doctor", "--json"]
    done = subprocess.run(words, cwd=scene.work, env=scene.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["checks"][0]["message"] == "the working directory no longer exists"


def test_a_missing_or_outdated_git_is_reported(sick: CommandSandbox) -> None:
    programs = sick.root / "bin"
    programs.mkdir()
    (programs / "sh").symlink_to("/bin/sh")
    assert problems(sick, env={"PATH": str(programs)}) == ["the program `git` was not found on PATH"]

    (programs / "git").write_text("#!/bin/sh\necho git version 2.30.2\n")
    (programs / "git").chmod(0o755)
    assert problems(sick, env={"PATH": str(programs)})[0] == "git is too old for skillpm: git version 2.30.2"


def test_a_program_of_another_project_on_path_is_noted(scene: CommandSandbox) -> None:
    module, programs = scene.root / "node_modules/skillpm/cli.js", scene.root / "bin"
    module.parent.mkdir(parents=True)
    programs.mkdir()
    (programs / "skillpm").symlink_to(module)
    note = "`skillpm` on PATH is the program of another project"
    texts = {
        "#!/usr/bin/env node\nimport './main.js'\n": [note],
        "#!/srv/tools/bin/python3.12\nfrom skillpm.main import main\n": [note],
        "#!/bin/sh\n'''exec' '/srv/tools/bin/python' \"$0\" \"$@\"\n' '''\nimport skillpm\n": [note],
        "#!/srv/tools/bin/python\nfrom skillpm.cli.entry_point import main\n": [],
        "#!/usr/bin/env python3\nPK\3\4site-packages/skillpm/cli/entry_point.py": [],
        '#!/bin/sh\nexec mise x -- skillpm "$@"\n': [],
    }
    for text, expected in texts.items():
        module.write_text(text)
        module.chmod(0o755)
        assert notes(scene, env={"PATH": f"{programs}:{os.environ['PATH']}"}) == expected, text


def test_two_homes_are_reported(sick: CommandSandbox) -> None:
    sick.run("install", "-g", "testing", check=True)
    elsewhere = {"SKILLPM_HOME": str(sick.root / "other")}

    assert notes(sick, "-g", env=elsewhere)[:2] == [
        "you have two skills directories: ROOT/other is used, HOME/.agent-skills is ignored",
        "you have two manifests: the one in ROOT/other/.skillpm is used, the one in HOME/.config/skillpm is ignored",
    ]


def test_unmet_requirements_and_shadowed_skills_are_noted(sick: CommandSandbox) -> None:
    needy = "---\nname: needy\ndescription: D.\nrequires: [no-such-program]\n---\n"
    sick.write(".agent-skills/needy/SKILL.md", needy)
    sick.write_files(prefix_paths("../home/.agent-skills/mine", make_skill("mine", "Another one.")))
    sick.run("registry", "build", check=True)

    found = notes(sick)

    assert "needy has unmet requirements: no-such-program" in found
    assert [line for line in found if line.startswith("mine is hidden by WORK/.agent-skills/mine/SKILL.md")] != []


def test_rules_that_never_apply_are_noted(sick: CommandSandbox) -> None:
    manifest = json.loads(sick.read("skills.json"))
    manifest["permissions"] = {"deploy-*": "deny", "*": "allow"}
    sick.write("skills.json", json.dumps(manifest))

    assert "this rule never applies: `*` after it matches the same names" in notes(sick)


def test_a_skills_directory_that_is_a_link(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("real/mine", make_skill("mine")))
    (project.work / ".agent-skills").symlink_to("real")
    assert notes(project)[0] == "the skills directory is a link to WORK/real"

    (project.work / ".agent-skills").unlink()
    (project.work / ".agent-skills").symlink_to("../home")
    assert problems(project) == ["WORK/.agent-skills is a link that points outside the project"]


def test_a_skills_directory_that_is_a_file(project: CommandSandbox) -> None:
    project.write(".agent-skills", "no folder")

    assert "the skills directory is not a folder" in problems(project)


def test_a_change_in_progress_is_not_a_problem(sick: CommandSandbox) -> None:
    interrupt(sick)
    with hold_lock(str(sick.work / OURS / "lock"), 1, "the test"):
        found = sick.run("doctor", "--json")
    output = [row["message"] for row in json.loads(found.stdout)["checks"] if row["id"] == "journal"]
    assert output == [f"a change is in progress (process {os.getpid()})"]
    assert problems(sick) == ["a change was interrupted"]


def test_doctor_works_without_any_skills(scene: CommandSandbox) -> None:
    assert problems(scene) == []
    assert scene.output("doctor", "--fix").splitlines()[0] == "no problems in HOME/.agent-skills; checked:"
    assert scene.snapshot("..") == {} or not (scene.home / ".agent-skills").exists()


def test_offline_a_skill_that_is_not_cached_cannot_be_restored(sick: CommandSandbox) -> None:
    skill_gone(sick)
    shutil.rmtree(sick.work / ".agent-skills/pdf")
    shutil.rmtree(sick.cache / "v1")

    result = sick.run("doctor", "--fix", "--offline")

    assert result.code == 1
    assert "not cached, and the network is disabled: pdf" in result.stderr
    assert sick.run("registry", "check").code == 0, "the registry at least is true"
    assert sick.run("doctor", "--fix").code == 0


def test_fix_fetches_a_missing_skill(sick: CommandSandbox, upstream: Repository) -> None:
    shutil.rmtree(sick.cache / "v1")
    shutil.rmtree(sick.work / ".agent-skills/pdf")

    sick.run("doctor", "--fix", check=True)

    assert sick.read(".agent-skills/pdf/SKILL.md").encode() == upstream.read_files("skills/pdf")["SKILL.md"][1]
    assert sick.read_json("skills.json") != manifest_text()
