"""Compare the permissions of `--agent opencode` and `--agent claude-code` with the hosts themselves.

.venv/bin/python bench/host_permissions.py [--configurations 80] [--sessions 12] [--seed 1] [-j 4] [--agents DIR]

Installs both hosts from npm into a temporary folder (or uses DIR, an earlier one) and writes random configurations:
places, forms, patterns and agents, some of them broken. For each, `opencode debug agent NAME` resolves the rules, and
`claude -p` gets all skills requested by a model on a loopback server. Prints each difference; fails if skillpm serves a
skill that the host denies or asks about.
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
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from messages_api import MessagesApi

SKILLS = ("7", "deploy", "deploy-prod", "docs", "experimental-x", "pdf", "pdf-forms")
PATTERNS = ("*", "7", "deploy", "deploy*", "deploy-*", "deploy *", "docs", "d*s", "*-x", "pdf", "pdf?forms", "nothing")
ACTIONS = ("allow", "ask", "deny")
AGENTS = ("build", "plan", "explore", "helper", "sub/helper")
FOLDERS = ("home/.opencode", "outer/repo/.opencode", "outer/repo/app/.opencode", "extra", "home/.config/opencode")
PLACES = (
    *(f"home/.config/opencode/{name}" for name in ("config.json", "opencode.json", "opencode.jsonc")),
    *(f"{folder}/{name}" for folder in FOLDERS[:4] for name in ("opencode.json", "opencode.jsonc")),
    *(f"{folder}opencode.{kind}" for folder in ("outer/repo/", "outer/repo/app/") for kind in ("json", "jsonc")),
    *(
        "outer/opencode.json",
        "managed/opencode.json",
        "custom.jsonc",
        "$OPENCODE_CONFIG_CONTENT",
        "$OPENCODE_PERMISSION",
    ),
    *(f"{folder}/{group}/helper.md" for folder in FOLDERS for group in ("agent", "agents", "mode", "agents/sub")),
    *(f"{folder}/agent/{name}.md" for folder in FOLDERS for name in ("build", "named")),
)
CLAUDE_RULES: tuple[str, ...] = (
    "Skill",
    "Skill(*)",
    "Skill()",
    "Skill(pdf)",
    "Skill(/docs)",
    "Skill(deploy:*)",
    "Skill(pdf *)",
)
CLAUDE_RULES += ("Skill(skill:d*)", "Sk*", "Bash(rm:*)", "Read", "Skill(7)", "Skill(nothing)", "Skill(deploy-*)")
CLAUDE_PLACES = ("home/.claude/settings.json", "repo/.claude/settings.json", "repo/.claude/settings.local.json")
QUIET: tuple[str, ...] = (
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_PURE",
    "DISABLE_AUTOUPDATER",
)
QUIET += ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "IS_SANDBOX")


class Case(NamedTuple):
    """A world to ask about, and what each side answered: allow, ask or deny for each skill."""

    title: str
    host: Mapping[str, str]
    ours: Mapping[str, str]


def write_skills(folder: Path) -> None:
    for name in SKILLS:
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "SKILL.md").write_text(f"---\nname: '{name}'\ndescription: Skill {name}.\n---\nBody.\n")


def run(command: list[str], folder: Path, home: Path, more: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), **dict.fromkeys(QUIET, "1"), **more}
    return subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )


def ask_skillpm(host: str, folder: Path, home: Path, more: Mapping[str, str], profile: str = "") -> dict[str, str]:
    answers = {}
    for name in SKILLS:
        command = [sys.executable, "-m", "skillpm", "load", name, "--agent", host, "--profile", profile, "--json"]
        result = run(command, folder, home, more)
        message = "" if result.returncode == 0 else json.loads(result.stdout)["error"]["message"]
        answers[name] = "allow" if not message else "ask" if "approval" in message else "deny"
    return answers


# OpenCode


def make_rules(rng: random.Random) -> Any:
    word = rng.choice(ACTIONS)
    patterns = {pattern: rng.choice(ACTIONS) for pattern in rng.sample(PATTERNS, rng.randint(1, 4))}
    forms: list[Any] = [word, {"skill": word}, {"skill": patterns}, {"*": word, "skill": patterns}]
    return rng.choice(
        [*forms, {"skill": patterns, "*": word}, {"sk*": patterns, "bash": "ask"}, {"bash": {"rm *": word}}]
    )


def make_agent(rng: random.Random) -> dict[str, Any]:
    agent: dict[str, Any] = {"description": "For tests", "permission": make_rules(rng)}
    if rng.random() < 0.2:
        agent["tools"] = {"skill": rng.random() < 0.5, "bash": True}
    return agent


def make_document(rng: random.Random) -> dict[str, Any]:
    document: dict[str, Any] = {}
    if rng.random() < 0.75:
        document["permission"] = make_rules(rng)
    if rng.random() < 0.15:
        document["tools"] = {"skill": rng.random() < 0.5}
    if rng.random() < 0.4:
        document[rng.choice(["agent", "agent", "mode"])] = {rng.choice(AGENTS): make_agent(rng)}
    if rng.random() < 0.1:
        document["default_agent"] = rng.choice(AGENTS[:2])
    return document


def as_text(rng: random.Random, place: str, document: dict[str, Any], defect: str) -> str:
    if place.endswith(".md"):
        named = "name: helper\n" if "named" in place else ""
        colon = "description: Use when: asked\n" if rng.random() < 0.3 else "description: For tests\n"
        rules = json.dumps(make_rules(rng), indent=1).replace("\n", "\n  ")
        unclosed = "color: [red\n" if defect else ""
        return f"---\n{named}{colon}{unclosed}permission: {rules}\n---\nYou help.\n"
    if defect == "action":
        document["permission"] = {"skill": {"pdf": "never"}}
    if defect == "native":
        document["permissions"] = [{"action": "skill", "resource": "*", "effect": "deny"}]
    text = json.dumps(document["permission"] if place == "$OPENCODE_PERMISSION" else document, indent=1)
    if place.endswith("c") and rng.random() < 0.7:
        text = "// rules, /* of a team\n" + text.replace('": {', '": /* "*": */ {').replace("\n }", ",\n // last\n }")
    if rng.random() < 0.15:
        text = text.replace('"deny"', '"{env:REFUSE}"')
    return text[:-2] if defect == "syntax" else text


def compare_opencode(number: int, seed: int, root: Path, opencode: str) -> Case:
    rng = random.Random(f"{seed}-{number}")
    home, folder = root / "home", root / rng.choice(["outer/repo", "outer/repo/app"])
    (root / "outer/repo/app").mkdir(parents=True)
    write_skills(folder / ".opencode/skills")
    is_repository = rng.random() < 0.9
    if is_repository:
        subprocess.run(["git", "init", "-q", str(root / "outer/repo")], check=True)
    more = {"OPENCODE_TEST_MANAGED_CONFIG_DIR": str(root / "managed"), "REFUSE": "deny"}
    places = rng.sample(PLACES, rng.choice([1, 2, 2, 3, 4]))
    defect = rng.choice(["syntax", "action", "native"]) if rng.random() < 0.12 else ""
    for place in places:
        document = make_document(rng) | ({"permission": make_rules(rng)} if "PERMISSION" in place else {})
        text = as_text(rng, place, document, defect if place == places[0] else "")
        if place.startswith("$"):
            more[place[1:]] = text
        else:
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            (root / place).write_text(text)
        more |= {"OPENCODE_CONFIG": str(root / place)} if place == "custom.jsonc" else {}
        more |= {"OPENCODE_CONFIG_DIR": str(root / "extra")} if place.startswith("extra") else {}
    agent = rng.choice(AGENTS)
    ours = ask_skillpm("opencode", folder, home, more, agent)  # first: OpenCode writes into its files
    answer = run([opencode, "debug", "agent", agent], folder, home, more)
    title = f"{number}: {agent} in {folder.relative_to(root)}, {' '.join(places)} {defect}"
    if answer.returncode != 0:
        return Case(title, dict.fromkeys(SKILLS, "deny"), ours)
    rules = json.loads(answer.stdout)["permission"]
    return Case(title, {name: last_match(rules, name) for name in SKILLS}, ours)


def last_match(rules: Iterable[Mapping[str, str]], name: str) -> str:
    """Return the action that OpenCode takes; its `Permission.evaluate` and `Wildcard.match`, in Python."""

    def matches(text: str, pattern: str) -> bool:
        regex = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
        regex = regex.removesuffix(r"\ .*") + "( .*)?" if regex.endswith(r"\ .*") else regex
        return re.fullmatch(regex, text, re.DOTALL) is not None

    found = [
        rule["action"] for rule in rules if matches("skill", rule["permission"]) and matches(name, rule["pattern"])
    ]
    # Only rules of a variable may have another action: OpenCode does not check them, and then asks.
    return found[-1] if found and found[-1] in ACTIONS else "ask"


# Claude Code


def compare_claude(number: int, seed: int, root: Path, claude: str) -> Case:
    rng = random.Random(f"claude-{seed}-{number}")
    home, folder = root / "home", root / "repo"
    write_skills(folder / ".claude/skills")
    home.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    places = rng.sample(CLAUDE_PLACES, rng.randint(1, 3))
    for place in places:
        permissions = {key: rng.sample(CLAUDE_RULES, rng.randint(0, 2)) for key in ("allow", "deny")}
        values = ("on", "name-only", "user-invocable-only", "off")
        overrides = {name: rng.choice(values) for name in rng.sample(SKILLS, rng.randint(0, 3))}
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(json.dumps({"permissions": permissions, "skillOverrides": overrides}))
    with MessagesApi([("Skill", {"skill": name}) for name in SKILLS]) as api:
        more = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "none"}
        answer = run([claude, "-p", "Use all skills.", "--model", "claude-sonnet-4-5"], folder, home, more)
    if not api.results:
        raise SystemExit(f"{claude} asked for nothing: {answer.stdout}{answer.stderr}")
    host = {
        name: "allow" if f"Launching skill: {name}" in api.results[at] else "deny" for at, name in enumerate(SKILLS)
    }
    listed = {name for name in SKILLS if f"- {name}:" in api.prompt}
    denied_and_listed = sorted(name for name in listed if host[name] == "deny")
    title = f"{number}: {' '.join(places)} (denied, and listed by the host: {', '.join(denied_and_listed) or 'none'})"
    found = run([sys.executable, "-m", "skillpm", "discover", "--agent", "claude-code", "--json"], folder, home, {})
    if missing := listed - {skill["name"] for skill in json.loads(found.stdout)["skills"]}:
        raise SystemExit(f"{title}: discover does not list {missing}")
    return Case(title, host, ask_skillpm("claude-code", folder, home, {}))


def report(host: str, cases: Iterable[Case]) -> int:
    """Print the differences; return how often skillpm is less strict than the host."""
    counts: Counter[str] = Counter()
    for case in cases:
        differences = []
        for name, (theirs, ours) in ((name, (case.host[name], case.ours[name])) for name in SKILLS):
            order = ACTIONS.index(ours) - ACTIONS.index(theirs)
            kind = "equal" if order == 0 else "stricter" if order > 0 else "LOOSER"
            counts[kind] += 1
            counts[f"{theirs} by the host"] += 1
            differences += [f"{name}: {theirs} there, {ours} here"] if order else []
        counts["configurations"] += 1
        if differences:
            print(f"{host} {case.title}\n    {'; '.join(differences)}", flush=True)
    print(f"{host}: {', '.join(f'{count} {kind}' for kind, count in sorted(counts.items()))}", flush=True)
    return counts["LOOSER"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configurations", type=int, default=80, help="of OpenCode")
    parser.add_argument("--sessions", type=int, default=12, help="of Claude Code")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--agents", metavar="DIR", help="a folder with both hosts in node_modules")
    parser.add_argument("-j", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(options.j) as threads:
        hosts = Path(options.hosts or temporary).resolve()
        if not options.hosts:
            packages = ["opencode-ai", "@anthropic-ai/claude-code"]
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(hosts), *packages], check=True)
        opencode, claude = (str(hosts / "node_modules/.bin" / name) for name in ("opencode", "claude"))
        versions = [run([host, "--version"], hosts, hosts, {}).stdout.strip() for host in (opencode, claude)]
        print(f"opencode {versions[0]}, claude {versions[1]}, seed {options.seed}", flush=True)

        def ask_opencode(number: int) -> Case:
            return compare_opencode(number, options.seed, Path(temporary, f"opencode-{number}"), opencode)

        def ask_claude(number: int) -> Case:
            return compare_claude(number, options.seed, Path(temporary, f"claude-{number}"), claude)

        looser = report("opencode", threads.map(ask_opencode, range(options.configurations)))
        looser += report("claude-code", threads.map(ask_claude, range(options.sessions)))
    sys.exit(1 if looser else 0)


if __name__ == "__main__":
    main()
