"""The service: finding skills, permissions, budgets, and triggers."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit import make_skill, prefix_paths
from kit.registry import create_service, write_files

from skillpm import Card, Registry, Rules, SkillService
from skillpm.core.text import estimate_tokens
from skillpm.errors import NotAllowedError, NotFoundError
from skillpm.serving.permissions import build_ordered_rules
from skillpm.serving.renderers.styles import RENDERERS


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """Return a folder with four skills."""
    skills = {
        "pdf": make_skill("pdf", "Reads PDF files.", triggers=["pdf", "scan"], category="documents"),
        "pdf-forms": make_skill("pdf-forms", "Fills forms.", trigger="form|fill in", category="documents"),
        "review": make_skill("code-review", "Reviews code.", tags=["pull request"], triggers=["pr"]),
        "browser": make_skill(
            "browser", "Opens pages.", trigger="browse|website", requires=["npx"], **{"mcp-web": "npx web --headless"}
        ),
    }
    for folder, files in skills.items():
        write_files(tmp_path, prefix_paths(folder, files))
    return tmp_path


def deny(*patterns: str) -> Rules:
    return Rules(layers=(build_ordered_rules(dict.fromkeys(patterns, "deny")),))


@pytest.mark.parametrize(
    ("name", "found"),
    [("pdf", "pdf"), ("PDF", "pdf"), ("code-review", "review")],
)
def test_skill_is_found_in_any_case_and_by_its_declared_name(shelf: Path, name: str, found: str) -> None:
    assert create_service(shelf).find(name).name == found


@pytest.mark.parametrize(
    ("name", "similar"),
    [("forms", "pdf-forms"), ("browser-tool", "browser"), ("pdf-forms-security", "pdf-forms` or `pdf")],
)
def test_part_of_a_name_is_suggested_and_never_loaded(shelf: Path, name: str, similar: str) -> None:
    service = create_service(shelf)
    with pytest.raises(NotFoundError) as caught:
        service.load(name)

    assert (caught.value.message, caught.value.hint) == (f"skill `{name}` not found", f"did you mean `{similar}`?")
    called = service.call({"name": name})
    assert (called.ok, called.text.splitlines()[0]) == (False, f'Skill "{name}" not found.')


def test_supercode_style_takes_the_first_match(shelf: Path) -> None:
    assert create_service(shelf, style="supercode").call({"name": "pd"}).value == {
        "success": True,
        "data": "Do it well.",
    }
    assert create_service(shelf, style="supercode", rules=deny("pdf")).call({"name": "pd"}).ok


def test_user_only_skills_are_hidden_from_models(tmp_path: Path) -> None:
    write_files(
        tmp_path, prefix_paths("ship", make_skill("ship", "Ships.", "Ship.\n", disable_model_invocation="true"))
    )
    write_files(tmp_path, prefix_paths("pdf", make_skill("pdf", "Reads.", disable_model_invocation="false")))
    service = create_service(tmp_path)

    assert service.prompt().skills == 1
    for text in (service.description, service.call({}).text, service.call({"query": "ships"}).text):
        assert "Ships." not in text
    assert service.call({"name": "ship"}).text == "Error: Skill 'ship' can only be invoked by the user"
    assert service.load("ship", style="omega").text == "Ship."
    assert [skill.card.name for skill in service.list()] == ["pdf", "ship"]


def test_mode_reports_its_savings(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        prefix_paths(
            "long", make_skill("long", body="# A\n\n" + "word " * 400 + "\n\n```\n" + "code\n" * 400 + "```\n")
        ),
    )

    loaded = create_service(tmp_path, style="supercode").load("long")

    assert (loaded.mode, loaded.saved) == ("compact", 0.49)
    assert loaded.tokens == estimate_tokens(loaded.text)
    assert create_service(tmp_path, style="supercode").load("long", mode="full").saved == 0.0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["name", "action", "query", "mode", "list_available", "other"])


@given(st.dictionaries(KEYS, JSON | st.sampled_from(["load", "list", "search", "toon", "pdf", "pd", ""])))
def test_every_call_is_answered(arguments: dict[str, Any]) -> None:
    service = SkillService(Registry([Card({"name": "pdf", "description": "x", "filePath": "no.md"}, "/nowhere")]))

    for style in RENDERERS.values():
        service.style = style
        answer = service.call(arguments)
        assert isinstance(answer.text, str)
        json.dumps(dict(answer.value))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("brwoser", "did you mean `browser`?"),
        ("pull-request", "did you mean `review`?"),
        ("zzz", "run `skillpm list` to see the available skills"),
        ("", "run `skillpm list` to see the available skills"),
    ],
)
def test_similar_names_are_suggested(shelf: Path, name: str, hint: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        create_service(shelf).find(name)

    assert caught.value.hint == hint


def test_denied_skill_is_invisible(shelf: Path) -> None:
    service = create_service(shelf, rules=deny("pdf*"), environ={"PATH": ""})

    assert list(service.visible) == ["browser", "review"]
    assert service.search("pdf") == ()
    assert service.match("a pdf form").skills == ()
    assert "pdf" not in service.prompt().text
    assert service.call({"name": "pd"}).text == 'Skill "pd" not found.'
    with pytest.raises(NotFoundError) as caught:
        service.load("pd-forms")
    assert "pdf" not in caught.value.hint


def test_error_for_a_denied_name_does_not_reveal_whether_it_exists(shelf: Path) -> None:
    service = create_service(shelf, rules=deny("pdf*"), style="glm")

    assert service.call({"name": "pdf"}).text == "Error: Skill 'pdf' is not allowed by permissions"
    assert service.call({"name": "pdf-nothing"}).text == "Error: Skill 'pdf-nothing' is not allowed by permissions"
    with pytest.raises(NotAllowedError):
        service.load("pdf")


def test_permissions_are_checked_before_reading(shelf: Path) -> None:
    (shelf / "pdf/SKILL.md").write_text("no skill any more")

    with pytest.raises(NotAllowedError):
        create_service(shelf, rules=deny("pdf")).load("pdf")


def test_skill_requiring_approval_is_listed_but_refused_without_a_person(shelf: Path) -> None:
    rules = Rules(layers=(build_ordered_rules({"pdf": "ask"}, "skills.json: permissions"),))
    service = create_service(shelf, rules=rules)

    assert "pdf" in service.visible
    with pytest.raises(NotAllowedError) as caught:
        service.load("pdf")
    error = caught.value
    assert (error.message, error.where, error.hint) == (
        "`pdf` requires a person's approval, which cannot be requested here",
        "skills.json: permissions.pdf",
        'to always allow it, add `"pdf": "allow"` after that rule',
    )
    assert service.loaded == {}


def test_person_decides_on_approval(shelf: Path) -> None:
    rules, asked = Rules(layers=(build_ordered_rules({"*": "ask"}),)), []

    def ask(name: str) -> bool:
        asked.append(name)
        return name == "pdf"

    service = create_service(shelf, rules=rules, ask=ask)

    assert service.load("PDF").name == "pdf"
    with pytest.raises(NotAllowedError) as caught:
        service.load("review")
    assert caught.value.message == "`review` was not approved"
    assert asked == ["pdf", "review"]


def test_disabled_skill_is_invisible(shelf: Path) -> None:
    service = create_service(shelf, disabled={"pdf"})

    assert "pdf" not in service.visible
    with pytest.raises(NotFoundError):
        create_service(shelf, disabled={"pdf", "pdf-forms"}).find("pdf")


def test_search_prefers_all_words_and_ranks_results(shelf: Path) -> None:
    service = create_service(shelf)

    def names(words: str) -> list[str]:
        return [skill.card.name for skill in service.search(words)]

    assert names("pdf") == ["pdf", "pdf-forms"]
    assert names("pdf forms") == ["pdf-forms"]
    assert names("documents READS") == ["pdf"]
    assert names("pull request") == ["review"]
    assert names("") == names("  ") == names("zzzzzzz") == []
    assert names("pdf zzz") == ["pdf", "pdf-forms"]


def test_exact_name_ranks_first(tmp_path: Path) -> None:
    for name in ("a-pdf", "pdf", "pdf-a", "zoom"):
        write_files(tmp_path, prefix_paths(name, make_skill(name, "Reads a PDF.")))

    assert [found.card.name for found in create_service(tmp_path).search("pdf")] == ["pdf", "pdf-a", "a-pdf", "zoom"]


def test_budget_shortens_descriptions_before_leaving_skills_out(tmp_path: Path) -> None:
    for name in "abcd":
        write_files(tmp_path, prefix_paths(name, make_skill(name, f"{name} " * 200)))
    service = create_service(tmp_path)
    whole = service.prompt()

    for budget in (whole.tokens, whole.tokens - 1, 300, 250, 80):
        prompt = service.prompt(budget=budget)
        assert prompt.tokens <= budget
        assert (prompt.skills, prompt.left_out) == (4, 0)
    assert service.prompt(budget=whole.tokens).text == whole.text
    assert "a a a…" in service.prompt(budget=250).text

    assert service.prompt(budget=0).text == ""


def test_a_catalog_for_a_task_begins_with_the_skills_for_it(tmp_path: Path) -> None:
    for name, description in {"alpha": "Makes tea.", "beta": "Reads PDF files.", "gamma": "Makes tea."}.items():
        write_files(tmp_path, prefix_paths(name, make_skill(name, description)))
    service = create_service(tmp_path)

    def names(text: str) -> list[str]:
        return re.findall(r"alpha|beta|gamma", text.replace(str(tmp_path), ""))

    assert names(service.prompt(mode="toon").text) == ["alpha", "beta", "gamma"]
    assert names(service.prompt(mode="toon", task="read a pdf").text)[0] == "beta"


def test_a_catalog_keeps_the_skills_that_were_loaded_last(tmp_path: Path) -> None:
    names = [f"s{number}" for number in range(40)]
    for name in names:
        write_files(tmp_path, prefix_paths(name, make_skill(name, f"Does what {name} does.")))
    service = create_service(tmp_path)

    for name in ("s39", "s7", "s22"):
        service.load(name)
        prompt = service.prompt(budget=100)

        assert f"- {name}: Does what {name} does." in prompt.text
        assert (prompt.skills, prompt.named_only, prompt.left_out) == (40, 36, 0)


def test_the_description_of_the_tool_keeps_to_its_budget(tmp_path: Path) -> None:
    for name in "abcdefgh":
        write_files(tmp_path, prefix_paths(name, make_skill(name, f"{name} " * 500)))
    registry = Registry.load(tmp_path)

    assert estimate_tokens(SkillService(registry).description) <= 2_000
    assert estimate_tokens(SkillService(registry, budget=200).description) <= 200
    assert estimate_tokens(SkillService(registry, budget=None).description) > 500


def test_message_triggers_skills_and_their_servers(shelf: Path, tmp_path: Path) -> None:
    bin_ = tmp_path / "bin"
    write_files(bin_, {"npx": "#!/bin/sh\n"})
    (bin_ / "npx").chmod(0o755)

    found = create_service(shelf, environ={"PATH": str(bin_)}).match("Browse the SCAN, fill in the form")

    assert [card.name for card in found.skills] == ["browser", "pdf", "pdf-forms"]
    assert [(server.name, server.command, server.args) for server in found.servers] == [
        ("web", "npx", ("web", "--headless"))
    ]
    assert create_service(shelf).match("browse").skills == ()


def test_trigger_may_match_several_skills_each_once(tmp_path: Path) -> None:
    for name, triggers in {"one": ["Go", "go "], "two": ["go", "stop"], "three": ["GO"], "none": [" "]}.items():
        write_files(tmp_path, prefix_paths(name, make_skill(name, triggers=triggers)))

    def called(message: str) -> list[str]:
        return [card.name for card in create_service(tmp_path).match(message).skills]

    assert called("let it go") == ["one", "three", "two"]
    assert called("stop it") == ["two"]
    assert called("wait") == []


def test_whole_words_match_only_separate_words(shelf: Path) -> None:
    service = create_service(shelf)

    assert [card.name for card in service.match("in april").skills] == ["review"]
    assert service.match("in april", whole_words=True).skills == ()
    assert [card.name for card in service.match("My PR, please", whole_words=True).skills] == ["review"]


@pytest.mark.parametrize(
    ("requires", "missing"),
    [
        ({"bins": ["sh", "no-such-program"]}, ("no-such-program",)),
        ({"anyBins": ["no-such-program", "sh"]}, ()),
        ({"anyBins": ["no-such-program", "nor-this"]}, ("one of no-such-program, nor-this",)),
        ({"env": ["HERE", "NOT_HERE"]}, ("$NOT_HERE",)),
        ({"os": [sys.platform]}, ()),
        ({"os": ["plan9", "beos"]}, ("plan9 or beos",)),
    ],
)
def test_unmet_requirements_are_reported(
    tmp_path: Path, requires: dict[str, list[str]], missing: tuple[str, ...]
) -> None:
    write_files(tmp_path, prefix_paths("one", make_skill("one", requires=requires)))
    write_files(tmp_path / "bin", {"sh": "#!/bin/sh\n"})
    (tmp_path / "bin/sh").chmod(0o755)

    service = create_service(tmp_path, environ={"PATH": str(tmp_path / "bin"), "HERE": "1"})

    assert service.environment.find_missing(service.find("one")) == missing


@pytest.mark.parametrize("environ", [{}, {"PATH": ""}], ids=["none", "empty"])
def test_empty_path_has_no_programs(tmp_path: Path, environ: dict[str, str]) -> None:
    write_files(tmp_path, prefix_paths("one", make_skill("one", requires=["sh"])))

    service = create_service(tmp_path, environ=environ)

    assert service.environment.find_missing(service.find("one")) == ("sh",)


def test_file_on_path_that_is_not_executable_is_not_a_program(tmp_path: Path) -> None:
    write_files(
        tmp_path, prefix_paths("one", make_skill("one", requires=["tool"])) | {"bin/tool": "text", "bin/sub/x": ""}
    )

    service = create_service(tmp_path, environ={"PATH": str(tmp_path / "bin")})

    assert service.environment.find_missing(service.find("one")) == ("tool",)


def test_no_reference_escapes_the_skill_through_a_link(tmp_path: Path) -> None:
    body = "@inside.md @outside.md @folder/secret @gone.md @round.md @real.md\n"
    write_files(
        tmp_path, prefix_paths("one", make_skill("one", body=body) | {"real.md": ""}) | {"elsewhere/secret": "s"}
    )
    folder, elsewhere = tmp_path / "one", tmp_path / "elsewhere"
    (folder / "inside.md").symlink_to("real.md")
    (folder / "outside.md").symlink_to(elsewhere / "secret")
    (folder / "folder").symlink_to(elsewhere)
    (folder / "gone.md").symlink_to("nowhere")
    (folder / "round.md").symlink_to("round.md")

    loaded = create_service(tmp_path).load("one")

    assert loaded.references == ("inside.md", "real.md")
    assert loaded.files == ("inside.md", "real.md")


def test_a_reference_is_a_file_that_the_body_names_in_any_way(tmp_path: Path) -> None:
    body = """(@r/a.md), then [b](r/b.md "B") and [c](./r/c.md#top): `python scripts/run.py`,
    ${CLAUDE_SKILL_DIR}/r/d.md. Not x/r/e.md, r/e.mdx, or r/e.md.bak,
    and not other/scripts/stop.py. **@r/z.md** again r/a.md
    """
    names = ("r/a.md", "r/b.md", "r/c.md", "r/d.md", "r/e.md", "r/z.md", "scripts/run.py", "scripts/stop.py")
    write_files(tmp_path, prefix_paths("one", make_skill("one", body=body) | dict.fromkeys(names, b"")))

    assert create_service(tmp_path).load("one").references == (
        "r/a.md",
        "r/b.md",
        "r/c.md",
        "scripts/run.py",
        "r/d.md",
        "r/z.md",
    )


def test_the_folder_of_a_skill_replaces_the_variable_for_it(tmp_path: Path) -> None:
    body = "Run ${CLAUDE_SKILL_DIR}/run.sh, not ${CLAUDE_PLUGIN_ROOT}."
    write_files(tmp_path, prefix_paths("one", make_skill("one", body=body)))

    assert create_service(tmp_path).load("one").body == f"Run {tmp_path}/one/run.sh, not ${{CLAUDE_PLUGIN_ROOT}}."


def test_references_are_files_of_the_skill_and_commands_are_only_listed(tmp_path: Path) -> None:
    body = "See @notes.md, @./scripts/run.sh and @../../etc/passwd; mail a@b.c; `@not.md`. !`rm -rf /` and !`ls`\n"
    write_files(tmp_path, prefix_paths("one", make_skill("one", body=body) | {"notes.md": "", "scripts/run.sh": ""}))

    loaded = create_service(tmp_path).load("one")

    assert loaded.references == ("notes.md", "scripts/run.sh")
    assert loaded.commands == ("rm -rf /", "ls")
    assert body.strip() in loaded.text
