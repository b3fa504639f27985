"""The error for an unknown name lists a few that exist: the closest or newest, and their number."""

from pathlib import Path

import pytest
from fetchers.world import Project
from kit import Repository, make_skill, prefix_paths

TAGS = ["v1.0.0", "v1.9.0", "v1.10.0", "v2.0.0", "v2.0.1", "nightly", "v10.0.0"]


@pytest.fixture
def plain(tmp_path: Path) -> Repository:
    """A repository with two skills and no tags."""
    repository = Repository.create(tmp_path / "acme")
    repository.write(
        prefix_paths("skills/pdf", make_skill("pdf")) | prefix_paths("skills/docx", make_skill("docx"))
    ).commit("first")
    return repository


@pytest.fixture
def many(plain: Repository) -> Repository:
    """A repository with many skills and tags."""
    for number in range(16):
        plain.write(prefix_paths(f"more/s-{number:02}", make_skill(f"s-{number:02}")))
    plain.commit("many")
    for tag in TAGS:
        plain.tag(tag)
    plain.branch("trunk")
    return plain


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--tag", "v2.0.2"], "did you mean `v2.0.1`, `v2.0.0` or `v1.0.0`?"),
        (["--tag", "zzz"], "its newest tags: v10.0.0, v2.0.1, v2.0.0, v1.10.0, v1.9.0 (5 of 7)"),
        (["--branch", "trnk"], "did you mean `trunk`?"),
        (["--branch", "v1.0.0"], "it is a tag; use --tag v1.0.0"),
        (["--tag", "trunk"], "it is a branch; use --branch trunk"),
    ],
)
def test_tags_and_branches(project: Project, many: Repository, words: list[str], hint: str) -> None:
    result = project.run("install", f"{many.file_url}@pdf", *words)
    kind = words[0].removeprefix("--")
    assert (result.code, result.stderr) == (
        1,
        f"error: {many.file_url} has no {kind} `{words[1]}`\n  hint: {hint}\n",
    )


def test_a_path_that_is_the_name_of_a_skill_suggests_the_spec(project: Project, many: Repository) -> None:
    project.redirect_git("https://github.com/acme/skills", many.file_url)
    url = "https://github.com/acme/skills"

    assert project.run("install", "acme/skills/docx").stderr == (
        f"error: {url} has no folder `docx`\n  hint: did you mean `acme/skills@docx`? its folder is skills/docx\n"
    )
    assert project.run("install", "acme/skills/dcox").stderr == (
        f"error: {url} has no folder `dcox`\n  hint: did you mean `acme/skills@docx`? its folder is skills/docx\n"
    )
    assert project.run("install", "acme/skills/more/docx").stderr == (
        f"error: {url} has no folder `more/docx`\n  hint: did you mean `acme/skills@docx`? its folder is skills/docx\n"
    )
    assert project.run("install", "acme/skills/docx", "--tag", "v2.0.0").stderr == (
        f"error: {url} has no folder `docx` at v2.0.0\n"
        "  hint: did you mean `acme/skills#v2.0.0@docx`? its folder is skills/docx\n"
    )
    assert project.run("install", many.file_url, "--path", "docx").stderr == (
        f"error: {many.file_url} has no folder `docx`\n"
        f"  hint: did you mean `{many.file_url}@docx`? its folder is skills/docx\n"
    )


def test_a_folder_given_with_the_name_of_another_skill_is_refused(project: Project, many: Repository) -> None:
    """Otherwise one of the two arguments would be ignored silently."""
    project.redirect_git("https://github.com/acme/skills", many.file_url)
    url = "https://github.com/acme/skills"
    expected = (
        f"error: {url} has no skill named `docx` in `skills/pdf`\n"
        "  hint: the skill there is named pdf; give the folder or the skill, not both\n"
    )

    typed = project.run("install", "acme/skills/skills/pdf@docx")
    assert (typed.code, typed.stderr) == (1, expected)
    assert project.run("install", "acme/skills@docx", "--path", "skills/pdf").stderr == expected
    assert project.run("install", "acme/skills/skills/pdf@pdf").code == 0


def test_a_folder_given_with_the_declared_name_of_its_skill(project: Project, plain: Repository) -> None:
    plain.write(prefix_paths("odd/place", make_skill("notes"))).commit("another name")
    result = project.run("install", f"{plain.file_url}@notes", "--path", "odd/place")
    assert (result.code, result.stdout.split()[:2]) == (0, ["+", "notes"])


def test_skills_and_folders(project: Project, many: Repository) -> None:
    url = many.file_url
    some = "docx, pdf, s-00, s-01, s-02, s-03, s-04, s-05 (8 of 18)"
    assert project.run("install", f"{url}@zzz").stderr.endswith(f"hint: it has: {some}\n")
    assert project.run("install", f"{url}@dpf").stderr.endswith("hint: did you mean `pdf`?\n")
    assert project.run("install", url, "--path", "zzz").stderr.endswith(
        "hint: its skills are in: more/s-00, more/s-01, more/s-02 (3 of 18)\n"
    )


def test_a_repository_without_tags_names_its_branches(project: Project, plain: Repository) -> None:
    assert project.run("install", f"{plain.file_url}#zzz@pdf").stderr.endswith(
        "hint: it has no tags; its branches: main\n"
    )


@pytest.mark.parametrize("spec", ["acme/skills/", "acme/skills/@pdf", "github:acme/skills/#main"])
def test_a_trailing_slash_is_accepted(project: Project, many: Repository, spec: str) -> None:
    project.redirect_git("https://github.com/acme/skills", many.file_url)
    assert project.run("install", spec, "--all").code == 0
