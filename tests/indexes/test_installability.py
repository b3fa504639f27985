"""Versions that cannot be installed from their index: what `index build`, `check` and `yank` say of them."""

from pathlib import Path

import pytest
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer

BUILD = ("index", "build", "skills", "--out", "public")


@pytest.fixture
def styled(publisher: IndexPublisher) -> IndexPublisher:
    """An index of `style` 1.0.0 and 1.1.0, and of `review` 1.0.0 and 2.0.0, which requires 1.1."""
    publisher.write_draft("style", "1.0.0")
    publisher.write_draft("review", "1.0.0", **{"skill-dependencies": "style"})
    publisher.build()
    publisher.write_draft("style", "1.1.0")
    publisher.write_draft("review", "2.0.0", **{"skill-dependencies": "style>=1.1,<3"})
    publisher.build()
    return publisher


REASON = "`review` 3.0.0 requires `style` >=9; no version of `style` satisfies it; available: 1.1.0 and 1.0.0"


def test_a_version_that_cannot_be_installed_is_not_published(styled: IndexPublisher) -> None:
    styled.write_draft("review", "3.0.0", **{"skill-dependencies": "style>=9"})
    before = styled.snapshot("public")

    refused = styled.run(*BUILD)

    assert (refused.code, refused.error_output) == (
        1,
        f"error: skills/review cannot be published: {REASON}\n"
        "  hint: publish what it requires, or change its `skill-dependencies`; pass --skip-invalid to publish the "
        "others; nothing was written\n",
    )
    assert styled.snapshot("public") == before


def test_a_version_that_is_built_together_with_what_it_requires_is_published(styled: IndexPublisher) -> None:
    styled.write_draft("review", "3.0.0", **{"skill-dependencies": "style>=9"})
    styled.write_draft("style", "9.0.0")

    assert styled.run(*BUILD, check=True).stdout == "+ review 3.0.0\n+ style 9.0.0\n"


def test_skip_invalid_leaves_out_what_cannot_be_installed_and_what_requires_it(styled: IndexPublisher) -> None:
    styled.write_draft("review", "3.0.0", **{"skill-dependencies": "style>=9"})
    styled.write_draft("summary", "1.0.0", **{"skill-dependencies": "merge"})
    styled.write_draft("merge", "1.0.0", **{"skill-dependencies": "review>=3"})
    styled.write_draft("zip", "1.0.0")

    built = styled.run(*BUILD, "--skip-invalid", "--json", check=True)

    assert built.json["added"] == ["zip 1.0.0"]
    through_merge = REASON.replace("3.0.0 requires", "3.0.0 (required by `merge`) requires")
    assert built.json["leftOut"] == [
        {"name": "merge", "where": "skills/merge", "why": through_merge},
        {"name": "review", "where": "skills/review", "why": REASON},
        {"name": "summary", "where": "skills/summary", "why": through_merge},
    ]
    assert built.json["uninstallable"] == []
    assert not styled.exists("public/archives/review-3.0.0.tar.gz")
    assert styled.run("index", "check", "public", check=True).stderr == "no problems found\n"


def test_a_mistyped_dependency_gets_a_suggestion(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf-forms", "1.0.0")
    publisher.write_draft("review", "1.0.0", **{"skill-dependencies": "pdf-froms"})
    message = "warning: review 1.0.0 requires `pdf-froms`, which is not in this index: did you mean `pdf-forms`?\n"

    assert publisher.run(*BUILD, check=True).stderr.startswith(message)
    assert message in publisher.run("index", "check", "public").stderr


def test_a_skill_that_is_not_in_the_index_may_come_from_elsewhere(publisher: IndexPublisher) -> None:
    publisher.write_draft("review", "1.0.0", **{"skill-dependencies": "elsewhere>=1; testing"})
    publisher.write_draft("summary", "1.0.0", **{"skill-dependencies": "elsewhere"})
    message = (
        "warning: review 1.0.0 and 1 more require `elsewhere`, which is not in this index: users need it from "
        "elsewhere\n"
    )

    built = publisher.run(*BUILD, check=True)
    checked = publisher.run("index", "check", "public")

    assert built.stderr.startswith(f"{message}public: 2 skills, 2 versions; ")
    assert (checked.code, checked.stderr) == (0, f"{message}no problems found\n")


REVIEW_2 = (
    "`review` 2.0.0 requires `style` >=1.1,<3; no version of `style` satisfies it; available: 1.0.0; "
    "1.1.0 was yanked: deletes files"
)


def test_a_yank_names_what_can_no_longer_be_installed(styled: IndexPublisher) -> None:
    yanked = styled.run("index", "yank", "style@1.1.0", "public", "--reason", "deletes files", check=True)

    assert yanked.stdout == (
        "yanked style 1.1.0; existing lockfiles can still install it\nthe latest version of style is now 1.0.0\n"
    )
    assert yanked.stderr.splitlines()[:-1] == [
        f"warning: review 2.0.0 can no longer be installed: {REVIEW_2}",
        "publish what they need, or yank them as well: `skillpm index yank review@2.0.0 public`",
    ]
    checked = styled.run("index", "check", "public")
    assert (checked.code, checked.stdout, checked.stderr) == (
        1,
        f"review 2.0.0: cannot be installed: {REVIEW_2}\n",
        "1 problem\n",
    )
    # What was published before is not the fault of this build.
    styled.write_draft("zip", "1.0.0")
    built = styled.run(*BUILD, check=True)
    assert built.stderr.startswith(f"warning: review 2.0.0 cannot be installed: {REVIEW_2}\n")
    # A second yank names only what it adds.
    again = styled.run("index", "yank", "style@1.0.0", "public", "--json", check=True)
    assert again.json["uninstallable"] == [
        {
            "name": "review",
            "version": "1.0.0",
            "why": "`review` 1.0.0 requires `style`; no version of `style` satisfies it; 1.1.0 was yanked: deletes "
            "files; 1.0.0 was yanked",
        }
    ]
    styled.run("index", "yank", "review@1.0.0", "public", check=True)
    styled.run("index", "yank", "review@2.0.0", "public", check=True)
    assert styled.run("index", "check", "public").code == 0


def test_check_knows_skills_of_which_all_versions_are_yanked(publisher: IndexPublisher, server: GitServer) -> None:
    """The catalog omits them, but their document says that they are there."""
    publisher.write_draft("style", "1.0.0")
    publisher.write_draft("review", "1.0.0", **{"skill-dependencies": "style"})
    publisher.build()
    publisher.run("index", "yank", "style@1.0.0", "public", check=True)
    serve_index(server, publisher.index_folder)

    checked = publisher.run("index", "check", f"{server.address}/")

    assert (checked.code, checked.stdout) == (
        1,
        "review 1.0.0: cannot be installed: `review` 1.0.0 requires `style`; no version of `style` satisfies it; "
        "1.0.0 was yanked\n",
    )


def test_a_consumer_gets_an_older_version_or_the_same_reason(
    styled: IndexPublisher, server: GitServer, tmp_path: Path
) -> None:
    styled.run("index", "yank", "style@1.1.0", "public", "--reason", "deletes files", check=True)
    serve_index(server, styled.index_folder)
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=f"{server.address}/")

    refused = consumer.run("install", "review@2.0.0")
    consumer.run("install", "review", check=True)

    assert refused.error_output.splitlines()[0] == "error: " + REVIEW_2.replace(
        "2.0.0 requires", "2.0.0 (you require `review` 2.0.0) requires"
    )
    assert consumer.manifest["skills"] == {"review": "^1.0.0"}
