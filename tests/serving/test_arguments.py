"""Arguments typed after a skill's name are substituted as Claude Code documents it."""

import pytest

from skillpm.serving.arguments import read_argument_names, substitute_arguments


@pytest.mark.parametrize(
    ("body", "typed", "filled"),
    [
        ("Fix issue $ARGUMENTS.", "42 high", "Fix issue 42 high."),
        ("Fix issue $ARGUMENTS.", '"a b" c', 'Fix issue "a b" c.'),
        ("Move $0 from $1 to $2.", "SearchBar React Vue", "Move SearchBar from React to Vue."),
        ("Move $ARGUMENTS[0] to $ARGUMENTS[1].", "'a b' c", "Move a b to c."),
        ("$0 and $1", "one", "one and $1"),
        ("$0 and $0", "one", "one and one"),
        ("It's $0", "it's", "It's it's"),
        ("Nothing.", "42", "Nothing.\n\nARGUMENTS: 42\n"),
        ("Nothing.\n", "", "Nothing.\n"),
        ("Fix $ARGUMENTS", "", "Fix "),
        ("$HOME and $ARGUMENTS_X stay", "x", "$HOME and $ARGUMENTS_X stay\n\nARGUMENTS: x\n"),
        ("$0", "$ARGUMENTS", "$ARGUMENTS"),
        ("costs $5m", "x", "costs $5m\n\nARGUMENTS: x\n"),
        ("$0", r"\1 \g<0>", "1"),
        (r"Cost \$1.00 and \$ARGUMENTS: $0", "x y", "Cost $1.00 and $ARGUMENTS: x"),
        (r"\$ARGUMENTS[0] \$HOME", "x", "$ARGUMENTS[0] \\$HOME\n\nARGUMENTS: x\n"),
        (r"\\$0 \\\$0 \\$7", "x", r"\\x \\\x \\$7"),
    ],
)
def test_placeholders_are_filled(body: str, typed: str, filled: str) -> None:
    assert substitute_arguments(body, typed) == filled


def test_argument_lists_are_not_split_again() -> None:
    assert substitute_arguments("$0|$1|$ARGUMENTS", ["a b", "c"]) == "a b|c|a b c"


def test_named_arguments_use_their_position() -> None:
    names = read_argument_names({"arguments": ["issue", "branch"]})

    assert substitute_arguments("Fix $issue on $branch, not $other.", "42 main", names) == "Fix 42 on main, not $other."
    assert (
        substitute_arguments(r"Fix \$issue $issue on [$branch] \$other.", "42", names)
        == r"Fix $issue 42 on [] \$other."
    )
    assert read_argument_names({"arguments": "issue branch"}) == ("issue", "branch")
    assert read_argument_names({}) == ()
