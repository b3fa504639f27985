"""Checks of the machine and the user's settings: variables, git, config, permissions, homes, disk space."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping

from skillpm.agent_hosts.discover import read_user_config
from skillpm.agent_hosts.known_agents import find_agents
from skillpm.core.patterns import lazy_pattern
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import SignatureError
from skillpm.installer.disk.layout import Layout
from skillpm.operations.doctor.diagnostics import Diagnostic, DoctorContext, diagnostic_from_error
from skillpm.scope.audit_settings import load_audit_settings
from skillpm.scope.project import Project
from skillpm.scope.project_files import read_project_files
from skillpm.scope.scope import MANIFEST, Scope
from skillpm.scope.scope_fetchers import configured_indexes
from skillpm.scope.scope_permissions import load_rules, unreachable_rule_messages, visible_scopes
from skillpm.scope.scope_policy import load_policies, require_current
from skillpm.scope.trusted_signers import read_trust_rules, require_files_of_rule
from skillpm.vetting.applied_rules import apply_rule

OLDEST_GIT = (2, 37)
GIT_SECONDS = 10
# What starts a script of Python (pip writes two lines if the path is long) or of Node.js.
SCRIPT = lazy_pattern(rb"#!(?:[^\n]*\b(?:python|pypy|node)|/bin/sh\n'''exec' )")
# A console script imports the module; in an executable zip archive, the same name has slashes.
STARTS_SKILLPM = lazy_pattern(rb"skillpm[./]cli[./]entry_point")
MIN_FREE_BYTES = 10_000_000
FOLDER_VARIABLES = ("SKILLPM_HOME", "SKILLPM_CONFIG_DIR", "SKILLPM_CACHE_DIR")
KNOWN_VARIABLES = (
    "SKILLPM_MCP_TOKEN",
    *FOLDER_VARIABLES, "SKILLPM_OFFLINE", "SKILLPM_LOCK_TIMEOUT", "SKILLPM_NETWORK_TIMEOUT", "SKILLPM_IDLE_TIMEOUT",
    "SKILLPM_POLICY", "SKILLPM_REPLACE", "SKILLPM_SIGN_PASSPHRASE",
    "SKILLPM_FSYNC",
    "SKILLPM_LINK_MODE", "SKILLPM_DISABLE_CLAUDE_PATHS", "SKILLPM_MAX_FILE", "SKILLPM_MAX_SKILL", "SKILLPM_MAX_FILES",
    "SKILLPM_MAX_DOWNLOAD", "SKILLPM_MAX_INDEX", "SKILLPM_MAX_CATALOG", "SKILLPM_MAX_SKILLS",
    "SKILLPM_MAX_RELEASES", "SKILLPM_EXCLUDE_NEWER",
)  # fmt: skip
# With the name of an index or the host of a registry.
NAMED_VARIABLE = lazy_pattern(r"SKILLPM_(?:INDEX_\w+_(?:TOKEN|URL)|OCI_\w+_(?:USERNAME|PASSWORD))", re.ASCII)


def check_environment(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Check the variables: unknown ones, relative folders, and switches that are easily forgotten."""
    environ = doctor.settings.environ
    for name in sorted(environ):
        if name.startswith("SKILLPM_") and name not in KNOWN_VARIABLES and not NAMED_VARIABLE.fullmatch(name):
            hint = suggestion_hint(name, KNOWN_VARIABLES, "docs/layout-on-disk.md lists the variables")
            yield _note(f"unknown variable {name}", hint=hint)
    for name in FOLDER_VARIABLES:
        text = environ.get(name, "")
        if text and not os.path.isabs(text) and not text.startswith("~"):
            hint = "use an absolute path to use one folder for all commands"
            yield _note(f"{name}={text} is relative to the current folder", hint=hint)
    if not environ.get("HOME"):
        yield _note(f"HOME is not set; using {doctor.settings.home}", hint="set HOME")
    if not doctor.settings.fsync:
        yield _note("SKILLPM_FSYNC is off: a power failure may undo changes or damage installed skills")
    if environ.get("SKILLPM_OFFLINE") and doctor.settings.offline:
        yield _note("SKILLPM_OFFLINE is on: nothing new can be fetched")


def check_git(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Check that git is installed and recent enough."""
    advice = "install git 2.37 or newer, e.g. `apt-get install git`"
    environ = doctor.settings.environ
    program = shutil.which("git", path=environ.get("PATH") or os.devnull)
    if program is None:
        yield Diagnostic(message="the program `git` was not found on PATH", hint=advice)
        return
    try:
        # In a folder that needs no removal; nothing of it is read.
        done = subprocess.run(
            [program, "--version"], cwd=os.sep, env=environ, capture_output=True, timeout=GIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Diagnostic(message=f"git cannot be run: {getattr(error, 'strerror', None) or error}", where=program)
        return
    version, failure = (text.decode("utf-8", "replace").strip() for text in (done.stdout, done.stderr))
    if done.returncode:
        yield Diagnostic(message=f"git does not run: {sanitize(failure)}", hint=advice)
        return
    numbers = re.search(r"(\d+)\.(\d+)", version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST_GIT:
        yield Diagnostic(message=f"git is too old for skillpm: {version}", hint=advice)


def check_command(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Find a `skillpm` of another project on PATH: a script of Python or Node.js that does not start this package.

    Wrappers in shell and binary programs may start anything, and are not judged.
    """
    found = shutil.which("skillpm", path=doctor.settings.environ.get("PATH") or os.devnull)
    if found is None:
        return
    with open(found, "rb") as file:
        content = file.read()
    if SCRIPT.match(content) and not STARTS_SKILLPM.search(content):
        hint = "run `agent-skillpm`, which is this program, or put the folder of this program first in PATH"
        yield _note("`skillpm` on PATH is the program of another project", where=found, hint=hint)


def check_config(doctor: DoctorContext) -> Iterable[Diagnostic]:
    """Check config.toml, the configured indexes, and the agents to link, all by reading them."""
    read_user_config(doctor.settings)
    if doctor.scope is not None:
        configured_indexes(doctor.scope, doctor.settings)
        files = read_project_files(Project(doctor.scope, doctor.session))
        find_agents(files.agents, where=files.agents_location)
    return ()


def check_permissions(doctor: DoctorContext, scope: Scope) -> Iterator[Diagnostic]:
    """Find rules that never apply."""
    for text in unreachable_rule_messages(load_rules(scope, doctor.settings)):
        where, _, message = text.partition(": this rule")
        yield _note(f"this rule{message}", where=where, hint="remove it, or move it after the other")


def check_policies(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Find policies that cannot be read, have no current copy, or that others than root may write."""
    settings = doctor.settings
    scopes = () if doctor.scope is None else visible_scopes(doctor.scope, settings)
    if doctor.scope is not None:
        load_audit_settings(doctor.scope, settings)  # raises for a rule that does not exist
    require_current(load_policies(scopes, settings), settings.now)
    file = settings.machine_policy
    if hasattr(os, "getuid") and file and os.path.exists(file):
        for path in (os.path.dirname(file), file):
            state = os.stat(path)
            if state.st_uid != 0 or state.st_mode & 0o022:
                message = "users other than root can change this machine's policy"
                yield Diagnostic(message=message, where=path, hint=f"run `chown root {path} && chmod go-w {path}`")


def check_trust(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Find tables of `[[trust]]` whose key files cannot be used, and those that cover no locked skill."""
    settings = doctor.settings
    rules = read_trust_rules(settings)
    scopes = visible_scopes(doctor.scope, settings) if rules and doctor.scope is not None else ()
    files = [read_project_files(Project(scope, doctor.session)) for scope in scopes]
    pins = [skill.pin for each in files for skill in each.whole_lockfile.skills.values()]
    for rule in rules:
        try:
            require_files_of_rule(settings, rule)
        except SignatureError as error:
            yield diagnostic_from_error("trust", error)
        if pins and all(apply_rule(rule, pin) is None for pin in pins):
            hint = "compare it with the source that `skillpm show NAME` prints; docs/places.md has the grammar"
            yield _note(f"`{rule.source}` covers no skill that is locked here", where=rule.where, hint=hint)


def check_homes(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Find a second skills directory or manifest of the user, ignored because of environment variables."""
    settings = doctor.settings
    default = os.path.join(settings.home, ".agent-skills")
    if _is_different_path(default, settings.skills_home) and os.path.lexists(Layout(directory=default).receipt):
        message = f"you have two skills directories: {settings.skills_home} is used, {default} is ignored"
        yield _note(message, hint="unset SKILLPM_HOME, or merge the two")
    default = os.path.join(settings.home, ".config", "skillpm")
    if _is_different_path(default, settings.config_dir) and os.path.lexists(os.path.join(default, MANIFEST)):
        message = f"you have two manifests: the one in {settings.config_dir} is used, the one in {default} is ignored"
        hint = "check SKILLPM_HOME, SKILLPM_CONFIG_DIR and XDG_CONFIG_HOME, or merge the two"
        yield _note(message, hint=hint)


def _temporary_folder(environ: Mapping[str, str]) -> str:
    """Return the folder for temporary files. `tempfile` would write a file to see whether it can."""
    return next((folder for name in ("TMPDIR", "TEMP", "TMP") if (folder := environ.get(name))), "/tmp")  # noqa: S108


def check_disks(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Find disks without free space or without free inodes."""
    settings = doctor.settings
    paths = [settings.cache_dir, settings.config_dir, _temporary_folder(settings.environ)]
    paths += [settings.skills_home] if doctor.scope is None else [doctor.scope.layout.directory]
    seen: set[int] = set()
    for path in paths:
        existing = _nearest_existing(path)
        device = os.stat(existing).st_dev
        if device in seen or not hasattr(os, "statvfs"):
            continue
        seen.add(device)
        state = os.statvfs(existing)
        free = state.f_bavail * state.f_frsize
        if free < MIN_FREE_BYTES:
            message = f"the disk is full: {free // 1000} kB free"
            hint = "free some space, e.g. with `skillpm cache prune`"
            yield Diagnostic(message=message, where=path, hint=hint)
        elif state.f_files and not state.f_favail:
            yield Diagnostic(message="the disk has no free inodes", where=path, hint="remove some files")


def _note(message: str, *, where: str = "", hint: str = "") -> Diagnostic:
    return Diagnostic(message=message, where=where, hint=hint, is_note=True)


def _is_different_path(left: str, right: str) -> bool:
    return os.path.realpath(left) != os.path.realpath(right)


def _nearest_existing(path: str) -> str:
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return path
