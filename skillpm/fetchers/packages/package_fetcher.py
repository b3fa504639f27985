"""Fetch skills from installed packages. They have no versions to choose from, but the installed one."""

from collections.abc import Mapping

from skillpm.core.digest import shorten_distinct_digests
from skillpm.core.limits import Limits
from skillpm.core.names import PackageKind, SkillName
from skillpm.core.text import sanitize
from skillpm.errors import DigestMismatch, NotFoundError, SkillpmError
from skillpm.events import Reporter
from skillpm.fetchers.common.base import AvailableSkill, FetchedSkill
from skillpm.fetchers.common.metadata import read_metadata
from skillpm.fetchers.packages.installed_package import InstalledPackage
from skillpm.fetchers.packages.node_modules import NodeModules
from skillpm.fetchers.packages.virtual_environment import VirtualEnvironment
from skillpm.formats.lockfile import LockedSkill
from skillpm.kinds.package import PackagePin, PackageSource
from skillpm.settings import Settings
from skillpm.store import Store


class PackageFetcher:
    """The fetcher for installed packages; `base` is the folder of the lockfile."""

    def __init__(self, settings: Settings, base: str, store: Store, reporter: Reporter) -> None:
        self.base = base
        self.environ = settings.environ
        self.places: dict[PackageKind, VirtualEnvironment | NodeModules] = {}
        self.limits: Limits = settings.limits
        self.scope_flag = settings.scope_flag
        self.store = store
        self.reporter = reporter

    def find_package(self, source: PackageSource | PackagePin) -> InstalledPackage:
        """Return an installed package. Raises `NotFoundError`."""
        return self._place(source.kind).find(source.package)

    def find_absence(self, source: PackageSource) -> str:
        """Return that the package of a source is not installed; empty if it is."""
        try:
            self.find_package(source)
        except NotFoundError as error:
            return error.message
        return ""

    def _place(self, kind: PackageKind) -> VirtualEnvironment | NodeModules:
        if kind not in self.places:
            is_python = kind == "env"
            self.places[kind] = VirtualEnvironment(self.base, self.environ) if is_python else NodeModules(self.base)
        return self.places[kind]

    def _require(self, name: SkillName, source: PackageSource | PackagePin) -> InstalledPackage:
        """Return the installed package of a skill. Raises `NotFoundError`, which names the skill."""
        try:
            return self.find_package(source)
        except NotFoundError as error:
            raise NotFoundError(f"`{name}`: {error.message}", where=error.where, hint=error.hint) from error

    def list_available_skills(self, source: PackageSource) -> list[AvailableSkill]:
        """List the skills of a package, or of all installed ones, without those that cannot be read."""
        if source.package:
            return self._list_package(self.find_package(source), source)
        skills = []
        for name in self._place(source.kind).names_with_skills():
            each = source.replace(package=name)
            try:
                skills.extend(self._list_package(self.find_package(each), each))
            except SkillpmError as error:
                self.reporter.warn(f"left out {source.kind}:{name}: {error.message}")
        if not skills:
            raise NotFoundError("no installed package has skills", hint=self._place(source.kind).convention)
        return skills

    def pin(self, sources: Mapping[SkillName, PackageSource]) -> dict[SkillName, FetchedSkill]:
        """Read the skills as they are installed now, and add their content to the store."""
        skills = {}
        for name, source in sources.items():
            package = self._require(name, source)
            path = package.find_skill(source.skill, name, self.limits)
            tree = package.read_tree(path, name, self.limits)
            pin = PackagePin(kind=source.kind, package=source.package, version=package.version, path=path)
            skills[name] = read_metadata(tree, pin, name)
            self.store.add(tree, pin.store_variant(), replace=True)
        return skills

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        """Read the locked skills again. Raises `NotFoundError` if another version is installed."""
        for name, skill in locked.items():
            if isinstance(pin := skill.pin, PackagePin) and skill.digest is not None:
                package = self._require(name, pin)
                if package.version != pin.version or pin.path not in package.paths:
                    raise NotFoundError(
                        f"`{name}` is locked to {sanitize(pin.package)} {sanitize(pin.version, 40)}, "
                        f"but {package.label} is installed",
                        hint=f"install the locked version, or run `skillpm update{self.scope_flag} {name}`",
                    )
                tree = package.read_tree(pin.path, name, self.limits)
                if tree.digest != skill.digest:
                    shown, actual = shorten_distinct_digests(skill.digest, tree.digest)
                    raise DigestMismatch(name, locked=shown, actual=actual, origin=package.label)
                self.store.add(tree, pin.store_variant(), replace=True)
        return []

    def _list_package(self, package: InstalledPackage, source: PackageSource) -> list[AvailableSkill]:
        paths, skills = package.require_skills(), []
        if source.skill:
            path = package.find_skill(source.skill, "", self.limits)
            paths = {package.name_of(path): path}
        for folder, path in sorted(paths.items()):
            skill = package.read_skill(path, self.limits)
            own = source.replace(skill=folder)
            skills.append(AvailableSkill(name=skill.declared or folder, description=skill.description, source=own))
        return skills
