"""A folder in a host's place that holds what would be linked there is taken over as a copy, and called that."""

import shutil

from commands.scene import CommandSandbox, expected_output


def test_what_is_the_same_is_called_a_copy_and_what_is_new_a_link(scene: CommandSandbox) -> None:
    scene.create_project()
    scene.run("install", "code-review", "testing", check=True)
    shutil.copytree(scene.work / ".agent-skills/testing", scene.work / ".claude/skills/testing")

    dry = scene.output("link", "claude-code", "codex", "--dry-run")

    assert dry == expected_output("""\
 → code-review 1.0.0  (linked in .agents/skills, .claude/skills)
 → testing 1.0.0  (linked in .agents/skills; the identical folder in .claude/skills is adopted as a copy)
would have linked 2; total: 2 skills in WORK/.agent-skills
""")
    assert scene.output("link", "claude-code", "codex") == dry.replace("would have linked", "linked")
    assert not (scene.work / ".claude/skills/testing").is_symlink()
    assert (scene.work / ".claude/skills/code-review").is_symlink()
    assert scene.output("link", "claude-code") == "nothing to do: 2 skills in WORK/.agent-skills\n"
