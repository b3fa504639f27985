"""Each rule finds its bad example, and no rule finds anything in its good one."""

import pytest

from skillpm.audit.auditor import audit_tree
from skillpm.audit.model import Example, Rule
from skillpm.audit.rules import RULES
from skillpm.core.file_tree import FileTree, SourceEntry

RULE_LIST = [*RULES.values()]


def tree_of(example: Example) -> FileTree:
    return FileTree(files=(SourceEntry(path=example.path, data=example.content.encode()).as_file(example.path),))


@pytest.mark.parametrize("rule", RULE_LIST, ids=lambda rule: rule.id)
def test_a_bad_example_is_found_at_the_severity_of_its_rule(rule: Rule) -> None:
    found = {finding.severity for finding in audit_tree(tree_of(rule.bad)) if finding.rule == rule.id}

    # A folder beyond the limits is refused; a file is not, and an example is a file.
    assert found == {"medium" if rule.id == "not-audited" else rule.severity}


@pytest.mark.parametrize("rule", RULE_LIST, ids=lambda rule: rule.id)
def test_a_good_example_is_clean(rule: Rule) -> None:
    assert audit_tree(tree_of(rule.good)) == ()
