"""Links to the skills beside a skill: `install` prints how to install them, and `validate` what to declare."""

from commands.scene import LINK_HINT, CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths

BODY = """\
See [the writer](../docx/SKILL.md), [it again](../docx/SKILL.md#use) and [a folder](../shared/).

```
[in a block](../code/SKILL.md)
```
"""


def test_install_suggests_the_skill_that_is_linked(project: CommandSandbox, upstream: Repository, url: str) -> None:
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", body=BODY))).commit()
    upstream.branch("next")

    assert project.output("install", f"{url}#next@pdf").endswith(
        expected_output("""\
added 1; total: 1 skill in WORK/.agent-skills
! pdf links to ../docx/SKILL.md: `skillpm install 'URL#next@docx'`
""")
        + LINK_HINT
    )
    assert project.read_json("skills.json")["skills"].keys() == {"pdf"}
    assert project.output("install", f"{url}#next@pdf") == "nothing to do: 1 skill in WORK/.agent-skills\n"

    project.run("uninstall", "pdf", check=True)
    project.run("install", f"{url}#next@docx", check=True)
    assert "links to" not in project.output("install", f"{url}#next@pdf")


def test_a_skill_that_does_not_exist_is_not_suggested(project: CommandSandbox, upstream: Repository, url: str) -> None:
    body = "[gone](../gone/SKILL.md)\n"
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", body=body))).commit()
    project.write_files(prefix_paths("mine/report", make_skill("report", body=body)))

    assert "links to" not in project.output("install", f"{url}@pdf")
    assert "links to" not in project.output("install", "./mine/report")


def test_a_local_folder(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("mine/pdf", make_skill("pdf", body=BODY)))
    project.write_files(prefix_paths("mine/docx", make_skill("docx")))

    assert "! pdf links to ../docx/SKILL.md: `skillpm install ./mine/docx`\n" in project.output("install", "./mine/pdf")


def test_many_links_are_summarized(project: CommandSandbox) -> None:
    body = "".join(f"[{n}](../s{n}/SKILL.md)\n" for n in range(30))
    project.write_files(prefix_paths("mine/pdf", make_skill("pdf", body=body)))
    for number in range(30):
        project.write_files(prefix_paths(f"mine/s{number}", make_skill(f"s{number}")))

    lines = [line for line in project.output("install", "./mine/pdf").splitlines() if "link" in line][:4]

    assert [line.partition(":")[0] for line in lines] == [
        "! pdf links to ../s0/SKILL.md",
        "! pdf links to ../s1/SKILL.md",
        "! pdf links to ../s2/SKILL.md",
        "! and 17 more such links",
    ]


def test_validate_says_what_to_declare(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("mine/pdf", make_skill("pdf", body="[w](../docx/SKILL.md)\n")))

    assert project.output("validate", "mine/pdf") == expected_output("""\
mine/pdf/SKILL.md:5: warning: `../docx/SKILL.md` is another skill; if this one needs it, declare it under `metadata`, \
as `skill-dependencies: docx` [sibling-skill]
       5 | [w](../docx/SKILL.md)
! 1 of 1 skill valid
""")
