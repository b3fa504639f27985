"""`review` shows unreviewed skills and records reviews; `sync --reviewed` refuses unreviewed ones."""

import json

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from kit import GitServer, Repository, make_skill, prefix_paths

ADA = ("--reviewer", "Ada <ada@x>")
FILE = "skills.reviews.json"


@pytest.fixture
def locked(project: CommandSandbox, url: str) -> CommandSandbox:
    """Return a project with two locked skills."""
    project.run("install", f"{url}@pdf", f"{url}@docx", check=True)
    for name, skill in project.read_json("skills.lock")["skills"].items():
        project.placeholders[skill["digest"]] = name.upper()
        project.placeholders[skill["digest"][:19]] = name.upper()
    return project


def configure(sandbox: CommandSandbox, text: str) -> None:
    (sandbox.home / ".config/skillpm").mkdir(parents=True, exist_ok=True)
    (sandbox.home / ".config/skillpm/config.toml").write_text(text)


def trust(sandbox: CommandSandbox) -> None:
    sandbox.run("config", "set", "audit.trust-project", str(sandbox.work), check=True)


def digest_of(sandbox: CommandSandbox, name: str) -> str:
    digest = json.loads(sandbox.read("skills.lock"))["skills"][name]["digest"]
    assert isinstance(digest, str)
    return digest


def test_everything_is_unreviewed_at_first(locked: CommandSandbox, upstream: Repository) -> None:
    commit = upstream.resolve("main")[:7]
    assert locked.output("review") == expected_output(f"""\
docx {commit}: not reviewed
pdf {commit}: not reviewed
! 2 of 2 locked skills not reviewed; `skillpm review NAME` shows what to read
""")
    assert locked.run("review", "--exit-code").code == 1


def test_the_first_review_shows_all_of_a_skill(locked: CommandSandbox) -> None:
    output = locked.output("review", "pdf")

    assert output.startswith("pdf PDF…: all of it\nmay: run programs of its own: scripts/read.sh\n")
    assert "\n+Do it well.\n" in output
    assert output.endswith("! if you have read and approve it: `skillpm review pdf --approve`\n")


def test_an_approval_is_recorded_by_digest(locked: CommandSandbox) -> None:
    output = locked.output("review", "pdf", "--approve", *ADA, "--notes", "no network")

    assert output == "recorded that Ada <ada@x> has reviewed pdf PDF… as safe-to-run, in WORK/skills.reviews.json\n"
    (review,) = locked.read_json(FILE)["reviews"]
    date = review.pop("date")
    assert len(date) == 10
    assert review == {
        "skill": "pdf",
        "digest": "PDF",
        "criteria": "safe-to-run",
        "reviewer": "Ada <ada@x>",
        "notes": "no network",
    }


def test_the_reviewer_is_that_of_the_git_configuration(locked: CommandSandbox) -> None:
    locked.git_config("[user]\nname = Bo\nemail = bo@x\n")

    review = locked.json_output("review", "pdf", "--approve", "--criteria", "safe-to-deploy")["review"]

    assert (review["reviewer"], review["criteria"]) == ("Bo <bo@x>", "safe-to-deploy")


def test_without_a_name_nothing_is_recorded(locked: CommandSandbox) -> None:
    assert locked.output("review", "pdf", "--approve") == expected_output("""\
! error: your git configuration has no name
!   hint: identify yourself with --reviewer 'Ada <ada@acme.example>'
[2]
""")
    assert not locked.exists(FILE)


def test_after_an_update_only_the_difference_is_shown(locked: CommandSandbox, upstream: Repository) -> None:
    locked.run("review", "pdf", "--approve", *ADA, check=True)
    upstream.write({"skills/pdf/notes.md": "More.\n"}).commit()
    locked.run("update", check=True)
    locked.placeholders[digest_of(locked, "pdf")[:19]] = "NEW"

    assert locked.output("review").splitlines()[1] == (
        f"pdf {upstream.resolve('main')[:7]}: changed since PDF… was reviewed"
    )
    assert locked.output("review", "pdf") == expected_output("""\
pdf NEW…: compared with PDF…, reviewed before
--- /dev/null
+++ b/notes.md
@@ -0,0 +1 @@
+More.
! if you have read and approve it: `skillpm review pdf --approve`
""")


def test_without_the_reviewed_content_all_is_shown(locked: CommandSandbox, upstream: Repository) -> None:
    locked.run("review", "pdf", "--approve", *ADA, check=True)
    upstream.write({"skills/pdf/notes.md": "More.\n"}).commit()
    locked.run("update", check=True)
    locked.run("cache", "clean", "--yes", check=True)

    subject = locked.json_output("review", "pdf")

    assert subject["note"] == "the content that was reviewed before is not in the cache, so that all of it is shown"
    assert [file["path"] for file in subject["files"]] == ["SKILL.md", "notes.md", "scripts/read.sh"]


def test_content_that_is_not_locked_is_named_by_its_digest(locked: CommandSandbox, upstream: Repository) -> None:
    configure(locked, '[audit]\nblock = ["widens"]\ntrust-project = true\n')
    upstream.write({"skills/pdf/get.sh": "echo\n"}).commit()
    hint = locked.run("update", "--json").json["error"]["problems"][0]["hint"]
    command = hint.partition("`")[2].partition("`")[0].split()

    assert command[:4] == ["skillpm", "review", "pdf", "--digest"]
    subject = locked.json_output(*command[1:])
    assert subject["note"] == "compared with the locked content, which has not been reviewed"
    assert (subject["base"], [file["path"] for file in subject["files"]]) == ("PDF", ["get.sh"])
    locked.run(*command[1:], "--approve", *ADA, check=True)
    locked.run("update", check=True)
    assert locked.exists(".agent-skills/pdf/get.sh")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pdf", "--digest", "xyz"], "invalid digest `xyz`"),
        (["pdf", "--digest", "sha256:" + "0" * 12], f"no content with the digest sha256:{'0' * 12} is in the cache"),
        (["other"], "`other` is not in WORK/skills.lock"),
        (["--approve"], "--approve needs the name of a skill"),
        (["--digest", "sha256:" + "0" * 12], "--digest needs the name of a skill"),
        (["pdf", "--notes", "x"], "--notes requires --approve"),
        (["pdf", "--import", "https://x/"], "--import cannot be used with the name of a skill"),
        (["--import", "./file"], "`./file` is not a web address"),
        (["pdf", "--approve", *ADA, "--criteria", "Safe!"], "invalid criteria `Safe!`"),
        (
            ["pdf", "--approve", "--reviewer", "a\u202eb"],
            '--reviewer: expected a line of text without hidden characters, at most 200, got "a\\u202eb"',
        ),
    ],
)
def test_what_cannot_be_reviewed(locked: CommandSandbox, words: list[str], message: str) -> None:
    error = json.loads(locked.add_placeholders(locked.run("review", *words, "--json").stdout))["error"]

    assert error["message"] == message
    assert not locked.exists(FILE)


# What applies


def test_sync_refuses_what_is_not_reviewed_although_it_is_installed(locked: CommandSandbox) -> None:
    trust(locked)
    locked.run("review", "pdf", "--approve", *ADA, check=True)

    assert locked.output("sync", "--reviewed") == expected_output("""\
! error: `docx` is refused: reviewed: this content has not been reviewed
!   hint: nothing was changed; `skillpm review docx` shows what to read, and `--approve` records that you have
[1]
""")
    locked.run("review", "docx", "--approve", *ADA, check=True)
    locked.run("sync", "--reviewed", check=True)


def test_a_pull_request_cannot_review_itself(locked: CommandSandbox) -> None:
    locked.run("review", "pdf", "--approve", *ADA, check=True)
    locked.run("review", "docx", "--approve", *ADA, check=True)

    problems = locked.run("sync", "--reviewed", "--json").json["error"]["problems"]

    assert [problem["message"] for problem in problems] == [
        "it was reviewed by Ada <ada@x>, but reviews of this project do not apply here",
    ] * 2
    assert problems[0]["hint"] == (
        f"to trust everyone who can change them: `skillpm config set audit.trust-project {locked.work}`"
    )


def test_reviews_of_the_user_apply_everywhere(locked: CommandSandbox) -> None:
    for name in ("pdf", "docx"):
        locked.run("review", "-g", name, "--digest", digest_of(locked, name), "--approve", *ADA, check=True)

    locked.run("sync", "--reviewed", check=True)
    assert not locked.exists(FILE)
    assert len(json.loads((locked.home / ".config/skillpm" / FILE).read_text())["reviews"]) == 2


def test_the_list_says_that_reviews_do_not_apply(locked: CommandSandbox) -> None:
    locked.run("review", "pdf", "--approve", *ADA, check=True)

    assert locked.output("review").splitlines()[-1] == (
        "! the reviews of this project do not apply on this machine; if you trust everyone who can change them, run "
        "`skillpm config set audit.trust-project WORK`"
    )
    trust(locked)
    assert len(locked.output("review").splitlines()) == 2


def test_other_content_of_a_reviewed_skill_is_refused(locked: CommandSandbox, upstream: Repository) -> None:
    trust(locked)
    locked.run("review", "pdf", "--approve", *ADA, check=True)
    locked.run("review", "docx", "--approve", *ADA, check=True)
    upstream.write({"skills/pdf/notes.md": "More.\n"}).commit()
    locked.run("lock", "--upgrade", check=True)
    before = locked.full_snapshot

    assert locked.run("sync", "--reviewed", "--json").json["error"]["skills"] == ["pdf"]
    assert locked.full_snapshot == before


def test_skills_that_ship_with_skillpm_need_no_review(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)

    project.run("sync", "--reviewed", check=True)
    assert project.output("review") == "! no locked skill needs a review\n"


def test_a_live_link_cannot_be_reviewed(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("mine/pdf", make_skill("pdf")))
    project.write("skills.json", manifest_text(pdf={"path": "mine/pdf", "link": True}))
    project.run("sync", check=True)

    problems = project.run("sync", "--reviewed", "--json").json["error"]["problems"]

    assert [problem["message"] for problem in problems] == ["a live link has no content that could be reviewed"]
    assert project.output("review").splitlines()[0] == "pdf link: a live link, which has no content to review"


# Imports


@pytest.fixture
def others(server: GitServer, locked: CommandSandbox) -> str:
    """Return the address of another organization's reviews of both skills."""
    for name in ("pdf", "docx"):
        locked.run("review", name, "--approve", *ADA, check=True)
    server.publish(f"/{FILE}", locked.read(FILE).encode())
    (locked.work / FILE).unlink()
    return f"{server.address}/{FILE}"


def test_reviews_of_others_are_pinned_by_their_digest(locked: CommandSandbox, others: str, server: GitServer) -> None:
    trust(locked)
    locked.run("review", "--import", others, check=True)

    locked.run("sync", "--reviewed", check=True)
    requests = len(server.requests)
    locked.run("sync", "--reviewed", check=True)
    assert len(server.requests) == requests
    (imported,) = json.loads(locked.read(FILE))["imports"]
    assert imported["url"] == others


def test_other_reviews_at_the_same_address_are_refused(locked: CommandSandbox, others: str, server: GitServer) -> None:
    trust(locked)
    locked.run("review", "--import", others, check=True)
    locked.run("cache", "clean", "--yes", check=True)
    server.publish(f"/{FILE}", b'{"version": 1, "reviews": []}')

    error = locked.run("sync", "--reviewed", "--json").json["error"]

    assert error["code"] == "refused"
    assert error["message"].startswith(f"the reviews at {others} are not those that were imported: expected sha256:")


def test_imports_of_a_project_that_is_not_trusted_are_not_fetched(
    locked: CommandSandbox, others: str, server: GitServer
) -> None:
    locked.run("review", "--import", others, check=True)
    locked.run("cache", "clean", "--yes", check=True)
    requests = len(server.requests)

    assert locked.run("sync", "--reviewed").code == 1
    assert len(server.requests) == requests


def test_without_the_network_the_missing_import_is_named(locked: CommandSandbox, others: str) -> None:
    trust(locked)
    locked.run("review", "--import", others, check=True)
    locked.run("cache", "clean", "--yes", check=True)

    error = locked.run("sync", "--reviewed", "--offline", "--json").json["error"]

    assert (error["code"], others in error["message"]) == ("offline", True)
