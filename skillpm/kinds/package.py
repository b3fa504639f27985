"""Skills of installed packages: a distribution of the virtual environment, or a package in node_modules."""

import posixpath
from collections.abc import Callable
from typing import Any, Self

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import PACKAGE_KINDS, PackageKind, SkillName, normalize_package_name
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.errors import UsageError
from skillpm.kinds.base import Pin, Place, Source, check_name, read_folder


class PackageSource(Source):
    """A skill of an installed package: a distribution of the virtual environment, or a package in node_modules."""

    kind: PackageKind
    # Empty in a SPEC that means all installed packages.
    package: str
    # The folder of one of several skills, if it is not named like the requirement.
    skill: str = ""

    scheme = "package"
    is_read_each_time = True
    has_several_skills = True

    def to_json(self) -> Any:
        return {self.kind: self.package} | ({"skill": self.skill} if self.skill else {})

    def describe(self) -> str:
        return f"{self.kind}:{self.package}" + (f"@{self.skill}" if self.skill else "")

    def phrase(self) -> str:
        return f" from {self.kind}:{sanitize(self.package)}"

    def skill_spec(self, spec: str, name: str) -> str:
        return shell_word(f"{self.kind}:{self.package}@{name}")

    @property
    def package_label(self) -> str:
        return f"{self.kind}:{self.package}"

    @property
    def is_specific(self) -> bool:
        return self.package != ""

    def place(self) -> Place:
        return Place(table="sources", address=f"{self.kind}:{self.package}")

    def private_location(self) -> str:
        return f"{self.kind}:{self.package}"

    def admits(self, pin: Pin) -> bool:
        return isinstance(pin, PackagePin) and (pin.kind, pin.package) == (self.kind, self.package)

    def is_same_skill(self, other: Source) -> bool:
        return isinstance(other, PackageSource) and (self.kind, self.package) == (other.kind, other.package)

    def select(self, skill: str) -> Self | None:
        return None if self.skill else self.replace(skill=skill)

    @property
    def names_skill(self) -> bool:
        return self.skill != ""

    def without_selection(self, name: str) -> Self:
        return self.replace(skill="") if self.skill == name else self


class PackagePin(Pin):
    """A folder in a version of an installed package."""

    kind: PackageKind
    package: str
    # Below site-packages, or in the npm package; `.` is the package itself.
    path: str
    version: str = ""

    scheme = "package"
    is_read_each_time = True

    def to_json(self) -> dict[str, Any]:
        version = {"version": self.version} if self.version else {}
        return {self.kind: self.package, **version, "path": self.path}

    def describe(self) -> str:
        skill = "" if self.path == "." else f"@{posixpath.basename(self.path)}"
        return f"{self.kind}:{self.package}{skill}"

    @property
    def package_name(self) -> str:
        return self.package

    def place(self) -> Place:
        return Place(table="sources", address=f"{self.kind}:{self.package}")

    def origin(self) -> str:
        return f"{self.kind}:{self.package}"

    def store_variant(self) -> str:
        return "path"

    def choose_version(self, name: str, declared: str, version: str, warn: Callable[[str], None]) -> str:
        return sanitize(self.version, 60)


def read_source(_: SkillName, node: JsonNode) -> PackageSource:
    """Parse the object of a requirement."""
    kind = next(each for each in PACKAGE_KINDS if node.get(each) is not None)
    node.check_keys(kind, "skill")
    return PackageSource(kind=kind, package=read_package_name(kind, node.require(kind)), skill=node.text_or("skill"))


def read_pin(node: JsonNode) -> PackagePin:
    """Parse the object of a lockfile or a receipt."""
    kind = next(each for each in PACKAGE_KINDS if node.get(each) is not None)
    node.check_keys(kind, "version", "path")
    return PackagePin(
        kind=kind,
        package=read_package_name(kind, node.require(kind)),
        path=read_folder(node.require("path")),
        version=node.text_or("version"),
    )


def read_package_name(kind: PackageKind, node: JsonNode) -> str:
    """Return the name of an installed package, normalized. Raises `DocumentError`."""
    return normalize_package_name(kind, node.text()) or node.raise_expected("the name of a package")


def parse_spec(spec: str) -> PackageSource:
    """Parse `env:PACKAGE@SKILL`; without a package, all installed ones are meant. Raises `UsageError`."""
    kind = next(kind for kind in PACKAGE_KINDS if spec.startswith(kind))
    rest = spec.removeprefix(f"{kind}:")
    at = rest.find("@", 1)  # a name of npm may begin with `@`
    package, skill = (rest[:at], rest[at + 1 :]) if at > 0 else (rest, "")
    name = normalize_package_name(kind, package)
    if package and not name:
        raise UsageError(
            f"`{sanitize(spec)}`: invalid package name `{sanitize(package, 80)}`",
            hint=f"e.g. {kind}:PACKAGE or {kind}:PACKAGE@SKILL; the version is the installed one",
        )
    return PackageSource(kind=kind, package=name, skill=check_name(skill, spec) if at > 0 else "")
