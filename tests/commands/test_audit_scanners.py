"""Other scanners: commands of the user that write SARIF. Their findings block as those of skillpm's own rules."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from commands.scene import CommandSandbox
from kit import Repository, make_skill, prefix_paths

SCANNER = """\
import json, os, pathlib, stat, sys
folder = pathlib.Path(sys.argv[1])
seen = {
    str(path.relative_to(folder)): [oct(path.stat().st_mode & 0o111), path.read_text()]
    for path in folder.rglob("*") if path.is_file()
}
print("looking at it", file=sys.stderr)
pathlib.Path(os.environ["SEEN"]).write_text(json.dumps([folder.name, oct(folder.parent.stat().st_mode & 0o777), seen]))
log = os.environ["SARIF"].replace("FOLDER", str(folder))
if len(sys.argv) > 2:
    pathlib.Path(sys.argv[2]).write_text(log)
else:
    print(log)
sys.exit(int(os.environ.get("CODE", "0")))
"""
RESULT = {
    "ruleId": "EXFIL",
    "level": "error",
    "message": {"text": "sends files away"},
    "locations": [{"physicalLocation": {"artifactLocation": {"uri": "scripts/read.sh"}, "region": {"startLine": 2}}}],
}


def sarif(*results: Any, rules: Any = ()) -> str:
    run = {"tool": {"driver": {"name": "x", "rules": [*rules]}}, "results": [*results]}
    return json.dumps({"version": "2.1.0", "runs": [run]})


class Scanned:
    """A project in whose configuration a scanner is, and what installing a skill says."""

    def __init__(self, project: CommandSandbox, url: str) -> None:
        self.project, self.url = project, url
        self.script = project.root / "scan.py"
        self.script.write_text(SCANNER)
        self.configure([sys.executable, str(self.script), "{path}"])

    def configure(self, command: list[str], more: str = "") -> None:
        folder = self.project.home / ".config/skillpm"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(f"[audit.scanners.acme]\ncommand = {json.dumps(command)}\n{more}")

    def install(self, log: str, code: int = 0) -> list[str]:
        """Return the problems of an install, each in one line; none if it succeeds."""
        env = {"SARIF": log, "CODE": str(code), "SEEN": str(self.project.root / "seen.json")}
        result = self.project.run("install", f"{self.url}@pdf", "--json", env=env)
        assert [*self.project.cache.rglob("scan-*")] == []
        if not result.code:
            return []
        return [f"{each['rule']}: {each['where']}: {each['message']}" for each in result.json["error"]["problems"]]


@pytest.fixture
def scanned(project: CommandSandbox, url: str) -> Scanned:
    return Scanned(project, url)


def test_a_scanner_sees_the_files_in_a_private_folder_without_executable_bits(scanned: Scanned) -> None:
    assert scanned.install(sarif()) == []

    name, mode, seen = json.loads((scanned.project.root / "seen.json").read_text())
    assert (name, mode) == ("pdf", "0o700")
    assert seen["scripts/read.sh"] == ["0o0", "#!/bin/sh\necho read\n"]
    assert [*seen] == ["SKILL.md", "scripts/read.sh"]


@pytest.mark.parametrize("code", [0, 1])
def test_an_error_of_a_scanner_blocks_whatever_its_exit_code(scanned: Scanned, code: int) -> None:
    assert scanned.install(sarif(RESULT), code) == ["acme/EXFIL: scripts/read.sh:2: sends files away"]


@pytest.mark.parametrize("uri", ["file://FOLDER/SKILL.md", "FOLDER/SKILL.md", "pdf/SKILL.md", "./SKILL.md"])
def test_places_are_shown_as_places_in_the_skill(scanned: Scanned, uri: str) -> None:
    place = {"physicalLocation": {"artifactLocation": {"uri": uri}}}

    assert scanned.install(sarif({**RESULT, "locations": [place]})) == ["acme/EXFIL: SKILL.md: sends files away"]


def test_levels_are_those_of_the_result_or_of_its_rule(scanned: Scanned) -> None:
    rules = [{"id": "A", "defaultConfiguration": {"level": "error"}}, {"id": "B"}]
    results = [{"ruleId": rule, "message": {"text": "found"}} for rule in ("A", "B", "C")]

    assert scanned.install(sarif(*results, {**RESULT, "level": "note"}, rules=rules)) == ["acme/A: : found"]


def test_a_rule_may_be_named_by_its_index(scanned: Scanned) -> None:
    rules = [{"id": "OTHER"}, {"id": "EXFIL", "defaultConfiguration": {"level": "error"}}]
    unnamed = {key: value for key, value in RESULT.items() if key not in {"ruleId", "level"}}
    expected = ["acme/EXFIL: scripts/read.sh:2: sends files away"]

    assert scanned.install(sarif({**unnamed, "ruleIndex": 1}, rules=rules)) == expected
    assert scanned.install(sarif({**unnamed, "rule": {"index": 1}}, rules=rules)) == expected
    assert scanned.install(sarif({**unnamed, "rule": {"id": "EXFIL"}}, rules=rules)) == expected


def test_a_result_that_is_no_failure_does_not_block_by_default(scanned: Scanned) -> None:
    rules = [{"id": "EXFIL", "defaultConfiguration": {"level": "error"}}]
    passed = {key: value for key, value in RESULT.items() if key != "level"} | {"kind": "pass"}

    assert scanned.install(sarif(passed, rules=rules)) == []


def test_its_rules_are_named_with_the_scanner(scanned: Scanned) -> None:
    note = {**RESULT, "level": "note"}
    scanned.configure([sys.executable, str(scanned.script), "{path}"], '[audit]\nblock = ["acme/EXFIL"]\n')

    assert len(scanned.install(sarif(note))) == 1
    env = {"SARIF": sarif(note), "SEEN": "/dev/null"}
    scanned.project.run("install", f"{scanned.url}@pdf", "--allow", "acme/EXFIL", env=env, check=True)


def test_a_scanner_may_write_a_file_instead(scanned: Scanned) -> None:
    scanned.configure([sys.executable, str(scanned.script), "{path}", "{output}"])

    assert scanned.install(sarif(RESULT)) == ["acme/EXFIL: scripts/read.sh:2: sends files away"]


def test_a_pipe_in_place_of_its_file_does_not_block(scanned: Scanned) -> None:
    scanned.configure([sys.executable, "-c", "import os, sys; os.mkfifo(sys.argv[1])", "{output}", "{path}"])

    (problem,) = scanned.install("")

    assert problem == (
        "acme: : the scanner `acme` failed: it exited with 0 without valid SARIF: its output is not a regular file"
    )


def test_texts_of_a_scanner_are_shown_without_control_characters(scanned: Scanned) -> None:
    (problem,) = scanned.install(sarif({**RESULT, "ruleId": "A\x1b[2J", "message": {"text": "a\nb\x1b]0;x\x07"}}))

    assert problem == "acme/A\\x1b[2J: scripts/read.sh:2: a\\nb\\x1b]0;x\\x07"


@pytest.mark.parametrize(
    ("log", "code", "reason"),
    [
        ("Traceback", 3, "it exited with 3 without valid SARIF: looking at it"),
        ('{"runs": []}', 0, "it exited with 0 without valid SARIF: looking at it"),
        ('{"runs": [{"results": null}]}', 0, "it exited with 0 without valid SARIF: looking at it"),
        ('{"runs": [{}]}', 0, "it exited with 0 without valid SARIF: looking at it"),
        ('{"version": "2.1.0"}', 0, "it exited with 0 without valid SARIF: looking at it"),
    ],
)
def test_a_scanner_that_fails_refuses_the_skill(scanned: Scanned, log: str, code: int, reason: str) -> None:
    assert scanned.install(log, code) == [f"acme: : the scanner `acme` failed: {reason}"]


@pytest.mark.parametrize(
    ("command", "more", "reason"),
    [
        (["/no/such/scanner", "{path}"], "", "`/no/such/scanner` cannot be run: No such file or directory"),
        (["sh", "-c", "sleep 60; : {path}"], 'timeout = "1 second"\n', "it took longer than 1 seconds"),
        (["sh", "-c", "setsid sleep 5 & : {path}"], "", "it exited with 0 without valid SARIF: invalid JSON"),
        (["sh", "-c", "yes {path}"], "", "it printed more than 20 MB"),
        (["sh", "-c", "yes {path} >&2"], "", "it printed more than 20 MB"),
    ],
)
def test_a_command_that_cannot_answer_is_ended(scanned: Scanned, command: list[str], more: str, reason: str) -> None:
    scanned.configure(command, more)

    (problem,) = scanned.install("")

    assert problem.startswith(f"acme: : the scanner `acme` failed: {reason}")


def test_a_manifest_cannot_name_a_command(project: CommandSandbox, url: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    scanners = {"x": {"command": ["sh", "-c", f"touch {trace}; {{path}}"]}}
    project.write("skills.json", json.dumps({"skills": {}, "audit": {"scanners": scanners}}))

    assert project.run("install", f"{url}@pdf", "--json").json["error"]["message"] == (
        "unknown key `scanners`; known keys: block, allow"
    )
    assert not trace.exists()


def test_nothing_is_scanned_if_nothing_is_new(scanned: Scanned, upstream: Repository) -> None:
    assert scanned.install(sarif()) == []

    assert scanned.project.run("sync", env={"SARIF": "no SARIF"}).code == 0
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", "Reads more."))).commit()
    assert scanned.project.run("update", env={"SARIF": "no SARIF", "SEEN": "/dev/null"}).code == 1


def test_the_name_of_a_folder_never_reaches_the_shell_of_a_scanner(scanned: Scanned) -> None:
    """A folder in a checkout has whatever name its author likes, and `sh -c` is a usual way to adapt a scanner."""
    folder = scanned.project.root / "$(touch stolen)"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: pdf\ndescription: Reads PDFs.\n---\nRead it.\n")
    scanned.configure(["sh", "-c", f"touch {scanned.project.root}/ran; cd {scanned.project.root}; ls {{path}}"])

    scanned.project.run("audit", str(folder), check=False)

    assert (scanned.project.root / "ran").exists()
    assert not (scanned.project.root / "stolen").exists()
