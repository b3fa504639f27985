"""The machine: variables, git, room on the disks, two homes, permissions that never count."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from difflib import get_close_matches

from skillpm.agent_hosts.known_agents import find_agents
from skillpm.errors import SkillpmError
from skillpm.fetchers.git.process import GitFailed, GitProcesses
from skillpm.installer.layout import Layout
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.scope import MANIFEST
from skillpm.operations.context.scope_indexes import configured_indexes
from skillpm.operations.context.scope_permissions import load_rules, unreachable_rule_messages
from skillpm.operations.discover import read_user_config
from skillpm.operations.doctor.diagnostics import Diagnostic, DoctorContext, diagnostic_from_error

OLDEST_GIT = (2, 36)
MIN_FREE_BYTES = 10_000_000
FOLDER_VARIABLES = ("SKILLPM_HOME", "SKILLPM_CONFIG_DIR", "SKILLPM_CACHE_DIR")
KNOWN_VARIABLES = (
    *FOLDER_VARIABLES, "SKILLPM_OFFLINE", "SKILLPM_LOCK_TIMEOUT", "SKILLPM_NETWORK_TIMEOUT", "SKILLPM_IDLE_TIMEOUT",
    "SKILLPM_FSYNC",
    "SKILLPM_LINK_MODE", "SKILLPM_DISABLE_CLAUDE_PATHS", "SKILLPM_MAX_FILE", "SKILLPM_MAX_SKILL", "SKILLPM_MAX_FILES",
    "SKILLPM_MAX_DOWNLOAD", "SKILLPM_MAX_INDEX", "SKILLPM_MAX_CATALOGUE", "SKILLPM_EXCLUDE_NEWER",
)  # fmt: skip
INDEX_VARIABLE = re.compile(r"SKILLPM_INDEX_\w+_(?:TOKEN|URL)", re.ASCII)


def check_environment(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Look at the variables: unknown ones, folders that depend on where one stands, switches that one forgets."""
    environ = doctor.settings.environ
    for name in sorted(environ):
        if name.startswith("SKILLPM_") and name not in KNOWN_VARIABLES and not INDEX_VARIABLE.fullmatch(name):
            near = get_close_matches(name, KNOWN_VARIABLES, n=1)
            hint = f"did you mean {near[0]}?" if near else "docs/layout-on-disk.md lists those that mean something"
            yield _note("environment", f"{name} is no variable that skillpm knows", hint=hint)
    for name in FOLDER_VARIABLES:
        text = environ.get(name, "")
        if text and not os.path.isabs(text) and not text.startswith("~"):
            hint = "give the whole path, if it is to be one folder for all commands"
            yield _note("environment", f"{name}={text} depends on the folder you are in", hint=hint)
    if not environ.get("HOME"):
        yield _note("environment", f"HOME is not set; {doctor.settings.home} is taken for it", hint="set HOME")
    if not doctor.settings.fsync:
        yield _note("environment", "SKILLPM_FSYNC is off: a power loss may undo or damage what was installed")
    if environ.get("SKILLPM_OFFLINE") and doctor.settings.offline:
        yield _note("environment", "SKILLPM_OFFLINE is on: nothing new can be fetched")


def check_git(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Look for git, and whether it is new enough."""
    advice = "install git 2.36 or newer, e.g. `apt-get install git`"
    environ = doctor.settings.environ
    if shutil.which("git", path=environ.get("PATH") or os.devnull) is None:
        yield Diagnostic(check="git", message="the program `git` was not found on PATH", hint=advice)
        return
    try:
        with tempfile.TemporaryDirectory(prefix="skillpm-doctor-") as folder:
            inner = os.path.join(folder, "empty")
            os.mkdir(inner)
            said = GitProcesses().run(["--version"], environ, inner).decode("utf-8", "replace").strip()
    except GitFailed as failed:
        yield Diagnostic(check="git", message=f"git does not run: {failed.stderr[:200]}", hint=advice)
        return
    except OSError as error:
        yield Diagnostic(check="git", message=f"git cannot be tried: {error.strerror}", where=tempfile.gettempdir())
        return
    numbers = re.search(r"(\d+)\.(\d+)", said)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST_GIT:
        yield Diagnostic(check="git", message=f"this git is too old for skillpm: {said}", hint=advice)


def check_config(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Read config.toml as all its readers do, and the hosts that are to be linked."""
    try:
        read_user_config(doctor.settings)
    except SkillpmError as error:
        yield diagnostic_from_error("config", error)
        return
    if doctor.scope is not None:
        configured_indexes(doctor.scope, doctor.settings)
        papers = read_project_files(doctor.scope, doctor.context)
        find_agents(papers.agents, where=papers.agents_location)


def check_permissions(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Find rules that never count."""
    if doctor.scope is not None:
        for text in unreachable_rule_messages(load_rules(doctor.scope, doctor.settings)):
            where, _, message = text.partition(": this rule")
            hint = "remove it, or write it behind the other"
            yield _note("permissions", f"this rule{message}", where=where, hint=hint)


def check_homes(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Find a second skills directory or a second manifest of the user, which variables hide."""
    settings = doctor.settings
    usual = os.path.join(settings.home, ".agent-skills")
    if _is_different_path(usual, settings.skills_home) and os.path.lexists(Layout(usual).receipt):
        message = f"there are two skills directories of yours: {settings.skills_home} counts, {usual} does not"
        yield _note("homes", message, hint="unset SKILLPM_HOME, or move the skills together")
    usual = os.path.join(settings.home, ".config", "skillpm")
    if _is_different_path(usual, settings.config_dir) and os.path.lexists(os.path.join(usual, MANIFEST)):
        message = f"there are two manifests of yours: the one in {settings.config_dir} counts, {usual} does not"
        hint = "look at SKILLPM_HOME, SKILLPM_CONFIG_DIR and XDG_CONFIG_HOME, or move them together"
        yield _note("homes", message, hint=hint)


def check_disks(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Find disks that are full, of bytes or of files."""
    settings = doctor.settings
    places = [settings.cache_dir, settings.config_dir, tempfile.gettempdir()]
    places += [settings.skills_home] if doctor.scope is None else [doctor.scope.layout.directory]
    seen: set[int] = set()
    for place in places:
        there = _nearest_existing(place)
        device = os.stat(there).st_dev
        if device in seen or not hasattr(os, "statvfs"):
            continue
        seen.add(device)
        state = os.statvfs(there)
        free = state.f_bavail * state.f_frsize
        if free < MIN_FREE_BYTES:
            message = f"the disk is full: {free // 1000} kB are free"
            yield Diagnostic(check="disks", message=message, where=place, hint="free some space; `skillpm cache prune`")
        elif state.f_files and not state.f_favail:
            yield Diagnostic(check="disks", message="the disk can take no more files", where=place, hint="remove some")


def _note(check: str, message: str, *, where: str = "", hint: str = "") -> Diagnostic:
    return Diagnostic(check=check, message=message, where=where, hint=hint, is_note=True)


def _is_different_path(left: str, right: str) -> bool:
    return os.path.realpath(left) != os.path.realpath(right)


def _nearest_existing(path: str) -> str:
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return path
