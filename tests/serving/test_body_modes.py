"""Body modes, and where a text is cut."""

import pytest

from skillpm.serving.renderers.body_modes import MAX_LENGTH, TRUNCATED_NOTE, apply_mode, truncate

BODY = """\
# Deploy

Ships a service.
More on that.

## Steps

```bash
# not a heading
## Example of nothing
kubectl apply
```

Watch it.

## Examples

Do this:

```
run
```

### Deeper

still an example

## After

#hashtag
Done.
"""


def test_full_is_the_whole_body() -> None:
    assert apply_mode(BODY, "full") == BODY


def test_compact_drops_code_and_examples() -> None:
    assert (
        apply_mode(BODY, "compact")
        == """\
# Deploy

Ships a service.
More on that.

## Steps

[code example removed]

Watch it.

## After

#hashtag
Done.
"""
    )


def test_toon_keeps_headings_with_one_line_each() -> None:
    assert (
        apply_mode(BODY, "toon")
        == """\
# Deploy
Ships a service.
## Steps
Watch it.
## Examples
Do this:
### Deeper
still an example
## After
#hashtag"""
    )


@pytest.mark.parametrize("title", ["## Example", "## EXAMPLES", "## example: a refund"])
def test_example_ends_at_the_next_heading_or_the_end(title: str) -> None:
    assert apply_mode(f"a\n{title}\nb\n# c", "compact") == "a\n# c"
    assert apply_mode(f"a\n{title}\nb", "compact") == "a"


def test_deeper_example_heading_is_not_an_example_section() -> None:
    assert apply_mode("## Use\n### Example\nkept", "compact") == "## Use\n### Example\nkept"


@pytest.mark.parametrize(
    "block",
    ["````\n```\n# in\n```\n````", "~~~\n```\n# in\n~~~", "   ```js\n# in\n   ```"],
)
def test_headings_in_any_code_fence_are_code(block: str) -> None:
    assert apply_mode(f"# a\n{block}", "toon") == "# a"
    assert apply_mode(f"# a\n{block}", "compact") == "# a\n[code example removed]"


def test_a_fence_that_is_never_closed_takes_nothing_away() -> None:
    body = "# a\n```\nx\n```\n````py\n# b\nkept\n```\n# c\n```"

    assert apply_mode(body, "compact") == "# a\n[code example removed]\n````py\n# b\nkept\n[code example removed]"
    assert apply_mode("```\nx\n## Later\nkeep me", "compact") == "```\nx\n## Later\nkeep me"
    assert apply_mode("# a\nb\n~~~\n## Later\nkeep me", "toon") == "# a\nb\n## Later\nkeep me"


def test_many_open_fences_take_linear_time() -> None:
    body = "\n".join(["```x", "~~~~ y"] * 100_000)
    assert apply_mode(body, "compact") == body


def test_text_is_cut_at_the_limit_with_a_note() -> None:
    assert truncate("a" * MAX_LENGTH) == ("a" * MAX_LENGTH, False)
    assert truncate("a" * (MAX_LENGTH + 1)) == ("a" * MAX_LENGTH + "\n\n[... truncated ...]", True)


@pytest.mark.parametrize("letter", ["e\u0301", "\U0001f469\u200d\U0001f52c", "\u2764\ufe0f", "\U0001f600"])
def test_no_character_is_split(letter: str) -> None:
    for length in range(len(letter)):
        text, was_cut = truncate("ab" + letter + "cd", 2 + length)
        assert (text, was_cut) == ("ab" + TRUNCATED_NOTE, True)
    assert truncate("ab" + letter + "cd", 2 + len(letter)) == ("ab" + letter + TRUNCATED_NOTE, True)
