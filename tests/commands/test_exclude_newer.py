"""`exclude-newer` over the tags of a repository: from the command line, the environment, the manifest, config.toml."""

import json
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from kit import GitServer, Repository, make_skill, prefix_paths

FIRST, SECOND = "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"  # when the kit's first two commits were made


@pytest.fixture
def tagged(tmp_path: Path) -> Repository:
    """Return a repository whose versions 1.0.0, 1.1.0 and 1.2.0 are a second apart."""
    repository = Repository.create(tmp_path / "tagged")
    for version in ("v1.0.0", "v1.1.0", "v1.2.0"):
        repository.write(prefix_paths("skills/pdf", make_skill("pdf", body=f"This is {version}.\n"))).commit()
        repository.tag(version, annotated=version == "v1.1.0")
    return repository


@pytest.fixture
def pdf(scene: CommandSandbox, tagged: Repository) -> CommandSandbox:
    scene.placeholders = {tagged.file_url: "URL", **scene.placeholders}
    return scene.create_project(manifest_text(pdf={"git": tagged.file_url, "path": "skills/pdf", "version": "^1"}))


def configure(scene: CommandSandbox, config: str) -> None:
    file = scene.home / ".config/skillpm/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(config)


def demand(scene: CommandSandbox, **keys: str) -> None:
    """Put keys into the manifest."""
    manifest = json.loads(scene.read("skills.json"))
    scene.write("skills.json", json.dumps(manifest | {key.replace("_", "-"): value for key, value in keys.items()}))


def taken(scene: CommandSandbox, *words: str, **env: str) -> str:
    """Lock and give the version that was taken."""
    scene.run("lock", *words, env=env, check=True)
    return str(scene.read_json("skills.lock")["skills"]["pdf"]["version"])


def test_without_it_the_newest_is_taken(pdf: CommandSandbox) -> None:
    assert taken(pdf) == "1.2.0"


def test_from_the_command_line(pdf: CommandSandbox) -> None:
    assert taken(pdf, "--exclude-newer", SECOND) == "1.1.0"


def test_from_the_environment(pdf: CommandSandbox) -> None:
    assert taken(pdf, SKILLPM_EXCLUDE_NEWER=FIRST) == "1.0.0"


def test_from_the_manifest(pdf: CommandSandbox) -> None:
    demand(pdf, exclude_newer=SECOND)

    assert taken(pdf) == "1.1.0"


@pytest.mark.parametrize("written", [f'"{SECOND}"', SECOND])
def test_from_the_users_settings_as_text_or_as_a_date_of_toml(pdf: CommandSandbox, written: str) -> None:
    configure(pdf, f"exclude-newer = {written}\n")

    assert taken(pdf) == "1.1.0"


def test_of_manifest_and_settings_the_stricter_counts(pdf: CommandSandbox) -> None:
    configure(pdf, f'exclude-newer = "{SECOND}"\n')
    demand(pdf, exclude_newer=FIRST)
    assert taken(pdf) == "1.0.0"

    configure(pdf, f'exclude-newer = "{FIRST}"\n')
    demand(pdf, exclude_newer="0 days")
    pdf.work.joinpath("skills.lock").unlink()
    assert taken(pdf) == "1.0.0"


def test_the_command_line_lifts_what_was_decided_once(pdf: CommandSandbox) -> None:
    demand(pdf, exclude_newer=FIRST)

    assert taken(pdf, "--exclude-newer", "0 days", SKILLPM_EXCLUDE_NEWER=FIRST) == "1.2.0"


def test_what_is_locked_stays_whatever_its_age_and_is_never_taken_back(pdf: CommandSandbox) -> None:
    assert taken(pdf) == "1.2.0"
    before = pdf.read("skills.lock")

    assert pdf.output("sync", "--exclude-newer", FIRST).splitlines()[0] == " + pdf 1.2.0"
    assert pdf.output("update", "--exclude-newer", FIRST) == "nothing to do: 1 skill in WORK/.agent-skills\n"
    check = pdf.output("lock", "--check", env={"SKILLPM_EXCLUDE_NEWER": FIRST})
    assert check.splitlines()[0] == "WORK/skills.lock is up to date"
    assert pdf.read("skills.lock") == before


def test_a_lockfile_is_the_same_on_machines_that_exclude_otherwise(pdf: CommandSandbox, tmp_path: Path) -> None:
    assert taken(pdf, "--exclude-newer", SECOND) == "1.1.0"
    other = CommandSandbox(tmp_path / "other").create_project(pdf.read("skills.json"))
    other.write("skills.lock", pdf.read("skills.lock"))
    configure(other, f'exclude-newer = "{FIRST}"\n')

    other.run("sync", check=True)

    assert other.read("skills.lock") == pdf.read("skills.lock")
    assert other.read(".agent-skills/pdf/SKILL.md").endswith("This is v1.1.0.\n")


def test_outdated_says_why_the_newest_is_not_taken(pdf: CommandSandbox) -> None:
    pdf.run("sync", "--exclude-newer", SECOND, check=True)

    assert pdf.output("outdated", "--exclude-newer", "500 weeks") == expected_output("""\
skill  current  wanted  latest
pdf    1.1.0    1.1.0   1.2.0
! pdf: 1.2.0 is younger than 500 weeks (exclude-newer)
""")
    row = pdf.json_output("outdated", "--exclude-newer", "500 weeks")["skills"][0]
    assert row["held"] == "1.2.0 is younger than 500 weeks (exclude-newer)"
    assert "held" not in pdf.json_output("outdated")["skills"][0]
    assert pdf.output("outdated") == "skill  current  wanted  latest\npdf    1.1.0    1.2.0   1.2.0\n"


def test_a_range_with_only_too_new_versions_is_reported(pdf: CommandSandbox) -> None:
    pdf.write("skills.json", pdf.read("skills.json").replace("^1", ">=1.1"))

    assert pdf.output("sync", "--exclude-newer", FIRST) == expected_output("""\
! error: no version of `pdf` from URL (skills/pdf) satisfies >=1.1; available: 1.0.0; \
1.2.0 and 1.1.0 are newer than 2026-01-01T00:00:01Z (exclude-newer)
!   hint: if you trust 1.2.0, allow it with `--exclude-newer '0 days'`
[1]
""")


def test_diff_of_an_update_shows_what_update_would_take(pdf: CommandSandbox) -> None:
    pdf.run("sync", "--exclude-newer", FIRST, check=True)

    assert pdf.json_output("diff", "pdf", "--update", env={"SKILLPM_EXCLUDE_NEWER": SECOND})["to"] == "1.1.0"


def test_the_dates_of_tags_are_asked_for_once(scene: CommandSandbox, server: GitServer, tagged: Repository) -> None:
    url = server.serve("acme/pdf", tagged)
    scene.create_project(manifest_text(pdf={"git": url, "path": "skills/pdf", "version": "^1"}))
    assert taken(scene, "--exclude-newer", SECOND) == "1.1.0"
    before = sum(request.command == "fetch" for request in server.requests)

    scene.run("outdated", "--exclude-newer", SECOND, check=True)

    fetched = sum(request.command == "fetch" for request in server.requests) - before
    assert (before <= 3, fetched <= 1) == (True, True), (before, fetched)


@pytest.mark.parametrize(
    ("words", "env", "where"),
    [
        (["--exclude-newer", "soon"], {}, "--exclude-newer"),
        (["--exclude-newer", ""], {}, "--exclude-newer"),
        ([], {"SKILLPM_EXCLUDE_NEWER": "soon"}, "SKILLPM_EXCLUDE_NEWER"),
    ],
)
def test_an_invalid_date_is_a_usage_error(
    pdf: CommandSandbox, words: list[str], env: dict[str, str], where: str
) -> None:
    result = pdf.run("lock", *words, env=env)

    assert result.code == 2
    assert result.stderr.splitlines()[0].endswith("` is not an age, a date or a timestamp")
    assert result.stderr.splitlines()[1] == f"  where: {where}"
    assert not pdf.exists("skills.lock")


def test_an_invalid_date_in_a_document_names_file_and_key(pdf: CommandSandbox) -> None:
    demand(pdf, exclude_newer="soon")
    column = pdf.read("skills.json").index('"exclude-newer"') + 1
    assert pdf.output("lock") == expected_output(f"""\
! error: `soon` is not an age, a date or a timestamp
!   where: WORK/skills.json:1:{column}: exclude-newer
!   hint: e.g. `7 days`, `2 weeks`, `12h`, `2026-01-31` or `2026-01-31T12:00:00Z`; `0 days` turns it off
[1]
""")

    demand(pdf, exclude_newer="1d")
    configure(pdf, "exclude-newer = 7\n")
    assert pdf.output("lock").splitlines()[:2] == [
        "! error: expected a string, got 7",
        "!   where: HOME/.config/skillpm/config.toml:1:1: exclude-newer",
    ]
