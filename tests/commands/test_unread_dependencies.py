"""Dependencies under a name that is not read are reported when a skill is installed."""

import pytest
from commands.scene import CommandSandbox

READ = "skillpm reads `skill-dependencies` under `metadata`"


@pytest.mark.parametrize(
    ("block", "warning"),
    [
        ("depends_on: [other]", f"`depends_on` in its SKILL.md is not followed; {READ}"),
        ("depends: other\ndependencies: [a]", f"`dependencies` and `depends` in its SKILL.md are not followed; {READ}"),
        ("skill-dependencies: other", f"`skill-dependencies` in its SKILL.md is not followed; {READ}"),
        ("metadata:\n  dependencies: other", f"`dependencies` in its SKILL.md is not followed; {READ}"),
        ("metadata:\n  version: '1'", ""),
    ],
)
def test_a_key_that_is_not_read_is_reported(project: CommandSandbox, block: str, warning: str) -> None:
    project.write("mine/one/SKILL.md", f"---\nname: one\ndescription: d\n{block}\n---\nDo it.\n")

    ran = project.run("install", "./mine/one", check=True)
    assert [line for line in ran.stderr.splitlines() if line.startswith("warning: ")] == (
        [f"warning: one: {warning}"] if warning else []
    )
