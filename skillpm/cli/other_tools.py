"""What other tools call it: hints for their commands and options, which are too unlike ours to be found by spelling.

From npm, pip, cargo, uv, gh, git, apm, spm, and above all `npx skills`.
"""

from collections.abc import Iterable

from skillpm.core.shell import shell_words
from skillpm.core.suggestions import did_you_mean, suggestion_hint

COMMANDS = {
    "i": "install",
    "a": "install",
    "get": "install",
    "download": "install",
    "un": "uninstall",
    "delete": "uninstall",
    "fetch": "sync",
    "restore": "sync",
    "experimental_install": "sync",
    "prune": "sync",
    "status": "verify",
    "scan": "audit",
    "security": "audit",
    "check": "outdated",
    "freeze": "lock",
    "find": "search",
    "view": "show",
    "inspect": "show",
    "preview": "load",
    "exec": "load",
    "run": "load",
    "x": "load",
    "deps": "tree",
    "create": "new",
    "lint": "validate",
    "format": "validate --fix",
    "fmt": "validate --fix",
    "build": "index build",
    "unpublish": "index yank",
    "yank": "index yank",
    "clean": "cache clean",
    "purge": "cache clean",
}
PINNED = "skills.lock pins every skill; to stay at a tag or commit, run `skillpm install OWNER/REPO#REF@SKILL`"
_UPGRADE = "upgrade skillpm with the tool that installed it: pip install --upgrade agent-skillpm"
RESTORE_LOCK = "restore skills.lock (`git checkout REV -- skills.json skills.lock`), then run `skillpm sync`"
_SKILL = (
    "run `skillpm list` (`skillpm list --path`: with paths), `skillpm show NAME` for details of one skill, or "
    "`skillpm load NAME` for its text"
)
# For commands that no single one of ours replaces.
COMMAND_HINTS = {
    "pin": PINNED,
    "unpin": "run `skillpm install OWNER/REPO#BRANCH@SKILL` to follow a branch, then `skillpm update SKILL`",
    "rollback": RESTORE_LOCK,
    "undo": RESTORE_LOCK,
    "downgrade": RESTORE_LOCK,
    "experimental_sync": "run `skillpm install npm:PACKAGE` for the skills of a package in node_modules",
    "skill": _SKILL,
    "skills": _SKILL,
    "self": _UPGRADE,
    "self-update": _UPGRADE,
    "publish": "run `skillpm index build` for a static site, or `skillpm push` for an OCI registry",
    "login": "skillpm uses git's credentials, GITHUB_TOKEN or GITLAB_TOKEN, and Docker's logins for OCI registries",
}

_ALWAYS_SAVED = "leave it out: skills.json and skills.lock are always written"
_IN_SPEC = "put it into the SPEC: `OWNER/REPO#REF@SKILL`"
_FOLDER = "use `--project DIR`, or `skillpm -C DIR COMMAND`"
_PROJECT = "leave it out: without `-g`, the project is used"
_NAME = "write the names of skills without an option"
_FROZEN = "did you mean `--frozen`?"
_ASKS_NOTHING = "leave it out: this command asks nothing"
_AGENT = "to link a host, run `skillpm link AGENT`; to see its skills, run `skillpm discover --agent AGENT`"
_PIPE = "give the output to the agent (`skillpm load SPEC | claude`), or start one with `--exec COMMAND`"
# Before the option, the command, if the hint is for it alone.
OPTION_HINTS = {
    "-C": "put it before the command: `skillpm -C DIR COMMAND`",
    "--cwd": _FOLDER,
    "--dir": _FOLDER,
    "--prefix": _FOLDER,
    "--directory": _FOLDER,
    "-p": _PROJECT,
    "--local": _PROJECT,
    "--scope": "use `-g` for user scope; without it, the project is used",
    "--user": "use `-g` for user scope",
    "-y": _ASKS_NOTHING,
    "--yes": _ASKS_NOTHING,
    "-a": _AGENT,
    "--agent": _AGENT,
    "-t": _AGENT,
    "load -a": _PIPE,
    "--target": _AGENT,
    "-s": _NAME,
    "--skill": _NAME,
    "--all": "leave it out: without names, `skillpm update` and `skillpm sync` are for all skills",
    "-r": "write requirements into skills.json, then run `skillpm sync`",
    "--copy": "set SKILLPM_LINK_MODE=copy in the environment",
    "--symlink": "leave it out: agents' folders get links to the skills",
    "--pin": _IN_SPEC,
    "--ref": _IN_SPEC,
    "--full-depth": "leave it out: skills are found in all folders; for one below another SKILL.md, use `--path DIR`",
    "--from-local": "write a local folder as ./folder",
    "-e": "use `skillpm install ./folder --link`",
    "--editable": "use `skillpm install ./folder --link`",
    "-U": "use `skillpm update`",
    "--upgrade": "use `skillpm update`",
    "--latest": "use `skillpm update`",
    "--save": _ALWAYS_SAVED,
    "--save-dev": _ALWAYS_SAVED,
    "--dev": _ALWAYS_SAVED,
    "-S": _ALWAYS_SAVED,
    "-D": _ALWAYS_SAVED,
    "--frozen-lockfile": _FROZEN,
    "--immutable": _FROZEN,
    "--no-cache": "to empty the cache, run `skillpm cache clean`",
    "--outdated": "use `skillpm outdated`",
    "--check": "use `skillpm outdated --exit-code` for updates, or `skillpm verify` for edits",
}

# For commands without arguments, or with fewer than were given.
ARGUMENT_HINTS = {
    **dict.fromkeys(("sync", "ci", "lock"), "to update single skills, run `skillpm update {}`"),
    **dict.fromkeys(("list", "ls"), "run `skillpm show {}`"),
    "discover": "did you mean `skillpm discover --agent {}`?",
}


def argument_hint(command: str, extra: str) -> str:
    """Return what to run for arguments that a command does not take; empty if only its help can say."""
    return ARGUMENT_HINTS.get(command, "").format(shell_words(extra.split()))


def option_hint(command: str, option: str) -> str:
    """Return what to use instead of an option of another tool; empty for an unknown one."""
    return OPTION_HINTS.get(f"{command} {option}") or OPTION_HINTS.get(option, "")


def command_hint(name: str, known: Iterable[str]) -> str:
    """Return the hint for an unknown command: ours for that of another tool, else one that is spelled similarly."""
    synonym = COMMANDS.get(name)
    return COMMAND_HINTS.get(name) or (did_you_mean([synonym]) if synonym else suggestion_hint(name, known))
