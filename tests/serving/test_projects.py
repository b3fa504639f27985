"""Projects: `projects/NAME/ROLE.md`."""

import os
from pathlib import Path

from kit.registry import write_files

from skillpm.serving.projects import Role, ensure_projects_dir, get_project_instructions, load_projects


def test_projects_are_folders_with_a_role_sorted_by_name(tmp_path: Path) -> None:
    write_files(
        tmp_path / "projects",
        {"stocks/ROLE.md": "\nYou track.\n\n", "nutrition/ROLE.md": "You coach.", "x/other.md": "x"},
    )

    assert load_projects(str(tmp_path)) == (
        Role(name="nutrition", instructions="You coach.", path=f"{tmp_path}/projects/nutrition/ROLE.md"),
        Role(name="stocks", instructions="You track.", path=f"{tmp_path}/projects/stocks/ROLE.md"),
    )


def test_frontmatter_may_name_skills(tmp_path: Path) -> None:
    write_files(
        tmp_path / "projects",
        {"a/ROLE.md": "---\nskills: [pdf, docx, pdf]\n---\n\nDo.\n", "b/ROLE.md": "---\nskills: pdf, docx\n---\nDo."},
    )

    assert [(p.instructions, p.skills) for p in load_projects(str(tmp_path))] == [("Do.", ("pdf", "docx"))] * 2


def test_text_like_frontmatter_is_an_instruction(tmp_path: Path) -> None:
    write_files(tmp_path / "projects", {"a/ROLE.md": "---\nDo it.\n"})

    assert load_projects(str(tmp_path))[0].instructions == "---\nDo it."


def test_unreadable_project_hides_no_other(tmp_path: Path) -> None:
    write_files(
        tmp_path / "projects",
        {"a/ROLE.md": b"\xff\xfe", "b/ROLE.md": "Do.", "c/ROLE.md": "a" * 1_000_001, "e/ROLE.md/x": ""},
    )
    (tmp_path / "projects/d").mkdir()
    os.mkfifo(tmp_path / "projects/d/ROLE.md")

    assert [project.name for project in load_projects(str(tmp_path))] == ["b"]


def test_projects_folder_is_created_once(tmp_path: Path) -> None:
    assert ensure_projects_dir(str(tmp_path / "data")) == f"{tmp_path}/data/projects"
    assert ensure_projects_dir(str(tmp_path / "data")) == f"{tmp_path}/data/projects"
    assert load_projects(str(tmp_path / "data")) == ()


def test_instructions_are_found_by_name() -> None:
    projects = [Role(name="a", instructions="Do.", path="/a")]

    assert get_project_instructions(projects, "a") == "Do."
    assert get_project_instructions(projects, "b") is None
