"""Tags of a repository with several libraries or plugins: whose versions they are."""

import json
from pathlib import Path

import pytest
from fetchers.world import Project
from kit import Repository, make_skill, prefix_paths

from skillpm.kinds.git import tag_prefixes


@pytest.fixture
def url(tmp_path: Path, project: Project) -> str:
    repository = Repository.create(tmp_path / "upstream")
    for path in ("libs/our-lib/skills/our", "libs/other/skills/foreign", "plugins/foo/skills/bar", "skills/pdf"):
        repository.write(prefix_paths(path, make_skill(path.rpartition("/")[2])))
    repository.commit()
    for tag in (
        *(
            "v0.1.0",
            "our-lib/v1.0.0",
            "our-lib@1.1.0",
            "our-lib/v1.2.0",
            "other/v9.0.0",
            "foo--v1.4.0",
            "skills-v7.0.0",
        ),
        *("libs-v8.0.0", "pdf-v2.0.0", "pdf/v2.1.0", "our-v0.5.0-not", "release/2024-01"),
    ):
        repository.tag(tag)
    project.redirect_git("https://github.com/acme/mono", repository.file_url)
    return "acme/mono"


@pytest.mark.parametrize(
    ("words", "tag", "version"),
    [
        (["@our", "--version", "^1"], "our-lib/v1.2.0", "1.2.0"),
        (["/libs/our-lib/skills/our", "--version", "^1"], "our-lib/v1.2.0", "1.2.0"),
        (["@our", "--version", "*"], "our-lib/v1.2.0", "1.2.0"),
        (["@our", "--version", "<1.2"], "our-lib@1.1.0", "1.1.0"),
        (["@foreign", "--version", "*"], "other/v9.0.0", "9.0.0"),
        (["@bar", "--version", "^1"], "foo--v1.4.0", "1.4.0"),
        (["@pdf", "--version", "*"], "pdf/v2.1.0", "2.1.0"),
        (["#our-lib@1.1.0@our"], "our-lib@1.1.0", "1.1.0"),
        (["#our-lib/v1.0.0@our"], "our-lib/v1.0.0", "1.0.0"),
    ],
)
def test_the_tags_of_what_holds_a_skill_are_its_versions(
    project: Project, url: str, words: list[str], tag: str, version: str
) -> None:
    project.run("install", f"{url}{words[0]}", *words[1:], check=True)

    (locked,) = json.loads(project.read("skills.lock"))["skills"].values()
    assert (locked["source"]["ref"], locked["version"]) == (f"refs/tags/{tag}", version)


@pytest.mark.parametrize("wanted", ["^8", "^9", "^7", "^0.1"])
def test_the_tags_of_something_else_are_not_its_versions(project: Project, url: str, wanted: str) -> None:
    """A folder of libraries, another library, a folder of skills, and the repository, whose tags are more general."""
    result = project.run("install", f"{url}@our", "--version", wanted)

    assert (result.code, result.stderr) == (
        1,
        f"error: https://github.com/acme/mono has no tag in the range {wanted}\n"
        "  hint: its tagged versions: 1.2.0, 1.1.0, 1.0.0\n",
    )


def test_prefixes_become_more_general() -> None:
    assert tag_prefixes("our", "libs/our-lib/skills/our", "https://github.com/acme/mono.git") == [
        {"our"},
        {"our-lib"},
        {"libs"},
        {"mono"},
    ]
    assert tag_prefixes("word", ".claude/skills/docx", "git@host:mono") == [{"word", "docx"}, {"mono"}]
    assert tag_prefixes("pdf", ".", "https://github.com/acme/pdf") == [{"pdf"}, {"pdf"}]
