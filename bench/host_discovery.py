"""Compare what skillpm says that OpenCode and Claude Code see with the hosts themselves, in random homes and projects.

.venv/bin/python bench/host_discovery.py [--configurations 200] [--seed 1] [-j 2] [--agents DIR] [--agent HOST]

Installs both hosts from npm into a temporary folder (or uses DIR, an earlier one). Each configuration has skills in
random folders of a home and a repository: nested and hidden, behind links, with the same names, without a name or a
description, in TOML, with invalid YAML, turned off by settings. `opencode debug skill` and what Claude Code sends to a
messages API on loopback say what each host offers to a model. Prints each difference; fails if there is any.
"""

# ruff: noqa: PLR2004, S311  (shares of random choices)

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from host_permissions import QUIET
from messages_api import MessagesApi

NAMES = ("alpha", "beta", "gamma", "delta", "Upper", "with space", "under_score", "zeta-1")
FOLDERS = {
    "opencode": (
        "home/.config/opencode/skill", "home/.config/opencode/skills", "home/.opencode/skills", "home/.claude/skills",
        "home/.agents/skills", "outer/repo/.opencode/skill", "outer/repo/.opencode/skills", "outer/repo/.claude/skills",
        "outer/repo/.agents/skills", "outer/repo/app/.opencode/skills", "outer/repo/app/.claude/skills",
        "outer/repo/app/.agents/skills", "outer/.claude/skills", "extra/skills",
    ),
    "claude-code": (
        "home/.claude/skills", "outer/repo/.claude/skills", "outer/repo/app/.claude/skills", "outer/.claude/skills",
        "home/.agents/skills", "moved/skills",
    ),
}  # fmt: skip
OWN = {
    "opencode": {"customize-opencode"},
    "claude-code": {
        "batch", "claude", "claude-api", "code-review", "dataviz", "debug", "deep-research", "fewer-permission-prompts",
        "general-purpose", "init", "keybindings-help", "loop", "plugin-authoring", "review", "run", "schedule",
        "security-review", "simplify", "statusline-setup", "update-config", "verify", "workflow-authoring", "Explore",
        "Plan",
    },
}  # fmt: skip
SETTINGS = ("home/.claude/settings.json", "outer/repo/.claude/settings.json", "outer/repo/.claude/settings.local.json")


class Case(NamedTuple):
    """A configuration, and what each side finds."""

    title: str
    host: set[str]
    ours: set[str]


# The lines of frontmatter, as people write them and as they should not; `plain` is the most frequent.
FORMS = {
    "plain": ["name: {}", "description: Does {} things."],
    "no-name": ["description: Does {} things."],
    "no-description": ["name: {}"],
    "empty": ["name: {}", "description:"],
    "toml": ['name = "{}"', 'description = "Does {} things."'],
    "colon": ["name: {}", "description: Use when: {} is asked for"],
    "broken": ["name: {}", "description: [unclosed"],
    "list": ["name: {}", "description: [one, two]"],
    "block": ["name: {}", "description: >-", "  Does {}", "  things."],
    "user-only": ["name: {}", "description: Does {} things.", "disable-model-invocation: true"],
    "models-only": ["name: {}", "description: Does {} things.", "user-invocable: false"],
    "quoted": ['name: "{}"', "description: 'Does {} things.'"],
    "long": ["name: {}", "description: " + "Does many things. " * 100],
    "compatibility": ["name: {}", "description: Does {} things.", "compatibility: Requires git."],
}
WHOLE = {
    "blank": "\n\n---\nname: {}\ndescription: Does {} things.\n---\nDo it.\n",
    "bom": "\ufeff---\nname: {}\ndescription: Does {} things.\n---\nDo it.\n",
    "crlf": "---\r\nname: {}\r\ndescription: Does {} things.\r\n---\r\nDo it.\r\n",
    "none": "# No frontmatter\n\nDo it.\n",
    "toml-fence": '+++\nname = "{}"\ndescription = "Does {} things."\n+++\nDo it.\n',
    **{form: "---\n" + "\n".join(lines) + "\n---\nDo it.\n" for form, lines in FORMS.items()},
}


def make_skill(rng: random.Random, name: str) -> bytes:
    """Return a SKILL.md of a random form."""
    form = "plain" if rng.random() < 0.2 else rng.choice([*WHOLE])
    return WHOLE[form].replace("{}", name).encode()


def write_skills(rng: random.Random, root: Path, agent: str) -> str:
    """Put skills into some of the folders of a host; return which."""
    chosen = rng.sample(FOLDERS[agent], rng.randint(1, 4))
    for folder in chosen:
        for name in rng.sample(NAMES, rng.randint(1, 3)):
            place = rng.choice(["", "", "", "", "nested/", ".hidden/", "node_modules/", "a/b/c/"])
            path = root / folder / f"{place}{name if rng.random() < 0.9 else 'other-folder'}"
            target = (
                root / "elsewhere" / f"{len(list((root / 'elsewhere').glob('*')))}" if rng.random() < 0.15 else path
            )
            if path.exists() or path.is_symlink():
                continue
            target.mkdir(parents=True, exist_ok=True)
            file = "skill.md" if rng.random() < 0.04 else "SKILL.md"
            (target / file).write_bytes(make_skill(rng, name))
            if target != path:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.symlink_to(os.path.relpath(target, path.parent))
        if rng.random() < 0.1:
            (root / folder / "round").symlink_to("..")
        if rng.random() < 0.1:
            (root / folder / "dead").symlink_to("nowhere")
    return " ".join(chosen)


def run(command: list[str], folder: Path, home: Path, more: Mapping[str, str]) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), **dict.fromkeys(QUIET, "1"), **more}
    # OpenCode ends before a pipe has taken more than 64 kB.
    with tempfile.TemporaryFile("w+") as output:
        subprocess.run(
            command,
            cwd=folder,
            env=environ,
            stdout=output,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        output.seek(0)
        return output.read()


def make_world(rng: random.Random, root: Path, agent: str) -> tuple[str, Path, Path, dict[str, str]]:
    """Return a title, the home folder, the working directory, and variables."""
    home, folder = root / "home", root / rng.choice(["outer/repo", "outer/repo/app"])
    (root / "elsewhere").mkdir(parents=True)
    home.mkdir(exist_ok=True)
    (root / "outer/repo/app").mkdir(parents=True)
    chosen = write_skills(rng, root, agent)
    is_repository = rng.random() < 0.85
    if is_repository:
        subprocess.run(["git", "init", "-q", str(root / "outer/repo")], check=True)
    more: dict[str, str] = {}
    if agent == "opencode":
        more["OPENCODE_TEST_MANAGED_CONFIG_DIR"] = str(root / "managed")
        if "extra/" in chosen:
            more["OPENCODE_CONFIG_DIR"] = str(root / "extra")
        if rng.random() < 0.1:
            more["OPENCODE_DISABLE_CLAUDE_CODE_SKILLS"] = rng.choice(["1", "true", "0"])
    elif "moved/" in chosen:
        more["CLAUDE_CONFIG_DIR"] = str(root / "moved")
    where = "" if is_repository else "no repository, "
    return f"{where}in {folder.relative_to(root)}, {chosen} {' '.join(more)}", home, folder, more


def discover(agent: str, folder: Path, home: Path, more: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        run([sys.executable, "-m", "skillpm", "discover", "--agent", agent, "--json"], folder, home, more)
    )
    return found


def compare_opencode(number: int, seed: int, root: Path, program: str) -> Case:
    rng = random.Random(f"opencode-{seed}-{number}")
    title, home, folder, more = make_world(rng, root, "opencode")
    found = discover("opencode", folder, home, more)
    answer = run([program, "debug", "skill"], folder, home, more)
    # Equal names: OpenCode reads folders in parallel, so any of the files may win.
    host = {skill["name"] for skill in json.loads(answer)} - OWN["opencode"]
    return Case(f"{number}: {title}", host, {skill["name"] for skill in found["skills"]})


def compare_claude(number: int, seed: int, root: Path, program: str) -> Case:
    rng = random.Random(f"claude-{seed}-{number}")
    title, home, folder, more = make_world(rng, root, "claude-code")
    for place in rng.sample(SETTINGS, rng.choice([0, 0, 1, 2])):
        values = ("on", "name-only", "user-invocable-only", "off")
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        overrides = {name: rng.choice(values) for name in rng.sample(NAMES, 2)}
        (root / place).write_text(json.dumps({"skillOverrides": overrides}))
        title += f" {place} {overrides}"
    prompt = run(
        [sys.executable, "-m", "skillpm", "prompt", "--agent", "claude-code", "--mode", "toon"], folder, home, more
    )
    ours = set(re.findall(r"^- (.*)$", prompt, re.MULTILINE))
    with MessagesApi([]) as api:
        claude = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "none", **more}
        run([program, "-p", "Hello.", "--model", "claude-sonnet-4-5"], folder, home, claude)
    listing = api.prompt.partition("The following skills are available")[2].partition("</system-reminder>")[0]
    # A skill with another name than its folder is listed as `folder (name)`.
    listed = re.findall(r"^- ([^:\n]+?)(?: \([^)\n]*\))?(?::|$)", listing, re.MULTILINE)
    host = {name.strip() for name in listed} - OWN["claude-code"]
    return Case(f"{number}: {title}", host, ours - OWN["claude-code"])


HOSTS: Mapping[str, tuple[str, Callable[[int, int, Path, str], Case]]] = {
    "opencode": ("opencode", compare_opencode),
    "claude-code": ("claude", compare_claude),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configurations", type=int, default=200, help="of each host")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--agents", metavar="DIR", help="a folder with both hosts in node_modules")
    parser.add_argument("--agent", choices=HOSTS, action="append", help="only this host")
    parser.add_argument("-j", type=int, default=2)
    options = parser.parse_args()
    differing = 0
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(options.j) as threads:
        hosts = Path(options.hosts or temporary).resolve()
        if not options.hosts:
            packages = ["opencode-ai", "@anthropic-ai/claude-code"]
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(hosts), *packages], check=True)
        for agent in options.agent or HOSTS:
            name, compare = HOSTS[agent]
            program = str(hosts / "node_modules/.bin" / name)

            def ask(number: int, agent: str = agent, compare: Any = compare, program: str = program) -> Case:
                root = Path(temporary, f"{agent}-{number}")
                return compare(number, options.seed, root, program)  # type: ignore[no-any-return]

            skills, different = 0, 0
            for case in threads.map(ask, range(options.configurations)):
                skills += len(case.host | case.ours)
                if case.host != case.ours:
                    different += 1
                    print(f"{agent} {case.title}", flush=True)
                    print(
                        f"    only the host: {sorted(case.host - case.ours)}, only we: {sorted(case.ours - case.host)}"
                    )
            version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
            counts = f"{options.configurations} configurations, {skills} skills, {different} differ"
            print(f"{agent} {version}: {counts}", flush=True)
            differing += different
    print(f"{options.configurations * len(options.agent or HOSTS)} configurations, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
