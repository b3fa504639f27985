"""Whether `discover` says what a host finds: 40 migrated and 30 installed skills, by the host or by its own loader.

    python bench/host_walks.py SKILLS [--skillpm COMMAND] [--hosts DIR]

SKILLS is a folder of skills. In a new home, 40 flat files (10 of them with TOML) are migrated, 30 skills installed, and
all of them linked for six hosts. Then each host is asked: OpenCode (`opencode debug skill`), Claude Code, Codex (what
they send to a server on loopback) themselves, which npm installs or DIR has; GLM-CLI, BRUTUS and SuperCode by their
loaders in bench/hosts, in Java, Go and JavaScript; omega and a reader of the Agent Skills specification by theirs in
Python; skillpm by `list`. Prints how many each finds, and each difference to `discover --agent`; ends with 1 if there
is any.
Debian: default-jdk-headless, golang-go, golang-gopkg-yaml.v3-dev, nodejs.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml
from messages_api import MessagesApi

HERE = Path(__file__).parent / "hosts"
LINKED = ("glm", "brutus", "omega", "claude-code", "opencode", "codex")
QUIET = (
    "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_PURE", "DISABLE_AUTOUPDATER",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "IS_SANDBOX", "CI",
)  # fmt: skip
MIGRATED, WITH_TOML, INSTALLED = 40, 10, 30
Found = set[tuple[str, str]]
# What hosts bring along.
OWN_SKILLS = {
    "opencode": {"customize-opencode"},
    "claude-code": {
        "batch", "claude", "claude-api", "code-review", "dataviz", "debug", "deep-research", "fewer-permission-prompts",
        "general-purpose", "init", "keybindings-help", "loop", "plugin-authoring", "review", "run", "schedule",
        "security-review", "simplify", "statusline-setup", "update-config", "verify", "workflow-authoring",
    },
    "codex": {"imagegen", "openai-docs", "plugin-creator", "skill-creator", "skill-installer"},
}  # fmt: skip


class Home:
    """A home folder with skills, and the commands that run there."""

    def __init__(self, folder: Path, skillpm: Sequence[str], hosts: Path) -> None:
        self.folder, self.skillpm, self.hosts = folder, skillpm, hosts

    def run(
        self, command: Sequence[str | Path], more: Mapping[str, str] | None = None, *, succeeds: bool = True
    ) -> str:
        """Run a command in the home folder and return what it prints."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **dict.fromkeys(QUIET[:-1], "1")}
        environ |= {
            "GO111MODULE": "off",
            "GOPATH": "/usr/share/gocode",
            "GOCACHE": str(self.folder / "go"),
            **(more or {}),
        }
        # OpenCode ends before a pipe has taken more than 64 kB.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                command, cwd=self.folder, env=environ, stdout=output, stderr=subprocess.PIPE, text=True,
                stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
            output.seek(0)
            text = output.read()
        if done.returncode and succeeds:
            raise SystemExit(f"{command}: {text}{done.stderr}")
        return text

    def make(self, skills: Path) -> None:
        """Migrate flat files, install skills, and link all of them."""
        flat = self.folder / ".agent-skills"
        flat.mkdir(parents=True)
        for number in range(MIGRATED):
            name = f"flat-{number:02}"
            if number < WITH_TOML:
                fence = "+++" if number % 2 else "---"
                text = f'{fence}\nname = "{name}"\ndescription = "Does {name}: with TOML."\n{fence}\nDo.\n'
            else:
                colon = ":" if number % 3 == 0 else ""
                text = f"---\nname: {name}\ndescription: Use when asked{colon} for {name}\n---\nDo.\n"
            (flat / f"{name}.md").write_text(text)
        self.run([*self.skillpm, "migrate", "-g", "-q"])
        names = sorted(path.parent.name for path in skills.glob("*/SKILL.md"))[:INSTALLED]
        folders = [str(skills / name) for name in names]
        self.run([*self.skillpm, "install", "-g", "-q", "--yes", *folders])
        self.run([*self.skillpm, "link", "-g", "-q", *LINKED])

    def discover(self, agent: str) -> Found:
        """Return what skillpm says that a host sees."""
        answer = json.loads(self.run([*self.skillpm, "discover", "--agent", agent, "--json"]))
        return {(skill["name"], skill["path"]) for skill in answer["skills"]}


def read_pairs(text: str) -> Found:
    """Return the names, without quotes, and the paths that a loader printed."""
    pairs = (line.split("\t") for line in text.splitlines())
    return {(name.strip("'\""), path) for name, path in pairs}


def read_digest(path: str) -> str:
    """Return what stands for the content of a file; of one inside a host, its path."""
    file = Path(path)
    return sha256(file.read_bytes()).hexdigest()[:12] if file.exists() else path


def ask_glm(home: Home) -> Found:
    roots = [home.folder / path for path in (".glm/skills", ".claude/skills")]
    return read_pairs(home.run(["java", HERE / "Glm.java", *roots]))


def ask_brutus(home: Home) -> Found:
    roots = [home.folder / path for path in (".claude/skills", ".config/opencode/skill")]
    return read_pairs(home.run(["go", "run", HERE / "brutus.go", *roots]))


def ask_supercode(home: Home) -> Found:
    return read_pairs(home.run(["node", HERE / "supercode.mjs", home.folder / ".agent-skills"]))


def ask_opencode(home: Home) -> Found:
    """Ask for all skills. OpenCode reads its folders in parallel, so of equal files any may be named."""
    skills = json.loads(home.run([home.hosts / "node_modules/.bin/opencode", "debug", "skill"]))
    return {(skill["name"], skill["location"]) for skill in skills}


def ask_claude(home: Home) -> Found:
    """Return the names that reach the model; it is not told their paths."""
    with MessagesApi([]) as api:
        more = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "none", "SLASH_COMMAND_TOOL_CHAR_BUDGET": "1000000"}
        home.run([home.hosts / "node_modules/.bin/claude", "-p", "Hello.", "--model", "claude-sonnet-4-5"], more)
    return {(name, "") for name in re.findall(r"^- ([a-z0-9-]+)(?::|$)", api.prompt, re.MULTILINE)}


def ask_codex(home: Home) -> Found:
    """Return the names that reach the model, which a server on loopback refuses to be."""
    bodies: list[str] = []

    class Refusal(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_error(400)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusal) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        provider = f'{{name="bench", base_url="http://127.0.0.1:{server.server_port}/v1", wire_api="responses"}}'
        settings = ("model=gpt-5", "model_provider=bench", f"model_providers.bench={provider}")
        options = [part for setting in settings for part in ("-c", setting)]
        codex = home.hosts / "node_modules/.bin/codex"
        home.run([codex, "exec", *options, "--skip-git-repo-check", "Hello."], {}, succeeds=False)
        server.shutdown()
    listing = next(body for body in bodies if "skills_instructions" in body).split("<skills_instructions>")[1]
    return {(name, "") for name in re.findall(r"\\n- ([a-z0-9-]+): ", listing.split("</skills_instructions>")[0])}


def ask_omega(home: Home) -> Found:
    """Walk as omega does (skills.rs): one level, no links to outside, TOML before YAML."""
    found = set()
    root = home.folder / ".omega/skills"
    for folder in root.iterdir():
        file = folder / "SKILL.md"
        if not file.is_file() or not file.resolve().is_relative_to(root.resolve()):
            continue
        match = re.match(r"^(---|\+\+\+)\n(.*?)\n\1", file.read_text(), re.DOTALL)
        if match is None:
            continue
        try:
            values = tomllib.loads(match[2])
        except tomllib.TOMLDecodeError:
            pairs = (line.split(":", 1) for line in match[2].splitlines() if ":" in line and line[0] not in " #")
            values = {key.strip(): value.strip().strip("'\"") for key, value in pairs}
        if values.get("name") and values.get("description"):
            found.add((str(values["name"]), str(file)))
    return found


def ask_reader(home: Home) -> Found:
    """Walk as the guide of agentskills.io says: any depth, YAML, a description is needed."""
    found = set()
    for file in (home.folder / ".agents/skills").glob("*/SKILL.md"):
        match = re.match(r"^---\n(.*?)\n---", file.read_text(), re.DOTALL)
        values = None
        # As the guide advises: if it is not YAML, quote the values with a colon and try again.
        for block in (match[1], re.sub(r"(?m)^(\w[\w-]*): (.*: .*)$", r'\1: "\2"', match[1])) if match else ():
            with suppress(yaml.YAMLError):
                values = values or yaml.safe_load(block)
        if isinstance(values, dict) and values.get("description"):
            found.add((str(values.get("name") or file.parent.name), str(file)))
    return found


def ask_skillpm(home: Home) -> Found:
    skills = json.loads(home.run([*home.skillpm, "list", "-g", "--json"]))["skills"]
    return {(skill["name"], f"{home.folder}/.agent-skills/{skill['name']}/SKILL.md") for skill in skills}


HOSTS: Mapping[str, Callable[[Home], Found]] = {
    "glm": ask_glm,
    "brutus": ask_brutus,
    "opencode": ask_opencode,
    "claude-code": ask_claude,
    "codex": ask_codex,
    "omega": ask_omega,
    "supercode": ask_supercode,
    "agentskills": ask_reader,
    "skillpm": ask_skillpm,
}


def compare(agent: str, home: Home) -> int:
    """Print what a host finds and the differences; return how many there are."""
    theirs, ours = HOSTS[agent](home), home.discover(agent)
    if agent == "skillpm":  # the bundled skills can be installed, and are not installed
        ours = {pair for pair in ours if pair[1].startswith(str(home.folder))}
    if agent in {"claude-code", "codex"}:
        ours = {(name, "") for name, path in ours if "/.system/" not in path}  # Codex's own
    theirs, ours = ({(name, path and read_digest(path)) for name, path in found} for found in (theirs, ours))
    own = {pair for pair in theirs if pair[0] in OWN_SKILLS.get(agent, ())}
    theirs, ours = theirs - own, ours - own
    differences = sorted(theirs ^ ours)
    extra = f" (and {len(own)} of its own)" if own else ""
    print(f"{agent:12} finds {len(theirs)}{extra}, discover says {len(ours)}: {len(differences)} differences")
    for pair in differences:
        print(f"    {'only the host' if pair in theirs else 'only discover'}: {' '.join(pair)}")
    return len(differences)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("skills", type=Path)
    parser.add_argument("--skillpm", default=f"{sys.executable} -m skillpm", metavar="COMMAND")
    parser.add_argument("--hosts", type=Path, metavar="DIR", help="a folder with both hosts in node_modules")
    parser.add_argument("--agent", choices=HOSTS, action="append", help="only this host")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        hosts = options.hosts or Path(temporary, "hosts")
        if options.hosts is None:
            packages = ["opencode-ai", "@anthropic-ai/claude-code", "@openai/codex"]
            npm = shutil.which("npm") or "npm"
            subprocess.run([npm, "install", "--no-audit", "--no-fund", "--prefix", str(hosts), *packages], check=True)
        home = Home(Path(temporary, "home"), shlex.split(options.skillpm), hosts.resolve())
        home.make(options.skills.resolve())
        return min(1, sum([compare(agent, home) for agent in options.agent or HOSTS]))


if __name__ == "__main__":
    raise SystemExit(main())
