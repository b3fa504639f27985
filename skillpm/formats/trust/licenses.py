"""SPDX license expressions: whether a skill may be used under at least one of the licenses that are allowed."""

import re
from collections.abc import Collection

# Deeper nesting could exhaust the stack.
MAX_LENGTH = 300
TOKEN = re.compile(r"[()]|[^\s()]+")


def normalize_license(expression: str) -> str:
    """Return a license expression in SPDX's spelling; empty if it is not one."""
    if len(expression) > MAX_LENGTH:
        return ""
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression  # noqa: PLC0415  (slow)

    try:
        return str(canonicalize_license_expression(expression))
    except InvalidLicenseExpression:
        return ""


def is_license_allowed(expression: str, allowed: Collection[str]) -> bool:
    """Return whether licenses that are allowed satisfy a normalized expression.

    Of `OR` one side suffices, and of `AND` both are required, which binds tighter (SPDX 2.3, annex D.4). An exception
    (`WITH`) and a later version (`+`) only add to what a license permits, so the license itself suffices.
    """
    tokens = TOKEN.findall(expression)[::-1]

    def parse_or() -> bool:
        result = parse_and()
        while tokens and tokens[-1] == "OR":
            tokens.pop()
            result = parse_and() or result
        return result

    def parse_and() -> bool:
        result = parse_license()
        while tokens and tokens[-1] == "AND":
            tokens.pop()
            result = parse_license() and result
        return result

    def parse_license() -> bool:
        name = tokens.pop()
        if name == "(":
            result = parse_or()
            tokens.pop()
            return result
        names = {name, name.removesuffix("+")}
        if tokens and tokens[-1] == "WITH":
            tokens.pop()
            names |= {f"{each} WITH {tokens[-1]}" for each in names}
            tokens.pop()
        return not names.isdisjoint(allowed)

    return parse_or()
