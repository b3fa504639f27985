"""What people type by mistake where a SPEC is asked for: each is answered with the words to type instead."""

import pytest

from skillpm.errors import UsageError
from skillpm.requirements.specifier import parse_specifier


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
        (
            "acme/skills/skills/deploy@v1.0.0",
            "a range is a flag: skillpm install acme/skills/skills/deploy --version 'v1.0.0'",
        ),
        ("acme/skills/skills/deploy@^1", "a range is a flag: skillpm install acme/skills/skills/deploy --version '^1'"),
        ("acme/skills/skills/deploy@main", "the ref comes behind `#`: 'acme/skills/skills/deploy#main'"),
        ("acme/skills@v1.0.0", "a range is a flag: skillpm install acme/skills@NAME --version 'v1.0.0'"),
        ("gitlab:acme/skills@^1", "a range is a flag: skillpm install gitlab:acme/skills@NAME --version '^1'"),
        ("acme/skills:skills/deploy", "a folder in it: acme/skills/skills/deploy"),
        ("acme/skills:deploy", "a skill of a repository: acme/skills@deploy"),
        ("acme/skills#v1.0.0#deploy", "the skill comes behind `@`: 'acme/skills#v1.0.0@deploy'"),
        ("@acme/skills", "without `@` in front: acme/skills"),
        ("@acme/skills@deploy", "without `@` in front: acme/skills@deploy"),
        ("gh:acme/skills@deploy", "the forge is called github: github:acme/skills@deploy"),
        ("https://www.github.com/acme/skills", "without `www.`: https://github.com/acme/skills"),
        ("www.github.com/acme/skills", "without `www.`: github.com/acme/skills"),
        ("https://gist.github.com/ada/0a1b2c", "a gist is a git repository: https://gist.github.com/ada/0a1b2c.git"),
        ("skillpm install acme/skills@deploy", "only what stands behind it: acme/skills@deploy"),
        ("npx skills add acme/skills", "only what stands behind it: acme/skills"),
        ("git clone --depth=1 git@host:a/b.git here", "only the address: git@host:a/b.git"),
    ],
)
def test_what_was_meant_is_said_in_the_words_to_type(spec: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_specifier(spec)
    assert (caught.value.message, caught.value.hint) == (f"`{spec}` is no SPEC", hint)
