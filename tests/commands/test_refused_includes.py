"""A refused skill of an included repository stops no other: a new one is left out, a locked one stays as it is."""

import json
import re
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths

HIDDEN = "Be kind.\U000e0052\U000e0075\U000e006e\n"
FOUND = "hidden-text: SKILL.md:5: invisible tag letters spell `Run`"


def add_skill(repository: Repository, name: str, body: str = "Do it well.\n", **fields: str) -> None:
    repository.write(prefix_paths(f"skills/{name}", make_skill(name, body=body, **fields))).commit()


def configure(sandbox: CommandSandbox, text: str) -> None:
    (sandbox.home / ".config/skillpm").mkdir(parents=True, exist_ok=True)
    (sandbox.home / ".config/skillpm/config.toml").write_text(text)


def masked(output: str) -> str:
    """Replace short commits by `COMMIT`."""
    return re.sub(r"\b[0-9a-f]{7}\b", "COMMIT", output)


@pytest.fixture
def whole(project: CommandSandbox, url: str) -> CommandSandbox:
    """Return a project that includes all skills of the upstream: docx and pdf."""
    project.run("install", url, "--all", check=True)
    return project


def locked(sandbox: CommandSandbox) -> set[str]:
    return set(sandbox.read_json("skills.lock")["skills"])


def left_out(name: str = "bad", place: str = "URL", found: str = FOUND) -> str:
    command = f"skillpm install {place} --all"
    return (
        f"! warning: left out {name} of {place}: {found}; `{command} --allow hidden-text` takes it; "
        f"`{command} --exclude {name}` excludes it permanently\n"
    )


STAYS = (
    f"! warning: pdf stays as it is locked: {FOUND}; `skillpm update pdf --allow hidden-text` updates it; "
    "`skillpm lock --upgrade-skill pdf` locks it for review\n"
)
ADDED = " + fine COMMIT  (new in URL)\n{}added 1; total: 3 skills in WORK/.agent-skills\n"
LOCKED = " + fine COMMIT\nWORK/skills.lock written\n"
# Every command that may take what is new in an included repository, and what it prints about the skill that is fine.
TAKING = {
    ("update",): ADDED.format(""),
    ("update", "--dry-run"): ADDED.format("").replace("added", "would have added"),
    ("lock", "--upgrade"): LOCKED,
    ("lock", "--upgrade", "--dry-run"): LOCKED.replace("written", "would change"),
    ("install", "URL", "--all"): ADDED.format(""),
}


def run_words(sandbox: CommandSandbox, words: tuple[str, ...], url: str) -> str:
    return masked(sandbox.output(*(url if word == "URL" else word for word in words)))


@pytest.mark.parametrize("words", TAKING, ids=" ".join)
def test_a_new_skill_that_is_refused_is_left_out(
    whole: CommandSandbox, upstream: Repository, url: str, words: tuple[str, ...]
) -> None:
    add_skill(upstream, "bad", HIDDEN)
    add_skill(upstream, "fine")

    assert run_words(whole, words, url) == expected_output(TAKING[words] + left_out())

    is_dry = "--dry-run" in words
    assert locked(whole) == {"docx", "pdf"} | (set() if is_dry else {"fine"})
    assert not whole.exists(".agent-skills/bad")
    assert whole.run("sync", check=True).stderr == ""


def test_outdated_says_which_new_skill_would_be_left_out(whole: CommandSandbox, upstream: Repository, url: str) -> None:
    add_skill(upstream, "bad", HIDDEN)
    add_skill(upstream, "fine")

    output = masked(whole.output("outdated"))

    assert f"! bad: new in URL; it would be left out: {FOUND}\n" in output
    assert "! fine: new in URL\n" in output


@pytest.mark.parametrize("words", [words for words in TAKING if words[0] != "install"], ids=" ".join)
def test_a_locked_skill_that_is_refused_stays_as_it_is_locked(
    whole: CommandSandbox, upstream: Repository, url: str, words: tuple[str, ...]
) -> None:
    before = whole.read_json("skills.lock")["skills"]["pdf"]
    add_skill(upstream, "pdf", HIDDEN)
    add_skill(upstream, "fine")

    assert run_words(whole, words, url) == expected_output(TAKING[words] + STAYS)

    assert whole.read_json("skills.lock")["skills"]["pdf"] == before
    assert whole.run("sync", check=True).stderr == ""


def test_the_first_skills_of_an_include_are_left_out_too(
    project: CommandSandbox, upstream: Repository, url: str
) -> None:
    add_skill(upstream, "bad", HIDDEN)

    output = masked(project.output("install", url, "--all", "--group", "office"))

    assert left_out() in output.replace("\nwarning", "\n! warning")
    assert locked(project) == {"docx", "pdf"}
    assert project.read_json("skills.json")["groups"] == {"office": ["docx", "pdf"]}
    assert project.output("sync", "--group", "office").startswith("nothing to do")


@pytest.mark.parametrize("words", [("install", "URL", "--all"), ("lock",)], ids=" ".join)
def test_an_include_of_nothing_but_refused_skills_is_an_error(
    project: CommandSandbox, tmp_path: Path, words: tuple[str, ...]
) -> None:
    evil = Repository.create(tmp_path / "evil")
    add_skill(evil, "bad", HIDDEN)
    if words == ("lock",):
        project.write("skills.json", json.dumps({"skills": {}, "include": [{"git": evil.file_url}]}))

    output = run_words(project, words, evil.file_url)

    assert output.startswith(f"! error: `bad` is refused: {FOUND}\n"), output
    assert not project.exists("skills.lock")


def test_what_the_user_names_is_not_left_out(whole: CommandSandbox, upstream: Repository) -> None:
    """`update` refuses it, and `lock` locks it, so that it can be reviewed; `uninstall` excludes it."""
    add_skill(upstream, "pdf", HIDDEN)
    before = whole.full_snapshot

    refused = whole.output("update", "pdf")

    assert refused.startswith(f"! error: `pdf` is refused: {FOUND}\n"), refused
    assert whole.full_snapshot == before
    whole.run("lock", "--upgrade-skill", "pdf", check=True)
    for command in ("sync", "update"):
        result = whole.run(command)
        assert (result.code, result.stderr.rpartition("; ")[2]) == (1, "`skillpm uninstall pdf` leaves it out\n")
    whole.run("uninstall", "pdf", check=True)
    assert whole.read_json("skills.json")["include"][0]["exclude"] == ["pdf"]
    assert whole.run("sync", check=True).stderr == ""


@pytest.mark.parametrize("words", [("update",), ("lock", "--upgrade")], ids=" ".join)
def test_the_rule_may_be_allowed(whole: CommandSandbox, upstream: Repository, words: tuple[str, ...]) -> None:
    add_skill(upstream, "bad", HIDDEN)
    add_skill(upstream, "pdf", HIDDEN)

    assert "warning: left out" not in whole.run(*words, "--allow", "hidden-text", check=True).stderr

    assert locked(whole) == {"bad", "docx", "pdf"}
    assert whole.run("sync").code == (0 if words == ("update",) else 1)


def test_what_another_machine_locked_stays_locked(whole: CommandSandbox, upstream: Repository) -> None:
    """Two machines with different rules do not take turns in changing the lockfile."""
    add_skill(upstream, "bad", HIDDEN)
    configure(whole, "[audit]\nblock = []\n")
    whole.run("lock", "--upgrade", check=True)
    add_skill(upstream, "bad", f"{HIDDEN}More.\n")
    lock = whole.read("skills.lock")
    configure(whole, "")

    output = whole.output("lock", "--upgrade")

    assert output == expected_output(f"WORK/skills.lock is up to date\n{STAYS.replace('pdf', 'bad')}")
    assert whole.read("skills.lock") == lock
    assert whole.run("sync", "--frozen").code == 1


@pytest.mark.parametrize("words", [("update",), ("lock", "--upgrade")], ids=" ".join)
def test_a_skill_that_requires_a_refused_one_is_left_out_or_stays(
    whole: CommandSandbox, upstream: Repository, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Or the owner could stop all updates by what a skill requires, in a repository that nobody included."""
    evil = Repository.create(tmp_path / "evil")
    add_skill(evil, "helper", HIDDEN)
    whole.redirect_git("https://forge.example/evil", evil.file_url)
    needs = json.dumps({"skills": {"helper": {"git": "https://forge.example/evil", "path": "skills/helper"}}})
    for name in ("chart", "pdf"):
        add_skill(upstream, name)
        upstream.write({f"skills/{name}/skills.json": needs}).commit()
    add_skill(upstream, "fine")

    output = whole.run(*words, check=True).stderr

    why = f"it requires `helper`, which is refused: {FOUND}"
    assert whole.add_placeholders(output).splitlines() == [
        left_out("chart", found=why).removeprefix("! ").strip(),
        STAYS.replace(FOUND, why).removeprefix("! ").strip(),
    ]
    assert locked(whole) == {"docx", "pdf", "fine"}


def test_a_skill_that_is_left_out_frees_no_name(project: CommandSandbox, upstream: Repository, url: str) -> None:
    """Whoever breaks a skill could have another one of its name installed."""
    report = make_skill("report", metadata={"skill-dependencies": "testing"})
    project.write_files(prefix_paths("skills/report", report))
    manifest = {"skills": {"report": {"path": "./skills/report"}}, "include": [{"git": url}]}
    project.write("skills.json", json.dumps(manifest))
    add_skill(upstream, "testing", HIDDEN)

    for command in ("sync", "lock"):
        output = project.output(command)
        assert f"\n! error: `testing` is refused: {FOUND}\n" in f"\n{output}"
        assert not project.exists("skills.lock")


def test_a_skill_that_cannot_be_loaded_frees_no_name(
    whole: CommandSandbox, upstream: Repository, tmp_path: Path
) -> None:
    other = Repository.create(tmp_path / "other")
    add_skill(other, "helper")
    whole.redirect_git("https://forge.example/other", other.file_url)
    needs = json.dumps({"skills": {"helper": {"git": "https://forge.example/other", "path": "skills/helper"}}})
    for name in ("chart", "pdf"):
        add_skill(upstream, name)
        upstream.write({f"skills/{name}/skills.json": needs}).commit()
    upstream.write({"skills/helper/SKILL.md": "No frontmatter.\n"}).commit()
    add_skill(upstream, "fine")

    result = whole.run("update")

    assert (
        masked(whole.add_placeholders(result.stderr))
        == """\
warning: left out helper of URL: its SKILL.md cannot be loaded: the file does not begin with a `---` line; \
`skillpm install URL --all --exclude helper` excludes it permanently
warning: left out chart of URL: it requires `helper`, which was left out; `skillpm install URL --all --exclude chart` \
excludes it permanently
warning: pdf stays as it is locked: it requires `helper`, which was left out
"""
    )
    assert (result.code, locked(whole)) == (0, {"docx", "fine", "pdf"})


def test_each_refused_skill_is_named_once(whole: CommandSandbox, upstream: Repository) -> None:
    names = [f"bad-{number:02}" for number in range(22)]
    for name in names:
        add_skill(upstream, name, HIDDEN)

    result = whole.run("update", check=True)

    lines = whole.add_placeholders(result.stderr).splitlines(keepends=True)
    assert lines[:-1] == [left_out(name).removeprefix("! ") for name in names[:20]]
    assert lines[-1] == "warning: and 2 more skills left out; --json names all of them\n"
    assert [each["name"] for each in json.loads(whole.run("update", "--json").stdout)["leftOut"]] == names


def test_what_lacks_a_review_is_locked_to_be_reviewed(whole: CommandSandbox, upstream: Repository) -> None:
    whole.write("skills.policy.toml", "version = 1\n[require]\nreviews = 1\n")
    add_skill(upstream, "fine")

    update = whole.run("update")  # which refuses what is installed, too
    lock = whole.run("lock", "--upgrade", check=True)

    assert whole.add_placeholders(update.stderr).splitlines()[0] == (
        "warning: left out fine of URL: reviews: WORK/skills.policy.toml: require.reviews: has 0 reviews that apply "
        "here, and needs 1; `skillpm lock --upgrade` locks it for review; `skillpm install URL --all --exclude fine` "
        "excludes it permanently"
    )
    assert lock.stderr == ""
    assert locked(whole) == {"docx", "fine", "pdf"}


def test_the_root_of_a_workspace(whole: CommandSandbox, upstream: Repository) -> None:
    manifest = json.loads(whole.read("skills.json")) | {"members": ["packages/*"]}
    whole.write("skills.json", json.dumps(manifest))
    whole.write("packages/api/skills.json", '{"skills": {"code-review": "^1"}}')
    add_skill(upstream, "bad", HIDDEN)
    add_skill(upstream, "fine")

    result = whole.run("update", check=True)

    assert whole.add_placeholders(result.stderr).splitlines(keepends=True)[0] == left_out().removeprefix("! ")
    assert locked(whole) == {"code-review", "docx", "fine", "pdf"}
