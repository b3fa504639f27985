"""What people type by mistake where a SPEC is asked for: each is answered with the words to type instead."""

import pytest

from skillpm.errors import UsageError
from skillpm.sources.specifier import parse_specifier


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("pdf,docx", "several skills have blanks between them: skillpm install pdf docx"),
        ("pdf, docx", "several skills have blanks between them: skillpm install pdf docx"),
        ("Code-Review", "names are in lower case, without `@`: code-review"),
        ("@PDF", "names are in lower case, without `@`: pdf"),
        ("pdf@latest", "the newest is what you get anyway: pdf"),
        ("acme/skills@pdf#v1", "the ref comes before the skill: 'acme/skills#v1@pdf'"),
        (
            "https://github.com/acme/skills@pdf#v1",
            "the ref comes before the skill: 'https://github.com/acme/skills#v1@pdf'",
        ),
        ("acme/skills@deploy@^1", "a range is a flag: skillpm install acme/skills@deploy --version '^1'"),
        ("acme/skills@deploy>=1,<2", "a range is a flag: skillpm install acme/skills@deploy --version '>=1,<2'"),
        ("acme/skills#v1@deploy@~1.2", "a range is a flag: skillpm install acme/skills@deploy --version '~1.2'"),
        ("acme/skills@deploy@main", "the ref comes before the skill: 'acme/skills#main@deploy'"),
        (
            "acme/skills@docx,xlsx",
            "each skill is a SPEC of its own: skillpm install acme/skills@docx acme/skills@xlsx",
        ),
        (
            "acme/skills#v1@docx, xlsx",
            "each skill is a SPEC of its own: skillpm install 'acme/skills#v1@docx' 'acme/skills#v1@xlsx'",
        ),
        (
            "acme/skills@docx,obra/more@xlsx",
            "each skill is a SPEC of its own: skillpm install acme/skills@docx obra/more@xlsx",
        ),
        (
            "acme/skills@docx@xlsx",
            "for two skills: skillpm install acme/skills@docx acme/skills@xlsx; "
            "the ref comes before the skill: 'acme/skills#xlsx@docx'",
        ),
        ("git clone https://github.com/acme/skills.git", "only the address: https://github.com/acme/skills.git"),
        ("git clone --depth=1 git@host:a/b.git here", "only the address: git@host:a/b.git"),
    ],
)
def test_what_was_meant_is_said_in_the_words_to_type(spec: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_specifier(spec)
    assert (caught.value.message, caught.value.hint) == (f"`{spec}` is no SPEC", hint)
