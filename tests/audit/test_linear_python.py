"""The time that the audit takes for Python grows as the file does."""

from collections.abc import Callable

import pytest
from kit.growth import growth_of_calls, growth_of_time

from skillpm.audit.checks.python_code import check_python
from skillpm.audit.finding import AuditFinding
from skillpm.audit.source_file import SourceFile
from skillpm.core.file_tree import TreeFile


def check(path: str, text: str) -> list[AuditFinding]:
    return [*check_python(SourceFile(TreeFile(path=path, data=text.encode())))]


def many_blocks(number: int) -> list[AuditFinding]:
    return check("SKILL.md", "# Steps\n" + "```python\nexec(a)\n```\n" * number)


def nested_functions(depth: int) -> list[AuditFinding]:
    body = "".join(f"{' ' * level}def f{level}():\n{' ' * level} return a\n" for level in range(depth))
    return check("run.py", f"exec(a)\n{body}")


@pytest.mark.parametrize("work", [many_blocks, nested_functions])
def test_twice_the_python_calls_twice_the_functions(work: Callable[[int], object]) -> None:
    assert growth_of_calls(work, 40) < 2.3


def test_code_blocks_take_linear_time() -> None:
    """The text around them, which is as long as they are many, is read once and not once for each."""
    assert growth_of_time(many_blocks, 4_000) < 8


def test_lines_of_code_blocks_are_those_of_the_file() -> None:
    assert [found.line for found in many_blocks(3)] == [3, 6, 9]


def test_what_an_inner_function_returns_counts_for_the_outer_one() -> None:
    source = """
import base64
def outer():
    def inner():
        return base64.b64decode(a)
    return 1
exec(outer())
"""
    assert [found.message for found in check("run.py", source)] == ["`exec` runs what it decodes"]


def test_a_function_may_return_what_an_earlier_one_returns() -> None:
    source = """
import base64
def first():
    return base64.b64decode(a)
def second():
    def third():
        return first()
    return third()
exec(second())
"""
    assert [found.message for found in check("run.py", source)] == ["`exec` runs what it decodes"]
