"""Why hosts with a strict parser do not read some frontmatter: the fault of its YAML, with the line of the file."""

import pytest

from skillpm.skillmd.head import read_head


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("---\nname: a\n---\n", ""),
        ("---\ndescription: Use: x\n---\n", ""),
        ("---\nname: [\n---\n", "line 2: did not find expected node content"),
        ("\n---\nname: [\n---\n", "line 3: did not find expected node content"),
        ("---\ndescription: Use: x\nname: [\nlicense: MIT\n---\n", "line 4: did not find expected ',' or ']'"),
    ],
)
def test_the_fault_and_its_line(text: str, error: str) -> None:
    assert read_head(text.encode()).yaml_error == error
