"""Common mistakes in a SPEC: each is answered with the correct one."""

import pytest

from skillpm.errors import UsageError
from skillpm.requirements.specifier import parse_specifier


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("pdf,docx", "separate several skills with spaces: skillpm install pdf docx"),
        ("pdf, docx", "separate several skills with spaces: skillpm install pdf docx"),
        ("Code-Review", "names are lower case, without `@`: code-review"),
        ("@PDF", "names are lower case, without `@`: pdf"),
        ("pdf@latest", "the newest version is the default: pdf"),
        ("acme/skills@pdf#v1", "the ref comes before the skill: 'acme/skills#v1@pdf'"),
        (
            "https://github.com/acme/skills@pdf#v1",
            "the ref comes before the skill: 'https://github.com/acme/skills#v1@pdf'",
        ),
        ("acme/skills@deploy@^1", "use --version: skillpm install acme/skills@deploy --version '^1'"),
        ("acme/skills@deploy>=1,<2", "use --version: skillpm install acme/skills@deploy --version '>=1,<2'"),
        ("acme/skills#v1@deploy@~1.2", "use --version: skillpm install acme/skills@deploy --version '~1.2'"),
        ("acme/skills@deploy@main", "the ref comes before the skill: 'acme/skills#main@deploy'"),
        (
            "acme/skills@docx,xlsx",
            "each skill needs its own SPEC: skillpm install acme/skills@docx acme/skills@xlsx",
        ),
        (
            "acme/skills#v1@docx, xlsx",
            "each skill needs its own SPEC: skillpm install 'acme/skills#v1@docx' 'acme/skills#v1@xlsx'",
        ),
        (
            "acme/skills@docx,obra/more@xlsx",
            "each skill needs its own SPEC: skillpm install acme/skills@docx obra/more@xlsx",
        ),
        (
            "acme/skills@docx@xlsx",
            "for two skills: skillpm install acme/skills@docx acme/skills@xlsx; "
            "the ref comes before the skill: 'acme/skills#xlsx@docx'",
        ),
        ("git clone https://github.com/acme/skills.git", "pass only the URL: https://github.com/acme/skills.git"),
        (
            "acme/skills/skills/deploy@v1.0.0",
            "use --version: skillpm install acme/skills/skills/deploy --version v1.0.0",
        ),
        ("acme/skills/skills/deploy@^1", "use --version: skillpm install acme/skills/skills/deploy --version '^1'"),
        ("acme/skills/skills/deploy@main", "the ref follows `#`: 'acme/skills/skills/deploy#main'"),
        ("acme/skills@v1.0.0", "use --version: skillpm install acme/skills@NAME --version v1.0.0"),
        ("gitlab:acme/skills@^1", "use --version: skillpm install gitlab:acme/skills@NAME --version '^1'"),
        ("acme/skills:skills/deploy", "for a folder of a repository: acme/skills/skills/deploy"),
        ("acme/skills:deploy", "for a skill from a repository: acme/skills@deploy"),
        ("acme/skills#v1.0.0#deploy", "the skill follows `@`: 'acme/skills#v1.0.0@deploy'"),
        ("@acme/skills", "without the leading `@`: acme/skills"),
        ("@acme/skills@deploy", "without the leading `@`: acme/skills@deploy"),
        ("gh:acme/skills@deploy", "use the prefix github: github:acme/skills@deploy"),
        ("https://www.github.com/acme/skills", "without `www.`: https://github.com/acme/skills"),
        ("www.github.com/acme/skills", "without `www.`: github.com/acme/skills"),
        ("https://gist.github.com/ada/0a1b2c", "a gist is a git repository: https://gist.github.com/ada/0a1b2c.git"),
        ("skillpm install acme/skills@deploy", "pass only its arguments: acme/skills@deploy"),
        ("npx skills add acme/skills", "pass only its arguments: acme/skills"),
        ("git clone --depth=1 git@host:a/b.git here", "pass only the URL: git@host:a/b.git"),
        ("oci:ghcr.io/acme/pdf:1.0.0", "a repository in an OCI registry is oci://ghcr.io/acme/pdf:1.0.0"),
        ("docker://ghcr.io/acme/pdf", "a repository in an OCI registry is oci://ghcr.io/acme/pdf"),
    ],
)
def test_a_mistake_is_answered_with_the_correct_spec(spec: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_specifier(spec)
    assert (caught.value.message, caught.value.hint) == (f"invalid SPEC `{spec}`", hint)
