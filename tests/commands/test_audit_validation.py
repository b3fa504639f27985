"""New content is audited before it is installed or used. Findings block, so that nothing changes; exceptions pass."""

import json
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths

HIDDEN = "Be kind.\U000e0052\U000e0075\U000e006e\n"
TWO_LINES = f"{HIDDEN}And so on.\n{HIDDEN}"


@pytest.fixture
def evil(project: CommandSandbox, url: str, upstream: Repository) -> str:
    """Return the SPEC of a skill with text that people do not see."""
    upstream.write(prefix_paths("skills/evil", make_skill("evil", body=HIDDEN))).commit()
    return f"{url}@evil"


def configure(sandbox: CommandSandbox, text: str) -> None:
    (sandbox.home / ".config/skillpm").mkdir(parents=True, exist_ok=True)
    (sandbox.home / ".config/skillpm/config.toml").write_text(text)


def locked_digest(sandbox: CommandSandbox, spec: str) -> str:
    """Return the digest of a skill, as `lock` records it."""
    digest = sandbox.run("load", spec, "--allow", "hidden-text", "--json").json["digest"]
    assert isinstance(digest, str)
    return digest


def exception(digest: str, until: str = "2999-01-01", skill: str = "evil", rule: str = "hidden-text") -> str:
    return (
        f'[[audit.allow]]\nskill = "{skill}"\nrule = "{rule}"\ndigest = "{digest}"\nreason = "read"\nuntil = {until}\n'
    )


def test_a_skill_with_hidden_text_is_not_installed(project: CommandSandbox, evil: str, upstream: Repository) -> None:
    before = project.full_snapshot

    output = project.output("install", evil)

    commit = upstream.resolve("main")
    assert output == expected_output(f"""\
! error: `evil` is refused: hidden-text: SKILL.md:5: invisible tag letters spell `Run`
!   hint: nothing was changed; `skillpm audit 'URL#{commit}@evil'` shows all; `--allow hidden-text`, or \
[[audit.allow]] in config.toml, installs it
[1]
""")
    shown = project.run("audit", f"{evil.removesuffix('@evil')}#{commit}@evil")
    assert (shown.code, "hidden-text" in shown.stdout) == (1, True)
    assert project.full_snapshot == before


def test_a_refusal_is_one_line_however_much_is_found(project: CommandSandbox, url: str, upstream: Repository) -> None:
    upstream.write(prefix_paths("skills/evil", make_skill("evil", body=TWO_LINES))).commit()

    first, hint = project.run("install", f"{url}@evil").error_output.splitlines()

    assert first == "error: `evil` is refused: hidden-text: SKILL.md:5: invisible tag letters spell `Run`; and 1 more"
    assert hint.endswith("shows all; `--allow hidden-text`, or [[audit.allow]] in config.toml, installs it")


def test_a_dry_run_says_what_would_be_refused(project: CommandSandbox, url: str, upstream: Repository) -> None:
    upstream.write(prefix_paths("skills/evil", make_skill("evil", body=TWO_LINES))).commit()
    arguments = ("install", f"{url}@evil", f"{url}@pdf", "--dry-run")
    refused = "evil` would be refused: hidden-text: SKILL.md:5: invisible tag letters spell `Run`; and 1 more"

    result = project.run(*arguments)
    allowed = project.run(*arguments, "--allow", "hidden-text")

    assert (result.code, result.error_output) == (0, f"warning: `{refused}\n")
    warning = "evil: audit: hidden-text (2); `skillpm audit evil` shows them"  # as the run itself says
    assert (allowed.code, allowed.error_output) == (0, f"warning: {warning}\n")


def test_all_findings_of_all_skills_are_in_json(project: CommandSandbox, url: str, upstream: Repository) -> None:
    upstream.write(
        prefix_paths("skills/one", make_skill("one", body=TWO_LINES))
        | prefix_paths("skills/two", make_skill("two") | {"notes.md": HIDDEN})
    ).commit()

    error = project.run("install", f"{url}@one", f"{url}@two", f"{url}@pdf", "--json").json["error"]

    assert (error["code"], error["skills"]) == ("not-trusted", ["one", "two"])
    assert [(each["skill"], each["kind"], each["rule"], each["where"]) for each in error["problems"]] == [
        ("one", "audit", "hidden-text", "SKILL.md:5"),
        ("one", "audit", "hidden-text", "SKILL.md:7"),
        ("two", "audit", "hidden-text", "notes.md:1"),
    ]
    assert error["hint"].count("--allow hidden-text") == 2  # once a skill


def test_sync_and_update_and_use_are_refused_too(
    project: CommandSandbox, url: str, evil: str, upstream: Repository
) -> None:
    project.run("install", f"{url}@pdf", check=True)
    upstream.write({"skills/pdf/notes.md": HIDDEN}).commit()

    assert project.run("update").code == 1
    assert project.run("load", evil).code == 1
    project.run("lock", "--upgrade", check=True)
    assert project.run("sync", "--frozen").code == 1
    assert not project.exists(".agent-skills/pdf/notes.md")


def test_the_finding_may_be_allowed_once(project: CommandSandbox, evil: str) -> None:
    project.run("install", evil, "--allow", "hidden-text", check=True)

    assert project.exists(".agent-skills/evil/SKILL.md")
    assert project.run("sync").code == 0  # nothing new, so that nothing is audited


def test_an_unknown_rule_cannot_be_allowed(project: CommandSandbox, evil: str) -> None:
    assert project.output("install", evil, "--allow", "hidden-txt") == expected_output("""\
! error: the audit has no rule `hidden-txt`
!   where: --allow
!   hint: did you mean `hidden-text`?
[1]
""")


def test_an_exception_of_the_user_lets_this_content_pass(project: CommandSandbox, evil: str) -> None:
    configure(project, exception(locked_digest(project, evil)))

    project.run("install", evil, check=True)


@pytest.mark.parametrize("values", [{"skill": "other"}, {"rule": "widens"}, {"digest": "sha256:" + "0" * 64}])
def test_an_exception_for_something_else_does_not(project: CommandSandbox, evil: str, values: dict[str, str]) -> None:
    configure(project, exception(**{"digest": locked_digest(project, evil), **values}))

    assert project.run("install", evil).code == 1


def test_an_exception_that_has_ended_is_reported_and_void(project: CommandSandbox, evil: str) -> None:
    configure(project, exception(locked_digest(project, evil), until="2020-02-02"))

    result = project.run("install", evil)

    assert result.code == 1
    assert project.add_placeholders(" ".join(result.error_output.split())).startswith(
        "warning: HOME/.config/skillpm/config.toml: audit.allow.0: the exception for `evil` (hidden-text) ended on "
        "2020-02-02, and no longer applies error:"
    )


def project_exception(digest: str) -> str:
    allow = [{"skill": "evil", "rule": "hidden-text", "digest": digest, "reason": "trust me"}]
    return json.dumps({"skills": {}, "audit": {"allow": allow}})


def test_a_pull_request_cannot_make_an_exception_for_itself(project: CommandSandbox, evil: str) -> None:
    project.write("skills.json", project_exception(locked_digest(project, evil)))

    assert project.run("install", evil).code == 1


@pytest.mark.parametrize(
    ("trust", "code"), [("true", 0), ("false", 1), ('["WORK"]', 0), ('["ROOT"]', 0), ('["WORK/x"]', 1), ('["~/x"]', 1)]
)
def test_exceptions_of_a_project_count_where_the_user_trusts_it(
    project: CommandSandbox, evil: str, trust: str, code: int
) -> None:
    project.write("skills.json", project_exception(locked_digest(project, evil)))
    trust = trust.replace("WORK", str(project.work)).replace("ROOT", str(project.root))
    configure(project, f"[audit]\ntrust-project = {trust}\n")

    assert project.run("install", evil).code == code


def test_a_manifest_blocks_what_the_user_does_not(project: CommandSandbox, evil: str) -> None:
    configure(project, "[audit]\nblock = []\n")
    project.write("skills.json", '{"skills": {}, "audit": {"block": ["hidden-text"]}}')
    assert project.run("install", evil).code == 1

    project.write("skills.json", '{"skills": {}, "audit": {"block": []}}')
    project.run("install", evil, check=True)


def test_what_does_not_block_is_one_line_for_each_skill(
    project: CommandSandbox, url: str, upstream: Repository
) -> None:
    configure(project, "[audit]\nblock = []\n")
    upstream.write(prefix_paths("skills/one", make_skill("one", body=TWO_LINES))).commit()

    result = project.run("install", f"{url}@one", check=True)

    assert result.error_output.splitlines()[0] == (
        "warning: one: audit: hidden-text (2); `skillpm audit one` shows them"
    )


def test_many_skills_with_warnings_share_a_line(project: CommandSandbox, url: str, upstream: Repository) -> None:
    configure(project, "[audit]\nblock = []\n")
    for number in range(6):
        upstream.write(prefix_paths(f"more/s{number}", make_skill(f"s{number}", body=HIDDEN)))
    upstream.commit()

    result = project.run("install", *(f"{url}@s{number}" for number in range(6)), check=True)

    warnings = [line for line in result.error_output.splitlines() if line.startswith("warning")]
    assert warnings == ["warning: audit: findings in 6 skills: hidden-text (6); `skillpm audit` shows them"]


def test_an_update_does_not_repeat_warnings(project: CommandSandbox, url: str, upstream: Repository) -> None:
    configure(project, "[audit]\nblock = []\n")
    upstream.write(prefix_paths("skills/one", make_skill("one", body=HIDDEN))).commit()
    project.run("install", f"{url}@one", check=True)
    upstream.write({"skills/one/notes.md": "More.\n"}).commit()

    assert "audit" not in project.run("update", check=True).error_output


@pytest.mark.parametrize(
    ("file", "line", "text"),
    [
        ("HOME/.config/skillpm/config.toml", "2:1", '[audit]\nblock = ["hiden-text"]\n'),
        ("WORK/skills.policy.toml", "4:1", 'version = 1\n\n[audit]\nblock = ["hiden-text"]\n'),
        ("WORK/skills.json", "1:26", '{"skills": {}, "audit": {"block": ["hiden-text"]}}'),
    ],
)
def test_a_rule_that_does_not_exist_is_an_error(
    project: CommandSandbox, url: str, file: str, line: str, text: str
) -> None:
    project.run("install", f"{url}@pdf", check=True)
    path = Path(file.replace("HOME", str(project.home)).replace("WORK", str(project.work)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)

    for command in (["load", f"{url}@pdf"], ["audit"], ["load", "pdf"], ["policy", "check"]):
        assert project.output(*command) == expected_output(f"""\
! error: the audit has no rule `hiden-text`
!   where: {file}:{line}: audit.block
!   hint: did you mean `hidden-text`?
[1]
"""), command


def test_an_import_is_refused_and_allowed_like_an_install(project: CommandSandbox, evil: str) -> None:
    source = evil.removesuffix("@evil")
    skills = {"evil": {"source": source, "sourceType": "git", "computedHash": ""}}
    project.write("skills-lock.json", json.dumps({"version": 1, "skills": skills}))

    assert project.run("import", "--json").json["error"]["problems"][0]["rule"] == "hidden-text"
    project.run("import", "--allow", "hidden-text", check=True)
    assert project.exists(".agent-skills/evil/SKILL.md")


def test_what_the_root_of_a_workspace_blocks_is_blocked_in_its_members(project: CommandSandbox, evil: str) -> None:
    configure(project, "[audit]\nblock = []\n")
    project.write("skills.json", '{"skills": {}, "members": ["a"], "audit": {"block": ["hidden-text"]}}')
    project.write("a/skills.json", '{"skills": {}}')

    assert project.run("install", evil, cwd="a").code == 1
    project.write("skills.json", '{"skills": {}, "members": ["a"]}')
    project.run("install", evil, cwd="a", check=True)


def test_nothing_is_written_for_any_member_if_one_skill_is_refused(project: CommandSandbox, evil: str) -> None:
    url = evil.removesuffix("@evil")
    project.write("skills.json", json.dumps({"skills": {"pdf": {"git": url}}, "members": ["a"]}))
    project.write("a/skills.json", json.dumps({"skills": {"evil": {"git": url}}}))

    assert project.run("sync", "--json").json["error"]["skills"] == ["evil"]
    assert not project.exists("skills.lock")
    assert not project.exists(".agent-skills/pdf")


@pytest.mark.parametrize("rule", ["mixed-scripts", "obfuscated-command"])
def test_a_rule_of_an_earlier_version_may_still_be_named(project: CommandSandbox, url: str, rule: str) -> None:
    warning = f"warning: the audit has no rule `{rule}` any more, so naming it has no effect: "

    assert warning in project.run("install", f"{url}@pdf", "--allow", rule, check=True).error_output
    for text in (
        f'[audit]\nblock = ["{rule}", "high"]\n',
        f'[audit]\nwarn = ["{rule}"]\n',
        exception("sha256:" + "0" * 64, rule=rule),
    ):
        configure(project, text)
        assert warning in project.run("audit", "pdf", check=True).error_output
    project.write("skills.json", json.dumps({"skills": {}, "audit": {"block": [rule]}}))
    assert warning in project.run("install", f"{url}@pdf", check=True).error_output
    assert project.run("audit", "--explain", rule).error_output.startswith(
        f"error: the audit has no rule `{rule}` any more\n  hint: "
    )


@pytest.mark.parametrize(
    ("settings", "is_audited"),
    [
        ("block = []\nwarn = []", False),
        ('block = ["widens"]\nwarn = []', False),
        ('block = ["acme/RULE"]\nwarn = []\n[audit.scanners.acme]\ncommand = ["true", "{path}"]', False),
        ("block = []", True),
        ('block = ["pickle"]\nwarn = []', True),
    ],
)
def test_nothing_is_audited_if_no_rule_can_block_or_warn(
    project: CommandSandbox, evil: str, settings: str, *, is_audited: bool
) -> None:
    configure(project, f"[audit]\n{settings}\n")

    project.run("install", evil, "--allow", "hidden-text")

    verdicts = project.home.parent.glob("**/verdicts/*")
    assert any("findings" in path.read_text() for path in verdicts) is is_audited
