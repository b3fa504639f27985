"""`index build --dry-run`: every check of a build, and nothing written."""

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import make_skill, prefix_paths

BUILD = ("index", "build", "skills", "--out", "public")


@pytest.fixture
def published(scene: CommandSandbox) -> CommandSandbox:
    """Return a sandbox with one published skill."""
    scene.write_files(prefix_paths("skills/pdf", make_skill("pdf", metadata={"version": "1.0.0"})))
    scene.run(*BUILD, check=True)
    return scene


def test_what_would_be_added_is_listed_and_nothing_is_written(published: CommandSandbox) -> None:
    published.write_files(prefix_paths("skills/docx", make_skill("docx", metadata={"version": "2.0.0"})))
    before = published.full_snapshot

    assert published.output(*BUILD, "--dry-run") == "+ docx 2.0.0\nwould add 1 version\n"
    found = published.json_output(*BUILD, "--dry-run")
    assert (found["added"], found["changed"], found["files"], found["dryRun"]) == (["docx 2.0.0"], False, 0, True)
    assert published.full_snapshot == before
    assert published.json_output(*BUILD)["added"] == ["docx 2.0.0"]
    assert published.output(*BUILD, "--dry-run") == "would add nothing\n"


def test_no_folder_is_made_for_a_new_index(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("skills/pdf", make_skill("pdf", metadata={"version": "1.0.0"})))

    assert scene.output(*BUILD, "--dry-run") == "+ pdf 1.0.0\nwould add 1 version\n"
    assert not scene.exists("public")


def test_a_conflict_is_the_same_error(published: CommandSandbox) -> None:
    published.write_files(prefix_paths("skills/pdf", make_skill("pdf", "Other.", metadata={"version": "1.0.0"})))
    before = published.full_snapshot

    dry = published.output(*BUILD, "--dry-run")

    assert published.full_snapshot == before
    assert dry == published.output(*BUILD)
    assert dry.startswith("! error: `pdf` 1.0.0 is already published with other content")


def test_a_copy_of_a_published_index_is_no_dry_run(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("skills/pdf", make_skill("pdf", metadata={"version": "1.0.0"})))

    assert scene.output(*BUILD, "--dry-run", "--onto", "https://acme.example/") == expected_output("""\
! error: --onto and --dry-run cannot be used together
!   hint: --onto fills DIR; leave one out
[2]
""")
