"""`skillpm install` of skills in repositories: how one is chosen, and what is written down of it."""

import pytest
from commands.scene import LINK_HINT, CommandSandbox, expected_output
from kit import GitServer, Repository, git, make_skill, prefix_paths


@pytest.fixture
def short(upstream: Repository) -> str:
    """Return what people see of the upstream's commit."""
    return upstream.resolve("main")[:7]


def test_one_skill_of_a_repository_is_locked_to_commit_tree_and_digest(
    project: CommandSandbox, upstream: Repository, served: str, short: str
) -> None:
    output = project.output("install", f"{served}@pdf")

    commit = upstream.resolve("main")
    locked = project.read_json("skills.lock")
    assert output == f" + pdf {short}\nadded 1; total: 1 skill in WORK/.agent-skills\n" + LINK_HINT
    assert project.read_json("skills.json") == {"skills": {"pdf": {"git": "URL", "path": "skills/pdf"}}}
    assert list(locked["skills"]["pdf"]) == ["source", "digest"]
    assert list(locked["skills"]["pdf"]["source"].items()) == [
        ("git", "URL"),
        ("commit", commit),
        ("tree", upstream.tree_id("skills/pdf")),
        ("path", "skills/pdf"),
        ("ref", "HEAD"),
    ]
    (entry,) = project.read_json(".agent-skills/skills.json")["skills"]
    assert entry["source"] == f"git+URL@{commit}#subdirectory=skills/pdf"


def test_the_bytes_and_the_executable_bits_are_those_of_the_commit(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)

    there = project.snapshot(".agent-skills/pdf")
    assert {path: (entry.kind, entry.mode) for path, entry in there.items()} == {
        "SKILL.md": ("file", 0o644),
        "scripts": ("dir", 0o755),
        "scripts/read.sh": ("file", 0o755),
    }
    assert there["SKILL.md"].content == make_skill("pdf", "Reads PDF files.")["SKILL.md"]


def test_without_a_choice_a_repository_of_several_skills_is_only_listed(project: CommandSandbox, url: str) -> None:
    before = project.full_snapshot

    output = project.output("install", url)

    assert output == expected_output("""\
! error: `URL` contains 2 skills: docx, pdf
!   hint: select one with `URL@docx`, or install all with `--all`
[1]
""")
    assert project.full_snapshot == before


def test_all_takes_all(project: CommandSandbox, url: str, short: str) -> None:
    output = project.output("install", url, "--all")

    assert output == f" + docx {short}\n + pdf {short}\nadded 2; total: 2 skills in WORK/.agent-skills\n" + LINK_HINT
    assert project.output("install", url, "--all") == "nothing to do: 2 skills in WORK/.agent-skills\n"


def test_list_shows_the_skills_of_a_repository_and_changes_nothing(project: CommandSandbox, url: str) -> None:
    before = project.full_snapshot

    assert project.output("install", url, "--list") == expected_output("""\
docx  Writes Word files.
pdf   Reads PDF files.
! 2 skills; install one with `skillpm install URL@NAME`
""")
    assert project.json_output("install", url, "--list") == {
        "skills": [
            {"name": "docx", "path": "skills/docx", "description": "Writes Word files."},
            {"name": "pdf", "path": "skills/pdf", "description": "Reads PDF files."},
        ]
    }
    assert project.full_snapshot == before


def test_the_only_skill_of_a_repository_needs_no_name(project: CommandSandbox, upstream: Repository, url: str) -> None:
    upstream.remove(["skills/docx"]).commit()

    project.run("install", url, check=True)

    assert project.read_json("skills.json")["skills"] == {"pdf": {"git": "URL", "path": "skills/pdf"}}


def test_a_repository_may_be_a_skill_at_its_root(project: CommandSandbox, upstream: Repository, url: str) -> None:
    upstream.remove(["skills"]).write(make_skill("solo")).commit()

    project.run("install", url, check=True)

    assert project.read_json("skills.json")["skills"] == {"solo": {"git": "URL", "path": "."}}


@pytest.mark.parametrize(
    ("arguments", "requirement", "ref", "label"),
    [
        (["URL@pdf", "--tag", "v1.0.0"], {"tag": "v1.0.0"}, "refs/tags/v1.0.0", "1.0.0"),
        (["URL#v1.0.0@pdf"], {"tag": "v1.0.0"}, "refs/tags/v1.0.0", "1.0.0"),
        (["URL@pdf", "--branch", "next"], {"branch": "next"}, "refs/heads/next", "NEXT"),
        (["URL#next@pdf"], {"branch": "next"}, "refs/heads/next", "NEXT"),
        (["URL", "--path", "skills/pdf", "--branch", "next"], {"branch": "next"}, "refs/heads/next", "NEXT"),
        (["URL@pdf", "--rev", "FIRST"], {"rev": "FIRST"}, None, "FIRST"),
        (["URL#FIRST@pdf"], {"rev": "FIRST"}, None, "FIRST"),
    ],
)
def test_a_ref_can_be_named_in_the_spec_or_by_a_flag(
    project: CommandSandbox,
    upstream: Repository,
    url: str,
    arguments: list[str],
    requirement: dict[str, str],
    ref: str | None,
    label: str,
) -> None:
    ids = {"FIRST": upstream.resolve("main")}
    upstream.branch("next")
    upstream.write({"skills/pdf/notes.md": "Next.\n"}).commit(branch="next")
    upstream.write({"skills/pdf/notes.md": "Later.\n"}).commit()
    ids["NEXT"] = upstream.resolve("next")

    def real(text: str) -> str:
        return text.replace("URL", url).replace("FIRST", ids["FIRST"])

    output = project.output("install", *(real(word) for word in arguments))

    shown = ids[label][:7] if label in ids else label
    assert output == f" + pdf {shown}\nadded 1; total: 1 skill in WORK/.agent-skills\n" + LINK_HINT
    assert project.read_json("skills.json")["skills"]["pdf"] == {
        "git": "URL",
        "path": "skills/pdf",
        **{key: real(value) for key, value in requirement.items()},
    }
    assert project.read_json("skills.lock")["skills"]["pdf"]["source"].get("ref") == ref


def test_under_another_name_the_skill_stays_as_it_is_and_the_registry_knows_both(
    project: CommandSandbox, url: str
) -> None:
    project.run("install", f"{url}@pdf", "--as", "acme-pdf", check=True)

    assert project.read(".agent-skills/acme-pdf/SKILL.md").startswith("---\nname: pdf\n")
    (entry,) = project.read_json(".agent-skills/skills.json")["skills"]
    assert (entry["name"], entry["declaredName"]) == ("acme-pdf", "pdf")
    assert project.output("verify") == "! 1 of 1 skill matches the lockfile\n"


def test_the_same_spec_again_changes_nothing(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    before = project.snapshot()

    assert project.output("install", f"{url}@pdf") == "nothing to do: 1 skill in WORK/.agent-skills\n"
    assert project.snapshot() == before


def test_another_ref_of_the_same_folder_replaces_the_first(project: CommandSandbox, url: str, short: str) -> None:
    project.run("install", f"{url}@pdf", check=True)

    output = project.output("install", f"{url}#v1.0.0@pdf")

    assert output == f" ~ pdf {short} → 1.0.0\nupdated 1; total: 1 skill in WORK/.agent-skills\n"
    assert project.read_json("skills.json")["skills"]["pdf"] == {"git": "URL", "path": "skills/pdf", "tag": "v1.0.0"}
    assert project.output("install", f"{url}@pdf", "--branch", "main", "-q") == ""
    assert project.read_json("skills.json")["skills"]["pdf"] == {"git": "URL", "path": "skills/pdf", "branch": "main"}


def test_a_spec_without_a_ref_is_met_by_any_and_says_so(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}#v1.0.0@pdf", check=True)
    before = project.full_snapshot

    assert project.output("install", f"{url}@pdf") == expected_output("""\
nothing to do: 1 skill in WORK/.agent-skills
! pdf stays at v1.0.0, as skills.json specifies; to change it, put #REF before @pdf
""")
    assert project.full_snapshot == before


def test_another_ref_does_not_run_over_edits(project: CommandSandbox, upstream: Repository, url: str) -> None:
    project.run("install", f"{url}#v1.0.0@pdf", check=True)
    upstream.write({"skills/pdf/notes.md": "Later.\n"}).commit()
    project.write(".agent-skills/pdf/SKILL.md", "mine")
    before = project.full_snapshot

    output = project.output("install", f"{url}#main@pdf")

    assert output == expected_output("""\
! error: blocked by local changes; nothing was changed
!   pdf: edited since it was installed (SKILL.md modified)
!   hint: use `skillpm diff pdf` to see the changes, or `--force` to back it up and continue; to keep it always, write \
"edits": {"pdf": "keep"} into skills.json
[1]
""")
    assert project.full_snapshot == before


def test_both_ways_out_of_a_conflict_work(project: CommandSandbox, upstream: Repository, url: str, short: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    upstream.write({"skills/pdf/notes.md": "Later.\n"}).commit()

    beside = project.output("install", f"{url}#main@pdf", "--as", "pdf-next", "-q")
    instead = project.output("install", f"{url}#v1.0.0@pdf")

    assert beside == ""
    assert project.exists(".agent-skills/pdf-next/notes.md")
    assert instead == f" ~ pdf {short} → 1.0.0\nupdated 1; total: 2 skills in WORK/.agent-skills\n"
    assert project.read_json("skills.json")["skills"]["pdf"] == {"git": "URL", "path": "skills/pdf", "tag": "v1.0.0"}


def test_two_specs_that_want_one_name_are_a_conflict(project: CommandSandbox, url: str) -> None:
    before = project.full_snapshot

    output = project.output("install", f"{url}#v1.0.0@pdf", f"{url}#main@pdf", f"{url}@docx")

    assert output == expected_output("""\
! error: two skills have the name `pdf`: URL#v1.0.0 (skills/pdf) and URL#main (skills/pdf)
!   hint: install them separately, and rename one with --as NAME
[1]
""")
    assert project.full_snapshot == before


def test_two_skills_of_one_name_in_a_repository_are_distinguished_by_folder(
    project: CommandSandbox, upstream: Repository, url: str
) -> None:
    upstream.write(prefix_paths("more/pdf", make_skill("pdf", "Another one."))).commit()

    assert project.run("install", f"{url}@pdf", check=True).stderr.partition("\n")[0].replace(url, "URL") == (
        "warning: pdf is the one in skills/pdf of URL; others have other content: more/pdf; "
        "`skillpm install URL --path more/pdf` takes it"
    )
    assert "Reads PDF files." in project.read(".agent-skills/pdf/SKILL.md")
    project.run("install", url, "--path", "more/pdf", check=True)
    assert "Another one." in project.read(".agent-skills/pdf/SKILL.md")


def test_a_new_skill_never_updates_its_neighbours(project: CommandSandbox, upstream: Repository, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    locked = project.read_json("skills.lock")["skills"]["pdf"]
    upstream.write({"skills/pdf/notes.md": "Later.\n"}).commit()

    project.run("install", f"{url}@docx", check=True)

    assert project.read_json("skills.lock")["skills"]["pdf"] == locked
    assert not project.exists(".agent-skills/pdf/notes.md")


def test_the_shorthands_of_forges_are_what_git_makes_of_them(project: CommandSandbox, upstream: Repository) -> None:
    for forge in ("github.com", "gitlab.com"):
        project.redirect_git(f"https://{forge}/acme/skills", f"{upstream.file_url}")
    project.redirect_git("git@git.acme.example:acme/skills.git", upstream.file_url)

    for spec in (
        "acme/skills@pdf",
        "github:acme/skills@pdf",
        "acme/skills/skills/pdf",
        "https://github.com/acme/skills/tree/main/skills/pdf",
        "https://github.com/acme/skills/blob/v1.0.0/skills/pdf/SKILL.md",
    ):
        output = project.output("install", spec, "--dry-run", "--as", "p")
        assert output.startswith(" + p "), (spec, output)


def test_a_private_repository_needs_gits_own_credentials(
    project: CommandSandbox, server: GitServer, served: str
) -> None:
    server.required_login = ("me", "secret")
    address = served.replace("http://", "http://me:secret@")

    refused = project.output("install", f"{served}@pdf")
    project.git_config(f'[url "{address}"]\n\tinsteadOf = {served}\n')
    taken = project.output("install", f"{served}@pdf", "-q")

    assert refused == expected_output("""\
! error: no access to URL, or the repository does not exist
!   hint: check that git can read it (`git ls-remote`) with a credential helper or an SSH key
[1]
""")
    assert taken == ""
    whole = project.snapshot("..", ignore=["home/.gitconfig"])
    assert [path for path, entry in whole.items() if b"secret" in str(entry.content).encode()] == []


def test_a_skill_of_a_work_tree_on_this_disk_is_taken_from_its_commits(
    project: CommandSandbox, upstream: Repository
) -> None:
    git("clone", "-q", str(upstream.path), str(project.root / "clone"))
    (project.root / "clone" / "skills" / "pdf" / "SKILL.md").write_text("not committed")

    project.run("install", (project.root / "clone").as_uri() + "@pdf", check=True)

    assert "Reads PDF files." in project.read(".agent-skills/pdf/SKILL.md")
