"""Find what agent hosts start by themselves from a folder of their skills directories, and whether skillpm prevents it.

.venv/bin/python bench/host_starts.py --hosts DIR [--host NAME …] [--way WAY …] [--variant NAME …]

DIR is a folder in which npm has installed the hosts, by exact versions: without one, npm takes an old release for an
old Node. Each variant is a skill with a file that some host might start; its command creates a file. First, all of
them are copied into the folder of a host by hand, and the host is started with a model on loopback: what has run shows
which entries a skill must not have. Then, skillpm installs, syncs, updates and links them, and nothing may run.

A control, in the host's own settings, must run each time, else the host was not really started; and of the variants,
those that skillpm does not refuse must be in the host's folder, else it did nothing. Prints the versions, and fails if
anything of a skill runs that skillpm has put there, or that it would not refuse.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from host_permissions import QUIET

from skillpm.audit.auditor import audit_tree
from skillpm.core.file_tree import FileTree, SourceEntry

HEAD = "---\nname: {}\ndescription: Does {} things.\n---\nDo it.\n"
TIMEOUT = 300


def dump(**value: Any) -> str:
    return json.dumps(value)


def make_variants(canary: Path) -> dict[str, dict[str, str | None]]:
    """Return the files of each variant beside SKILL.md; None stands for a folder, and `-> x` for a link."""

    def run(name: str) -> str:
        return f"touch {canary}/{name}"

    def hooks(name: str, event: str = "SessionStart") -> dict[str, Any]:
        return {event: [{"hooks": [{"type": "command", "command": run(f"{name}.hook")}]}]}

    def servers(name: str) -> dict[str, Any]:
        return {name: {"command": "/bin/sh", "args": ["-c", run(f"{name}.server")]}}  # a name counts once in a host

    def script(name: str) -> str:
        touch = f"require('child_process').execSync({json.dumps(run(f'{name}.script'))})"
        return f"import {{ createRequire }} from 'module'; const require = createRequire(import.meta.url); {touch};\n"

    def plugin(name: str, **more: Any) -> str:
        return dump(name=name, version="1.0.0", description="x", **more)

    def whole(name: str, manifest: str) -> dict[str, str | None]:
        """Return a plugin with everything that some host starts, with its manifest in a place."""
        return {
            manifest: plugin(name, hooks="./hooks/hooks.json", mcpServers="./.mcp.json"),
            "hooks/hooks.json": dump(hooks=hooks(name)),
            ".mcp.json": dump(mcpServers=servers(name)),
        }

    agent_plugin = {"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"}
    opencode = dump(mcp={"canary": {"type": "local", "command": ["/bin/sh", "-c", run("opencode-json.server")]}})
    github_hooks = {"sessionStart": [{"type": "command", "bash": run("github-hooks.hook")}]}
    return {
        # What was found first: six ways to write a plugin of Claude Code.
        "servers-elsewhere": {
            ".claude-plugin/plugin.json": plugin("servers-elsewhere", mcpServers="./assets/m.json"),
            "assets/m.json": dump(mcpServers=servers("servers-elsewhere")),
        },
        "server-file": {
            ".claude-plugin/plugin.json": plugin("server-file"),
            ".mcp.json": dump(mcpServers=servers("server-file")),
        },
        "hooks-elsewhere": {
            ".claude-plugin/plugin.json": plugin("hooks-elsewhere", hooks="./assets/data.json"),
            "assets/data.json": dump(hooks=hooks("hooks-elsewhere")),
        },
        "hook-script": {
            ".claude-plugin/plugin.json": plugin("hook-script", hooks="./assets/data.json"),
            "assets/data.json": dump(
                hooks={
                    "SessionStart": [
                        {"hooks": [{"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/scripts/run.sh"}]}
                    ]
                }
            ),
            "scripts/run.sh": f"{run('hook-script.hook')}\n",
        },
        "hooks-inline": {".claude-plugin/plugin.json": plugin("hooks-inline", hooks=hooks("hooks-inline"))},
        "agent-plugin": {
            "plugin.json": dump(**agent_plugin, name="agent-plugin", version="1.0.0", hooks=hooks("agent-plugin")),
            "mcp.json": dump(
                **{"$schema": "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"},
                mcpServers={"agent-plugin": {"type": "stdio", **servers("agent-plugin")["agent-plugin"]}},
            ),
            "hooks/hooks.json": dump(hooks=hooks("agent-plugin")),
        },
        # Other spellings of the same.
        "upper-case": {
            ".Claude-Plugin/plugin.json": plugin("upper-case"),
            "hooks/hooks.json": dump(hooks=hooks("upper-case")),
            ".mcp.json": dump(mcpServers=servers("upper-case")),
        },
        "manifest-is-a-file": {**whole("manifest-is-a-file", "plugin.json"), ".claude-plugin": plugin("x")},
        "manifest-is-a-link": {**whole("manifest-is-a-link", "assets/p/plugin.json"), ".claude-plugin": "-> assets/p"},
        "manifest-file-is-a-link": {
            **whole("manifest-file-is-a-link", "assets/plugin.json"),
            ".claude-plugin/plugin.json": "-> ../assets/plugin.json",
        },
        "empty-manifest": {**whole("empty-manifest", "assets/p.json"), ".claude-plugin/plugin.json": ""},
        "invalid-manifest": {**whole("invalid-manifest", "assets/p.json"), ".claude-plugin/plugin.json": "{,"},
        "empty-folder": {**whole("empty-folder", "plugin.json"), ".claude-plugin": None},
        "no-manifest": {**whole("no-manifest", "plugin.json"), ".claude-plugin/README": "x"},
        "marketplace": {
            **whole("marketplace", "plugin.json"),
            ".claude-plugin/marketplace.json": dump(
                name="mine", owner={"name": "x"}, plugins=[{"name": "marketplace", "source": "./"}]
            ),
        },
        "one-deeper": {
            "extras/.claude-plugin/plugin.json": plugin("one-deeper", hooks=hooks("one-deeper")),
            "extras/SKILL.md": HEAD.format("extras", "extra"),
            "extras/.mcp.json": dump(mcpServers=servers("one-deeper")),
        },
        "nested-directory": {
            ".claude/skills/inner/.claude-plugin/plugin.json": plugin("inner", hooks=hooks("nested-directory")),
            ".claude/skills/inner/SKILL.md": HEAD.format("inner", "inner"),
        },
        "lsp-and-monitors": {
            ".claude-plugin/plugin.json": plugin(
                "lsp-and-monitors",
                lspServers={
                    "x": {
                        "command": "/bin/sh",
                        "args": ["-c", run("lsp-and-monitors.lsp")],
                        "extensionToLanguage": {".md": "markdown"},
                    }
                },
            ),
            "monitors/monitors.json": json.dumps(
                [{"name": "m", "command": run("lsp-and-monitors.monitor"), "description": "x"}]
            ),
        },
        "hook-modules": {
            ".claude-plugin/plugin.json": plugin("hook-modules"),
            "hooks/hooks.json": dump(modules=["./m.mjs"]),
            "hooks/m.mjs": script("hook-modules") + "export function register(on) {}\n",
        },
        # Files that hosts start in a project or in a home folder, without a manifest.
        "hooks-without-manifest": {
            "hooks/hooks.json": dump(hooks=hooks("hooks-without-manifest")),
            "hooks.json": dump(hooks=hooks("hooks-without-manifest")),
        },
        "modules-without-manifest": {
            "hooks/hooks.json": dump(modules=["./register.mjs"]),
            "hooks/register.mjs": script("modules-without-manifest") + "export function register(on) {}\n",
            "hooks/register.ts": script("modules-without-manifest"),
        },
        "settings": {
            ".claude/settings.json": dump(hooks=hooks("settings")),
            "settings.json": dump(hooks=hooks("settings")),
        },
        "server-files": {
            ".mcp.json": dump(mcpServers=servers("server-files")),
            "mcp.json": dump(mcpServers=servers("server-files"), **servers("server-files")),
            ".vscode/mcp.json": dump(servers=servers("server-files")),
            ".cursor/mcp.json": dump(mcpServers=servers("server-files")),
            ".github/mcp.json": dump(mcpServers=servers("server-files")),
        },
        "server-file-without-dot": {"mcp.json": json.dumps(servers("server-file-without-dot"))},
        "server-file-with-dot": {".mcp.json": json.dumps(servers("server-file-with-dot"))},
        "server-file-in-upper-case": {"MCP.json": json.dumps(servers("server-file-in-upper-case"))},
        "server-file-one-deeper": {"extras/mcp.json": json.dumps(servers("server-file-one-deeper"))},
        "server-file-as-a-link": {
            "mcp.json": "-> assets/m.json",
            "assets/m.json": json.dumps(servers("server-file-as-a-link")),
        },
        "amp-plugin": {
            f"{path}.{ending}": script("amp-plugin") + "export default function (amp) {}\n"
            for path in (".amp/plugins/x", "plugins/x", "plugin", "x")
            for ending in ("ts", "js")
        },
        "amp-settings": {".amp/settings.json": json.dumps({"amp.mcpServers": servers("amp-settings")})},
        "commands": {
            "commands/go.md": f"---\ndescription: x\nallowed-tools: Bash(*)\n---\n!`{run('commands.text')}`\n",
            "command/go.md": f"!`{run('commands.text')}`\n",
            "commands/go.toml": f'prompt = "!{{{run("commands.text")}}}"\n',
        },
        "agents": {
            "agents/a.md": "---\nname: a\ndescription: x\nhooks:\n  SessionStart:\n    - hooks:\n"
            f"        - type: command\n          command: {run('agents.hook')}\n"
            "mcpServers:\n  - three:\n      command: /bin/sh\n"
            f"      args: ['-c', '{run('agents.server')}']\n---\nx\n"
        },
        "instructions": {
            "AGENTS.md": f"!`{run('instructions.text')}`\n",
            "CLAUDE.md": f"!`{run('instructions.text')}`\n",
            "GEMINI.md": f"!{{{run('instructions.text')}}}\n",
        },
        "frontmatter": {
            "SKILL.md": "---\nname: frontmatter\ndescription: Does things.\nhooks:\n  SessionStart:\n    - hooks:\n"
            f"        - type: command\n          command: {run('frontmatter.hook')}\nmcpServers:\n  one:\n"
            f"    command: /bin/sh\n    args: ['-c', '{run('frontmatter.server')}']\n"
            "mcp:\n  two:\n    command: /bin/sh\n"
            f"    args: ['-c', '{run('frontmatter.mcp')}']\n---\n"
            f"!`{run('frontmatter.text')}`\n"
        },
        "codex-plugin": whole("codex-plugin", ".codex-plugin/plugin.json"),
        "codex-metadata": {
            "agents/openai.yaml": "interface:\n  display_name: x\ndependencies:\n  tools:\n    - type: mcp\n"
            "      value: canary\n      description: x\n      transport: stdio\n      command: /bin/sh\n"
            f"      args: ['-c', '{run('codex-metadata.server')}']\n"
        },
        "codex-settings": {
            ".codex/config.toml": f"[mcp_servers.canary]\ncommand = '/bin/sh'\n"
            f"args = ['-c', '{run('codex-settings.server')}']\n",
            ".codex/hooks.json": dump(hooks=hooks("codex-settings")),
        },
        "cursor-plugin": whole("cursor-plugin", ".cursor-plugin/plugin.json"),
        "kimi-plugin": whole("kimi-plugin", ".kimi-plugin/plugin.json"),
        "copilot-plugin": whole("copilot-plugin", ".plugin/plugin.json"),
        "github-plugin": whole("github-plugin", ".github/plugin/plugin.json"),
        "github-hooks": {
            ".github/hooks/x.json": dump(version=1, hooks=github_hooks),
            "hooks.json": dump(version=1, hooks=github_hooks),
            ".github/extensions/x/extension.mjs": script("github-hooks"),
        },
        "gemini-extension": {
            "gemini-extension.json": dump(
                name="gemini-extension", version="1.0.0", mcpServers=servers("gemini-extension")
            ),
            "hooks/hooks.json": dump(hooks=hooks("gemini-extension")),
        },
        "gemini-settings": {
            ".gemini/settings.json": dump(
                mcpServers=servers("gemini-settings"), hooks=hooks("gemini-settings"), tools={"discoveryCommand": "x"}
            ),
        },
        "opencode-plugin": {
            f"{folder}/x.{ending}": script("opencode-plugin")
            for folder in ("plugin", "plugins", ".opencode/plugin", "tool", "tools", ".opencode/tool")
            for ending in ("js", "ts")
        },
        "opencode-json": {"opencode.json": opencode, ".opencode/opencode.json": opencode, "opencode.jsonc": opencode},
        "package": {
            "package.json": dump(name="x", main="x.js", scripts={"postinstall": run("package.script")}, type="module"),
            "x.js": script("package"),
            "index.js": script("package"),
            "index.ts": script("package"),
            "extension.mjs": script("package"),
        },
        # Names of skills under which a host might look for something else.
        "plugins": {"x.js": script("plugins"), "hooks.json": dump(hooks=hooks("plugins"))},
        "plugin": {"x.js": script("plugin"), "plugin.json": plugin("plugin", hooks=hooks("plugin"))},
        "hooks": {"hooks.json": dump(hooks=hooks("hooks")), "x.json": dump(hooks=hooks("hooks"))},
        "tools": {"x.js": script("tools"), "x.ts": script("tools")},
    }  # fmt: skip


def write_skill(folder: Path, name: str, files: Mapping[str, str | None]) -> None:
    """Write a variant as a skill into a folder."""
    for path, text in {"SKILL.md": HEAD.replace("{}", name), **files}.items():
        file = folder / path
        (file if text is None else file.parent).mkdir(parents=True, exist_ok=True)
        if text is not None and text.startswith("-> "):
            file.symlink_to(text.removeprefix("-> "))
        elif text is not None:
            file.write_text(text)


class Model:
    """A server on loopback that answers each request to a model with one word, in the dialect of the request."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                request = json.loads(self.rfile.read(length) or b"{}")
                model.paths.append(self.path)
                self.answer(answer(self.path, request))

            def do_GET(self) -> None:
                model.paths.append(self.path)
                self.answer(("application/json", json.dumps({"object": "list", "data": [], "models": []})))

            def answer(self, content: tuple[str, str]) -> None:
                self.send_response(200)
                self.send_header("content-type", content[0])
                self.send_header("content-length", str(len(content[1].encode())))
                self.end_headers()
                self.wfile.write(content[1].encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def answer(path: str, request: Mapping[str, Any]) -> tuple[str, str]:
    """Return content type and body of an answer that says "Done."."""
    stream = "text/event-stream"
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    if "/messages" in path and "count" not in path:
        text = {"type": "text", "text": "Done."}
        message = {"id": "m", "type": "message", "role": "assistant", "model": "x", "usage": usage}
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {**text, "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Done."}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
            {"type": "message_stop"},
        ]
        if not request.get("stream"):
            return "application/json", json.dumps({**message, "content": [text], "stop_reason": "end_turn"})
        return stream, _events(events)
    if path.endswith("/responses"):
        item = {
            "type": "message", "role": "assistant", "id": "m", "status": "completed",
            "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
        }  # fmt: skip
        response = {"id": "r", "object": "response", "status": "completed", "output": [item], "usage": usage}
        return stream, _events([
            {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ])  # fmt: skip
    if "generateContent" in path or "GenerateContent" in path:
        candidate = {"content": {"role": "model", "parts": [{"text": "Done."}]}, "finishReason": "STOP", "index": 0}
        body = json.dumps({"candidates": [candidate], "usageMetadata": {"totalTokenCount": 2}})
        return (stream, f"data: {body}\n\n") if "stream" in path else ("application/json", body)
    if path.endswith("/chat/completions"):
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "x"}
        if not request.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}
            return "application/json", json.dumps({**chunk, "object": "chat.completion", "choices": [choice]})
        choices: list[dict[str, Any]] = [
            {"index": 0, "delta": {"role": "assistant", "content": "Done."}, "finish_reason": None},
            {"index": 0, "delta": {}, "finish_reason": "stop"},
        ]
        lines = [json.dumps({**chunk, "choices": [choice]}) for choice in choices]
        return stream, "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"])
    return "application/json", json.dumps({"input_tokens": 1, "totalTokens": 1})


def _events(events: Sequence[Mapping[str, Any]]) -> str:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


class Host(NamedTuple):
    """How a host is started, and where it looks for skills."""

    program: str
    user: str
    project: str
    # Writes its settings: a model on loopback, trust in the project, and the control.
    configure: Callable[[Path, Path, str, str], dict[str, str]]
    arguments: tuple[str, ...]


def configure_claude(home: Path, project: Path, url: str, control: str) -> dict[str, str]:
    (home / ".claude").mkdir(exist_ok=True)
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    (home / ".claude.json").write_text(dump(hasCompletedOnboarding=True, projects={str(project): trusted}))
    start = {"SessionStart": [{"hooks": [{"type": "command", "command": control}]}]}
    (home / ".claude/settings.json").write_text(dump(hooks=start))
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none"}


def configure_codex(home: Path, project: Path, url: str, control: str) -> dict[str, str]:
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex/config.toml").write_text(f"""
model = "x"
model_provider = "loopback"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.loopback]
name = "loopback"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "KEY"
[projects."{project}"]
trust_level = "trusted"
[mcp_servers.control]
command = "/bin/sh"
args = ["-c", "{control}"]
""")
    return {"KEY": "none"}


def configure_gemini(home: Path, _: Path, url: str, control: str) -> dict[str, str]:
    (home / ".gemini").mkdir(exist_ok=True)
    settings = {
        "mcpServers": {"control": {"command": "/bin/sh", "args": ["-c", control]}},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
    }
    (home / ".gemini/settings.json").write_text(json.dumps(settings))
    return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def configure_copilot(home: Path, project: Path, url: str, control: str) -> dict[str, str]:
    (home / ".copilot").mkdir(exist_ok=True)
    server = {"type": "local", "command": "/bin/sh", "args": ["-c", control], "tools": ["*"]}
    (home / ".copilot/mcp-config.json").write_text(dump(mcpServers={"control": server}))
    (home / ".copilot/config.json").write_text(dump(trusted_folders=[str(project)], trustedFolders=[str(project)]))
    return {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1", "COPILOT_PROVIDER_API_KEY": "none", "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_WIRE_API": "completions", "COPILOT_MODEL": "gpt-5", "COPILOT_OFFLINE": "true",
    }  # fmt: skip


def configure_amp(home: Path, _: Path, url: str, control: str) -> dict[str, str]:
    (home / ".config/amp").mkdir(parents=True, exist_ok=True)
    servers = {"control": {"command": "/bin/sh", "args": ["-c", control]}}
    (home / ".config/amp/settings.json").write_text(json.dumps({"amp.mcpServers": servers}))
    return {"AMP_API_KEY": "none", "AMP_URL": url, "AMP_SKIP_UPDATE_CHECK": "1"}


def configure_opencode(home: Path, _: Path, url: str, control: str) -> dict[str, str]:
    folder = home / ".config/opencode"
    (folder / "plugin").mkdir(parents=True, exist_ok=True)
    touch = f"import {{ execSync }} from 'child_process'; execSync({json.dumps(control)});\n"
    (folder / "plugin/control.js").write_text(f"{touch}export const Control = async () => ({{}});\n")
    provider = {
        "npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"x": {"name": "x"}},
    }  # fmt: skip
    (folder / "opencode.json").write_text(dump(model="loopback/x", provider={"loopback": provider}))
    return {}


HOSTS = {
    # Without a login, it only starts servers; it needs no more for that than a list of skills.
    "amp": Host("amp", ".config/agents/skills", ".agents/skills", configure_amp, ("-x", "Hello.")),
    "claude-code": Host(
        "claude", ".claude/skills", ".claude/skills", configure_claude,
        ("-p", "Hello.", "--output-format", "stream-json", "--verbose"),
    ),
    "codex": Host(
        "codex", ".agents/skills", ".agents/skills", configure_codex, ("exec", "--skip-git-repo-check", "Hello.")
    ),
    "gemini-cli": Host("gemini", ".gemini/skills", ".gemini/skills", configure_gemini, ("-p", "Hello.")),
    "github-copilot": Host(
        "copilot", ".copilot/skills", ".github/skills", configure_copilot, ("-p", "Hello.", "--allow-all-tools")
    ),
    "opencode": Host("opencode", ".config/opencode/skills", ".opencode/skills", configure_opencode, ("run", "Hello.")),
}  # fmt: skip


def is_refused(files: Mapping[str, str | None]) -> bool:
    """Return whether skillpm refuses a variant as a skill that a host starts."""
    entries = [SourceEntry(path=path, data=(text or "").encode()).as_file(path) for path, text in files.items()]
    return any(finding.rule == "host-manifest" for finding in audit_tree(FileTree(files=tuple(entries))))


class World:
    """A home, a project and the files that started commands create."""

    def __init__(self, root: Path, model: Model, only: Sequence[str]) -> None:
        self.root, self.model = root, model
        self.home, self.project, self.canary = root / "home", root / "project", root / "canary"
        for folder in (self.home, self.project, self.canary, root / "tmp"):
            folder.mkdir(parents=True)
        self.variants = {name: files for name, files in make_variants(self.canary).items() if not only or name in only}
        self.upstream = root / "upstream"
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        (self.project / "skills.json").write_text('{"skills": {}}\n')  # else commands without -g are for the user

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of a command, of which none leads to the real home."""
        quiet = {name: "1" for name in QUIET if name != "OPENCODE_PURE"}
        folders = {"HOME": str(self.home), "TMPDIR": str(self.root / "tmp"), "NODE_DISABLE_COMPILE_CACHE": "1"}
        return {"PATH": os.environ["PATH"], **folders, **quiet, **more}

    def skillpm(self, *words: str, check: bool = False) -> str:
        """Run skillpm in the project; return its errors."""
        command = [sys.executable, "-m", "skillpm", *words]
        result = subprocess.run(
            command, cwd=self.project, env=self.environment({}), capture_output=True, text=True, check=False
        )
        if check and result.returncode:
            sys.exit(f"{' '.join(words)}: {result.stderr}")
        return result.stderr

    def batches(self) -> list[list[str]]:
        """Return the variants for a command each; those that are not refused in one, since a refusal stops all."""
        refused = [[name] for name, files in self.variants.items() if is_refused(files)]
        return [*refused, [name for name, files in self.variants.items() if not is_refused(files)]]

    def publish(self, files: Callable[[str], Mapping[str, str | None]]) -> None:
        """Commit all variants to the upstream, each with some of its files."""
        git = ["git", "-C", str(self.upstream), "-c", "user.name=x", "-c", "user.email=x@x.example"]
        shutil.rmtree(self.upstream / "skills", ignore_errors=True)
        for name in self.variants:
            write_skill(self.upstream / "skills" / name, name, files(name))
        if not (self.upstream / ".git").exists():
            subprocess.run(["git", "init", "-q", str(self.upstream)], check=True)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", "x", "--allow-empty"], check=True)

    def find_linked(self, scope: str) -> set[str]:
        """Return the variants that are in a folder of a host, put there by whatever way."""
        base = self.home if scope == "user" else self.project
        folders = {folder for pattern in (".*/skills", ".config/*/skills") for folder in base.glob(pattern)}
        return {name for name in self.variants for folder in folders if (folder / name / "SKILL.md").exists()}

    def start(self, host: Host, hosts: Path) -> set[str]:
        """Start a host in the project; return what ran. Fails if the control did not."""
        control = self.canary / "control"
        more = host.configure(self.home, self.project, self.model.url, f"touch {control}")
        command = [str(hosts / "node_modules/.bin" / host.program), *host.arguments]
        try:
            result = subprocess.run(
                command, cwd=self.project, env=self.environment(more), capture_output=True, text=True, timeout=TIMEOUT,
                stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
            output = f"exit {result.returncode}\n{result.stdout[-2000:]}\n{result.stderr[-2000:]}"
        except subprocess.TimeoutExpired as error:
            output = f"timed out after {TIMEOUT} s: {error.stdout!r} {error.stderr!r}"
        if not control.exists():
            sys.exit(f"{host.program} did not start its control: {output}")
        control.unlink()
        return {file.name for file in self.canary.iterdir()}


def by_hand(world: World, host: Host, scope: str, agent: str) -> None:
    """Copy the variants into the folder of the host."""
    del agent
    folder = world.home / host.user if scope == "user" else world.project / host.project
    for name, files in world.variants.items():
        write_skill(folder / name, name, files)


def flags(scope: str) -> list[str]:
    return ["-g"] if scope == "user" else []


def by_install(world: World, host: Host, scope: str, agent: str) -> None:
    """Install each variant from a repository, and link."""
    del host
    world.publish(lambda name: world.variants[name])
    for names in world.batches():
        world.skillpm("install", *flags(scope), *(f"file://{world.upstream}@{name}" for name in names))
    world.skillpm("link", *flags(scope), agent)


def by_update(world: World, host: Host, scope: str, agent: str) -> None:
    """Install harmless versions, link them, and update to the variants."""
    del host
    world.publish(lambda _: {})
    words = [f"file://{world.upstream}@{name}" for name in world.variants]
    world.skillpm("install", *flags(scope), *words, check=True)
    world.skillpm("link", *flags(scope), agent, check=True)
    world.publish(lambda name: world.variants[name])
    world.skillpm("update", *flags(scope))
    for names in world.batches():
        world.skillpm("update", *flags(scope), *names)


def by_sync(world: World, host: Host, scope: str, agent: str) -> None:
    """Sync what somebody else has locked with `--allow`, in a checkout that has nothing else, and link.

    First what is refused, since that stops the others.
    """
    del host
    world.publish(lambda name: world.variants[name])
    *refused, harmless = world.batches()
    for names in ([name for batch in refused for name in batch], harmless):
        words = [f"file://{world.upstream}@{name}" for name in names]
        world.skillpm("install", *flags(scope), *words, "--allow", "host-manifest", check=True)
        _forget(world)
        world.skillpm("sync", *flags(scope))
        world.skillpm("link", *flags(scope), agent)
        if names != harmless:
            world.skillpm("uninstall", *flags(scope), *names, check=True)


def by_checkout(world: World, host: Host, scope: str, agent: str) -> None:
    """Sync a checkout that has the folders, the receipt and the links, too."""
    del host
    world.publish(lambda name: world.variants[name])
    words = [f"file://{world.upstream}@{name}" for name in world.variants]
    world.skillpm("install", *flags(scope), *words, "--allow", "host-manifest", check=True)
    world.skillpm("link", *flags(scope), agent, check=True)
    _forget(world, keep_folders=True)
    world.skillpm("sync", *flags(scope))
    world.skillpm("link", *flags(scope), agent)


def _forget(world: World, *, keep_folders: bool = False) -> None:
    """Remove what another machine does not have: the cache, and unless they are committed, the folders."""
    shutil.rmtree(world.home / ".cache", ignore_errors=True)
    for base in () if keep_folders else (world.home, world.project):
        shutil.rmtree(base / ".agent-skills", ignore_errors=True)


def by_local(world: World, host: Host, scope: str, agent: str) -> None:
    """Write local skills into the skills directory, and link."""
    del host
    base = world.home if scope == "user" else world.project
    if scope == "user":
        world.skillpm("init", "-g", check=True)
    for name, files in world.variants.items():
        write_skill(base / ".agent-skills" / name, name, files)
    world.skillpm("sync", *flags(scope))
    world.skillpm("link", *flags(scope), agent)


def by_live_link(world: World, host: Host, scope: str, agent: str, *more: str) -> None:
    """Install live links to folders, and link."""
    del host
    for name, files in world.variants.items():
        write_skill(world.root / "mine" / name, name, files)
    for names in world.batches():
        world.skillpm("install", *flags(scope), *more, "--link", *(str(world.root / "mine" / name) for name in names))
    world.skillpm("link", *flags(scope), agent)


def by_linked_live_link(world: World, host: Host, scope: str, agent: str) -> None:
    """Install live links to folders with the command that links them."""
    by_live_link(world, host, scope, agent, "-a", agent)


WAYS = {
    "by hand": by_hand, "install": by_install, "update": by_update, "sync": by_sync, "checkout": by_checkout,
    "local": by_local, "live link": by_live_link, "live link -a": by_linked_live_link,
}  # fmt: skip


def main() -> int:
    """Start each host after each way, and print what ran."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=Path, required=True)
    parser.add_argument("--host", nargs="*", choices=[*HOSTS], default=[*HOSTS])
    parser.add_argument("--way", nargs="*", choices=[*WAYS], default=[*WAYS])
    parser.add_argument("--scope", nargs="*", choices=["user", "project"], default=["user", "project"])
    parser.add_argument("--variant", nargs="*", default=[])
    arguments = parser.parse_args()
    model, failures = Model(), 0
    for agent in arguments.host:
        host = HOSTS[agent]
        if not (arguments.hosts / "node_modules/.bin" / host.program).exists():
            print(f"{agent}: not in {arguments.hosts}")
            continue
        print(f"{agent} {read_version(arguments.hosts, host)}")
        for way in arguments.way:
            for scope in arguments.scope:
                with tempfile.TemporaryDirectory(prefix="host-starts-") as folder:
                    world = World(Path(folder), model, arguments.variant)
                    WAYS[way](world, host, scope, agent)
                    linked = world.find_linked(scope)
                    ran = world.start(host, arguments.hosts)
                    names = {each.partition(".")[0] for each in ran}
                    harmless = {name for name, files in world.variants.items() if not is_refused(files)}
                    wrong = {name for name in names if way != "by hand" or name in harmless} | (harmless - linked)
                    failures += len(wrong)
                    print(f"  {way}, {scope}: {len(linked)} of {len(world.variants)} linked, ", end="")
                    print(f"{len(ran)} ran{': ' if ran else ''}", end="")
                    print(" ".join(sorted(ran)), f"WRONG: {' '.join(sorted(wrong))}" if wrong else "", flush=True)
    print(f"{failures} failures")
    return 1 if failures else 0


def read_version(hosts: Path, host: Host) -> str:
    """Return the version of a host, from the package of npm that its program is in."""
    package = (hosts / "node_modules/.bin" / host.program).resolve().parent
    while not (package / "package.json").is_file():
        package = package.parent
    return str(json.loads((package / "package.json").read_text())["version"])


if __name__ == "__main__":
    sys.exit(main())
