"""`load`, `prompt`, `search`, `projects`, `list --tokens`: what agents get from the shell."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output, nested_keys
from kit import make_skill, prefix_paths

from skillpm import Registry, SkillService
from skillpm.cli.main import COMMANDS, HIDDEN_COMMANDS


@pytest.fixture
def full(project: CommandSandbox) -> CommandSandbox:
    """Return a project with three local skills."""
    pdf = make_skill("pdf", "Reads PDF files.", "Read.\n", triggers=["pdf"], category="documents")
    web = make_skill("web", "Opens pages.", trigger="browse", **{"mcp-web": "sh web --headless"}, requires=["sh"])
    deploy = make_skill("deploy-prod", "Ships.", triggers=["ship", "pdf"], requires=["no-such-program"])
    project.write_files(prefix_paths(".agent-skills/pdf", pdf | {"notes.md": ""}))
    project.write_files(prefix_paths(".agent-skills/web", web) | prefix_paths(".agent-skills/deploy-prod", deploy))
    project.run("registry", "build", check=True)
    return project


def permit(scene: CommandSandbox, **permissions: str) -> None:
    rules = {name.replace("_", "-"): action for name, action in permissions.items()}
    scene.write("skills.json", json.dumps({"skills": {}, "permissions": rules}))


def test_load_gives_the_instructions(full: CommandSandbox) -> None:
    assert full.output("load", "pdf") == expected_output("""\
<skill_content name="pdf">
# Skill: pdf

Base directory: WORK/.agent-skills/pdf
Relative paths below are relative to it.

Read.

<skill_files>
<file>notes.md</file>
</skill_files>
</skill_content>
""")
    assert full.output("load", "pdf", "--style", "opencode") == expected_output("""\
## Skill: pdf

**Base directory**: WORK/.agent-skills/pdf

Read.
""")


def test_load_as_json(full: CommandSandbox) -> None:
    loaded = full.json_output("load", "PDF", "--style", "glm", "--mode", "full")

    assert list(loaded.items()) == [
        ("name", "pdf"),
        ("title", "Loaded skill: pdf"),
        ("text", "\n**Loaded Skill: pdf**\n\nRead.\n\n---\n*Skill loaded from: WORK/.agent-skills/pdf/SKILL.md*\n"),
        ("directory", "WORK/.agent-skills/pdf"),
        ("files", ["notes.md"]),
        ("mode", "full"),
        ("style", "glm"),
        ("truncated", False),
        ("references", []),
        ("commands", []),
        ("tokens", loaded["tokens"]),
        ("saved", 0.0),
        ("missing", []),
    ]
    assert loaded["tokens"] > 20  # a path is in the text, and of any length


def test_unmet_requirements_are_reported_before_a_skill_is_used(project: CommandSandbox) -> None:
    needs = "requires: {bins: [git, no-such-program], env: [NO_SUCH_TOKEN]}"
    project.write("drafts/chart/SKILL.md", f"---\nname: chart\ndescription: Draws.\n{needs}\n---\nDraw.\n")
    project.write("drafts/maps/SKILL.md", "---\nname: maps\ndescription: Maps.\nrequires: no-such-map\n---\nMap.\n")
    project.write("drafts/plot/SKILL.md", "---\nname: plot\ndescription: Plots.\nrequires: no-such-plot\n---\nPlot.\n")
    unmet = "no-such-program, $NO_SUCH_TOKEN"

    one = project.run("install", "./drafts/chart", check=True)
    two = project.run("install", "./drafts/maps", "./drafts/plot", check=True)
    loaded = project.run("load", "chart", check=True)

    assert one.stderr.splitlines()[0] == f"warning: chart has unmet requirements: {unmet}"
    assert two.stderr == "warning: 2 skills have unmet requirements: maps (no-such-map), plot (no-such-plot)\n"
    assert loaded.stderr == f"warning: chart has unmet requirements: {unmet}\n"
    assert project.json_output("load", "chart")["missing"] == ["no-such-program", "$NO_SUCH_TOKEN"]
    service = SkillService(Registry.load(project.work / ".agent-skills"))
    assert service.load("chart").missing == ("no-such-program", "$NO_SUCH_TOKEN")
    assert service.call({"name": "chart"}).text.startswith(f'Skill "chart" needs what is missing here: {unmet}\n\n')
    opencode = SkillService(Registry.load(project.work / ".agent-skills"), style="opencode")
    assert opencode.call({"name": "chart"}).text.startswith("## Skill: chart\n")


def test_load_puts_arguments_in(full: CommandSandbox) -> None:
    full.write_files(prefix_paths(".agent-skills/fix", make_skill("fix", body="Fix $0 as $ARGUMENTS.\n")))

    assert full.output("load", "fix", "--style", "omega", "--", "a b", "--high") == "Fix a b as a b --high.\n"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pfd", "! error: skill `pfd` not found\n!   hint: did you mean `pdf`?\n[1]\n"),
        ("zzz", "! error: skill `zzz` not found\n!   hint: run `skillpm list` to see the available skills\n[1]\n"),
        ("", "! error: skill `` not found\n!   hint: run `skillpm list` to see the available skills\n[1]\n"),
    ],
)
def test_a_missing_skill_is_reported_with_similar_names(full: CommandSandbox, name: str, expected: str) -> None:
    assert full.output("load", name) == expected


def test_a_text_is_cut_at_the_length_that_is_wanted(full: CommandSandbox) -> None:
    whole = full.json_output("load", "pdf")
    cut = full.json_output("load", "pdf", "--max-length", "2")

    assert (whole["truncated"], cut["truncated"]) == (False, True)
    assert "[... truncated ...]" in cut["text"]


def test_the_users_settings_say_how_much_is_served(full: CommandSandbox) -> None:
    full.run("config", "set", "serving.max-length", "2", check=True)
    full.run("config", "set", "serving.mode", "full", check=True)

    loaded = full.json_output("load", "pdf")
    chosen = full.json_output("load", "pdf", "--max-length", "999", "--mode", "compact", "--style", "supercode")

    assert (loaded["mode"], loaded["truncated"]) == ("full", True)
    assert (chosen["mode"], chosen["truncated"]) == ("compact", False)
    prompt = full.output("prompt", "--style", "supercode")
    assert prompt == full.output("prompt", "--style", "supercode", "--mode", "full")
    assert prompt != full.output("prompt", "--style", "supercode", "--mode", "compact")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mode = 'short'", 'error: expected one of full, compact, toon, got "short"'),
        ("max-length = 0", "error: expected a number of characters above 0, got 0"),
        ("max-length = true", "error: expected a whole number, got true"),
        ("length = 1", "error: unknown key `length`; did you mean `max-length`?"),
    ],
)
def test_an_invalid_setting_for_what_is_served_is_named(full: CommandSandbox, line: str, message: str) -> None:
    full.write("../home/.config/skillpm/config.toml", f"[serving]\n{line}\n")

    done = full.run("load", "pdf")

    assert (done.code, done.stdout, done.stderr.splitlines()[0]) == (1, "", message)
    assert f"config.toml:2:1: serving.{line.partition(' ')[0]}" in done.stderr.splitlines()[1]
    assert full.run("config", "list").stderr == done.stderr


def test_the_paths_of_visible_skills_are_listed(full: CommandSandbox) -> None:
    lines = full.output("list", "--path").splitlines()

    assert "pdf\tWORK/.agent-skills/pdf/SKILL.md" in lines
    assert all(line.count("\t") == 1 for line in lines)


def test_the_events_of_the_service_are_shown_if_wanted(full: CommandSandbox) -> None:
    assert full.run("load", "pdf", "-v").stderr == "Loaded skill: pdf (mode full)\n"
    assert full.run("load", "pdf").stderr == ""


def test_prompt(full: CommandSandbox) -> None:
    assert full.output("prompt", "--style", "supercode", "--mode", "compact") == expected_output("""\
# Available Skills

## general

- **deploy-prod**: Ships. (not usable here: needs no-such-program)
- **web**: Opens pages.

## documents

- **pdf**: Reads PDF files.
""")
    value = full.json_output("prompt", "--budget", "70")
    assert nested_keys(value) == ["style", "skills", "tokens", "text", "leftOut", "namedOnly", "shortened"]
    assert value["tokens"] <= 70
    assert value["skills"] + value["leftOut"] == 3
    assert full.run("prompt", "--style", "supercode", "--budget", "60").stderr == ""


def test_the_effect_of_a_token_budget_is_reported(full: CommandSandbox) -> None:
    full.write_files(prefix_paths(".agent-skills/pdf", make_skill("pdf", "Reads PDF files. " * 20, triggers=["pdf"])))

    assert full.run("prompt", "--style", "supercode", "--budget", "60").stderr == (
        "1 description shortened to fit the budget\n"
    )
    assert full.json_output("prompt", "--style", "supercode", "--budget", "60")["shortened"] == 1
    assert "did not fit the budget" in full.run("prompt", "--budget", "10").stderr


def test_the_manifest_and_the_task_decide_what_a_budget_keeps(project: CommandSandbox) -> None:
    for number in range(10, 100):
        name = f"paint-{number}"
        project.write_files(prefix_paths(f".agent-skills/{name}", make_skill(name, f"Paints walls in color {number}.")))
    project.write("skills.json", '{"skills": {}, "priority": ["paint-2?", "paint-11"]}')

    few = project.json_output("prompt", "--budget", "120")
    assert set(re.findall(r"- paint-(..):", few["text"])) <= {f"2{digit}" for digit in range(10)}
    assert few["skills"] - few["namedOnly"] == len(re.findall("- paint-2.:", few["text"]))
    assert project.output("prompt", "--budget", "120").endswith(
        f"{few['leftOut']} more skills are not listed. Search for what a task needs: with `query` in the tool `skill`, "
        "or `skillpm search --installed WORDS`.\n</available_skills>\n"
        f"! {few['namedOnly']} skills listed by name alone\n"
        f"! warning: {few['leftOut']} of 90 skills did not fit the budget\n"
    )
    for_task = project.json_output("prompt", "--budget", "120", "--for", "color 75")
    assert for_task["text"].splitlines()[1] == "- paint-75: Paints walls in color 75."


def test_prompt_of_nothing_is_nothing(project: CommandSandbox) -> None:
    assert project.output("prompt") == ""
    nothing = {"style": "default", "skills": 0, "tokens": 0, "text": "", "leftOut": 0, "namedOnly": 0, "shortened": 0}
    assert project.json_output("prompt") == nothing


def test_match(full: CommandSandbox) -> None:
    assert full.output("search", "--triggers", "Browse a PDF and ship it") == expected_output("""\
pdf
web
mcp web: sh web --headless
! deploy-prod matches, but needs no-such-program
""")
    assert full.json_output("search", "--triggers", "browse") == {
        "skills": ["web"],
        "mcpServers": [{"name": "web", "command": "sh", "args": ["web", "--headless"]}],
        "unusable": [],
    }
    assert full.json_output("search", "--triggers", "ship")["unusable"] == [
        {"name": "deploy-prod", "needs": ["no-such-program"]}
    ]
    assert full.output("search", "--triggers", "--whole-words", "pdfs") == "! no trigger matches that message\n"


def test_search(full: CommandSandbox) -> None:
    assert full.output("search", "reads", "files", "--installed") == "pdf  installed  Reads PDF files.\n"
    assert full.output("search", "zzz", "--installed") == "! no results for `zzz`\n! searched 3 installed\n"
    assert full.json_output("search", "Pages", "--installed") == {
        "query": "Pages",
        "results": [
            {
                "name": "web",
                "description": "Opens pages.",
                "category": "general",
                "version": "",
                "source": "",
                "installed": True,
                "index": "",
                "tags": ["browse"],
                "spec": "",
            }
        ],
        "total": 1,
        "matched": "all",
        "meant": {},
        "near": [],
        "suggested": [],
        "indexes": [],
        "warnings": [],
    }


def test_projects(full: CommandSandbox) -> None:
    assert full.output("projects") == (
        "! no projects in WORK/.agent-skills; a project is a folder projects/NAME with ROLE.md\n"
    )
    full.write(".agent-skills/projects/stocks/ROLE.md", "---\nskills: [pdf, deploy-prod]\n---\nYou track.\nDaily.\n")
    full.write("../home/.omega/projects/nutrition/ROLE.md", "You coach.\n")

    assert full.output("projects") == "stocks: You track.\n"
    assert full.output("projects", "stocks") == "You track.\nDaily.\n"
    assert full.output("projects", "--data-dir", "~/.omega") == "nutrition: You coach.\n"
    assert full.output("projects", "stoks") == expected_output("""\
! error: no project named `stoks`
!   hint: did you mean `stocks`?
[1]
""")
    assert full.json_output("projects") == {
        "projects": [
            {
                "name": "stocks",
                "path": "WORK/.agent-skills/projects/stocks/ROLE.md",
                "instructions": "You track.\nDaily.",
                "skills": ["pdf", "deploy-prod"],
            }
        ]
    }


def test_list_shows_token_counts(full: CommandSandbox) -> None:
    assert full.output("list", "--tokens") == expected_output("""\
             at start  when loaded
deploy-prod         6            3
pdf                 5            2
web                 5            3
                   16            8
""")
    value = full.json_output("list", "--tokens")
    assert value["startTokens"] == 16
    assert [skill["startTokens"] for skill in value["skills"]] == [6, 5, 5]


# Permissions


def test_a_denied_skill_is_refused_and_the_rule_named(full: CommandSandbox) -> None:
    permit(full, **{"deploy-*": "deny"})

    assert full.output("load", "deploy-prod") == expected_output("""\
! error: `deploy-prod` is not allowed by permissions
!   where: WORK/skills.json: permissions.deploy-*
!   hint: the owner of that rule can change it
[1]
""")
    assert full.output("load", "deploy-nothing").replace("nothing", "prod") == full.output("load", "deploy-prod")
    assert full.run("load", "deploy-prod", "--json").json["error"]["code"] == "not-allowed"


def test_the_guide_says_of_every_command_whether_it_hides_denied_skills() -> None:
    page = (Path(__file__).parents[2] / "docs/guides/permissions.md").read_text(encoding="utf-8")
    hiding, naming = (
        set(re.findall(r"`([a-z]+)`", row.partition(", and ")[0]))
        for row in re.findall(r"(?m)^\| (?:Hide|Name) .*", page)
    )

    assert (hiding & naming, hiding | naming) == (set(), {*COMMANDS, *HIDDEN_COMMANDS})
    assert hiding == {"load", "prompt", "search", "projects", "mcp", "list", "show", "diff", "fit"}


@pytest.mark.slow
def test_no_command_for_agents_ever_names_a_denied_skill(full: CommandSandbox) -> None:
    full.write(".agent-skills/projects/ops/ROLE.md", "---\nskills: [pdf, deploy-prod]\n---\nWork.\n")
    full.write(".agent-skills/deploy-broken/SKILL.md", "words")
    commands = [
        ["list"], ["list", "--tokens"], ["prompt"], ["search", "--triggers", "ship pdf"], ["search", "ships"],
        ["search", "deploy"],
        ["load", "deplo"], ["load", "deploy-pro"], ["load", "prod"], ["load", "zzz"], ["load", "pdf"], ["projects"],
        ["projects", "ops"], ["mcp", "--check"], ["show", "deplo"], ["show", "depoy-prod"], ["diff", "depoy-prod"],
        ["show", "pdf"],
        *(["prompt", "--style", style] for style in ("opencode", "brutus", "glm", "supercode", "omega")),
        *(["load", "zzz", "--style", style] for style in ("opencode", "brutus", "glm", "supercode", "omega")),
    ]  # fmt: skip
    before = "".join(full.output(*words) for words in commands)
    permit(full, **{"deploy-*": "deny"})

    for words in commands:
        output = [full.output(*words), full.output(*words, "--json"), full.output(*words, "-v")]
        typed = [word for word in words if word.startswith("deploy-")]
        for word in typed:
            output = [part.replace(f"`{word}`", "") for part in output]
        shown = "".join(output).replace("permissions.deploy-*", "")
        assert re.search(r"(?<![\w-])deploy-", shown) is None, (
            words
        )  # public skills such as aiq-deploy may be suggested
    assert "deploy-prod" in before
    assert full.run("show", "deploy-prod").code == 1


def test_list_reports_hidden_skills_and_all_shows_them(full: CommandSandbox) -> None:
    permit(full, **{"deploy-*": "deny"})

    assert full.output("list") == expected_output("""\
pdf   [unmanaged] Reads PDF files.
web   [unmanaged] Opens pages.
! permissions hide 1 more; `skillpm list --all` shows them
""")
    assert [entry["name"] for entry in full.json_output("list", "--all")["skills"]] == ["deploy-prod", "pdf", "web"]


def test_a_skill_to_ask_for_is_refused_without_a_terminal(full: CommandSandbox) -> None:
    permit(full, pdf="ask")

    assert full.output("load", "pdf") == expected_output("""\
! error: `pdf` requires a person's approval, which cannot be requested here
!   where: WORK/skills.json: permissions.pdf
!   hint: to always allow it, add `"pdf": "allow"` after that rule
[1]
""")
    assert "pdf" in full.output("prompt")


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_in_a_terminal_a_person_is_asked(full: CommandSandbox, answer: bytes, code: int) -> None:
    permit(full, pdf="ask")
    ours, theirs = pty.openpty()
    os.write(ours, answer)

    done = subprocess.run(
        [sys.executable, "-m", "skillpm", "load", "pdf"],
        cwd=full.work, env=full.environment(), stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, check=False,
    )  # fmt: skip

    os.close(theirs)
    assert b"permissions require confirmation: load `pdf`?" in os.read(ours, 10_000)
    os.close(ours)
    assert (done.returncode, done.stdout.startswith(b"<skill_content")) == (code, code == 0)


def test_a_rule_that_never_applies_is_reported(full: CommandSandbox) -> None:
    permit(full, **{"deploy-*": "deny", "*": "allow"})

    assert full.output("search", "reads", "--installed").splitlines()[-1] == (
        "! warning: WORK/skills.json: permissions.deploy-*: this rule never applies: "
        "`*` after it matches the same names"
    )


def test_the_users_rules_and_the_manifests_both_count(full: CommandSandbox) -> None:
    config = full.home / ".config/skillpm/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[permissions]\n"deploy-*" = "deny"\n"*" = "allow"\n[permissions-for.build]\n"pdf" = "deny"\n')
    permit(full, **{"*": "allow", "web": "deny"})

    assert [skill["name"] for skill in full.json_output("list")["skills"]] == ["pdf"]
    assert full.output("search", "reads", "--installed") == "pdf  installed  Reads PDF files.\n"
    assert full.output("search", "reads", "--installed", "--profile", "build") == (
        "! no results for `reads`\n! searched 0 installed\n"
    )
    assert full.output("search", "reads", "--profile", "biuld") == expected_output("""\
! error: unknown profile `biuld`
!   where: HOME/.config/skillpm/config.toml
!   hint: define it as a table `[permissions-for.NAME]`; known profiles: build
[1]
""")


def test_an_invalid_rule_is_reported_with_its_location(full: CommandSandbox) -> None:
    full.write("skills.json", '{"skills": {}, "permissions": {"pdf": "maybe"}}')

    assert full.output("load", "pdf") == expected_output("""\
! error: expected allow, ask or deny, got "maybe"
!   where: WORK/skills.json:1:32: permissions.pdf
!   hint: fix the file by hand, or restore it from version control
[1]
""")


def test_what_is_disabled_is_not_served(full: CommandSandbox) -> None:
    manifest = '{"skills": {}, "agents": ["codex", "cursor"], "disabled": {"pdf": true, "web": ["codex"]}}'
    full.write("skills.json", manifest)
    full.run("sync", check=True)

    assert full.json_output("prompt")["skills"] == 2
    assert (full.work / ".agents/skills/web").is_symlink()  # for Cursor, which reads the same folder as Codex
    assert full.json_output("prompt", "--agent", "cursor")["skills"] == 2
    assert full.json_output("prompt", "--agent", "codex")["skills"] == 1
    assert full.run("load", "pdf").code == 1
    assert full.run("load", "web").code == 0
    assert full.run("load", "web", "--agent", "codex").code == 1


def test_serving_writes_nothing(full: CommandSandbox) -> None:
    before = full.snapshot("..", ignore=["cache"])

    for words in (
        ["load", "pdf"],
        ["prompt"],
        ["search", "--triggers", "pdf"],
        ["search", "pdf"],
        ["projects"],
        ["list", "--tokens"],
    ):
        full.run(*words, check=True)

    assert full.snapshot("..", ignore=["cache"]) == before


def test_python_gives_the_same(full: CommandSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import json\nfrom skillpm import load_skill, open_service\nservice = open_service()\n"
        "matched = [card.name for card in service.match('pdf').skills]\n"
        "print(json.dumps([load_skill('pdf').text, service.prompt().text, matched]))"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], cwd=full.work, env=full.environment(), capture_output=True, text=True, check=True
    ).stdout

    loaded, prompt, matched = json.loads(output)
    assert loaded == full.run("load", "pdf", "--json").json["text"]
    assert prompt == full.run("prompt", "--json").json["text"]
    assert matched == ["pdf"]


@pytest.mark.parametrize("name", ["Registry", "SkillService", "load_skill", "open_service"])
def test_importing_from_the_package_loads_no_http_no_git_and_no_command_line(name: str, tmp_path: Path) -> None:
    code = f"from skillpm import {name}\nimport sys\nprint(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout

    heavy = {"click", "httpx", "git", "rich", "yaml", "tomllib", "asyncio", "pathspec", "packaging"}
    assert set(loaded.split()) & heavy == set()


def test_what_was_written_on_since_the_registry_was_built_is_served_as_it_is_now(full: CommandSandbox) -> None:
    pdf = make_skill("pdf", "Reads PDF files.", "Read.\n", triggers=["pdf"], disable_model_invocation=True)
    full.write_files(prefix_paths(".agent-skills/pdf", pdf))
    full.write_files(prefix_paths(".agent-skills/web", make_skill("web", "Opens pages now.", trigger="surf")))

    prompt = full.output("prompt", "--style", "opencode")

    assert "<name>web</name>" in prompt
    assert "Opens pages now." in prompt
    assert "pdf" not in prompt
    assert full.output("search", "--triggers", "surf") == "web\n"
    assert full.output("search", "--triggers", "browse") == "! no trigger matches that message\n"
    assert full.output("search", "--installed", "opens", "now") == "web  installed  Opens pages now.\n"


def test_a_skill_damaged_since_the_registry_was_built_is_reported_and_skipped(full: CommandSandbox) -> None:
    full.write(".agent-skills/web/SKILL.md", "---\nname: web\n")

    assert full.output("search", "--triggers", "browse") == expected_output("""\
! warning: web/SKILL.md: line 1: the frontmatter has no closing `---` line
! no trigger matches that message
""")


def test_where_no_skill_has_triggers_match_says_so(project: CommandSandbox) -> None:
    project.write_files(prefix_paths(".agent-skills/pdf", make_skill("pdf", "Reads PDF files.")))

    assert project.output("search", "--triggers", "read this pdf") == expected_output("""\
! no trigger matches that message: no skill here has triggers; `skillpm search` matches names and descriptions
""")
