"""License expressions, and which of them a list of licenses allows."""

import pytest

from skillpm.formats.trust.licenses import is_license_allowed, normalize_license


@pytest.mark.parametrize(
    ("expression", "allowed", "is_allowed"),
    [
        ("mit", ["MIT"], True),
        ("MIT OR GPL-3.0-only", ["MIT"], True),
        ("MIT AND GPL-3.0-only", ["MIT"], False),
        ("MIT AND GPL-3.0-only", ["MIT", "GPL-3.0-only"], True),
        # AND binds tighter than OR.
        ("GPL-3.0-only AND X11 OR MIT", ["MIT"], True),
        ("MIT OR X11 AND GPL-3.0-only", ["X11"], False),
        ("(MIT OR X11) AND GPL-3.0-only", ["MIT"], False),
        ("(MIT OR X11) AND (GPL-3.0-only OR BSD-3-Clause)", ["X11", "BSD-3-Clause"], True),
        ("Apache-2.0 WITH LLVM-exception", ["Apache-2.0"], True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", ["GPL-2.0-only WITH Classpath-exception-2.0"], True),
        ("GPL-2.0-only", ["GPL-2.0-only WITH Classpath-exception-2.0"], False),
        ("Apache-2.0+", ["Apache-2.0"], True),
        ("LicenseRef-acme", ["LicenseRef-acme"], True),
    ],
)
def test_a_license_expression_is_evaluated(expression: str, allowed: list[str], is_allowed: bool) -> None:  # noqa: FBT001
    assert is_license_allowed(normalize_license(expression), allowed) is is_allowed


@pytest.mark.parametrize(
    "text", ["", "Complete terms in LICENSE.txt", "MIT AND", "(MIT", "MIT OR OR X11", f"{'(' * 400}MIT{')' * 400}"]
)
def test_what_is_not_a_license_expression_is_none(text: str) -> None:
    assert normalize_license(text) == ""
