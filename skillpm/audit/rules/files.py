"""Rules about files that are not text, and about what hosts run or believe without asking."""

from skillpm.audit.model import Example, Pattern, Rule
from skillpm.skillmd.host_manifests import SERVERS_KEY

# A line for each thing to know about a rule, however long.
# fmt: off

HEAD = "---\nname: status\ndescription: Shows the status.\n"

FILES = (
    Rule(id="native-program", severity="medium", title="A compiled program",
        reason="Neither a reviewer nor the rules can read it. The same applies to bytecode and packages.",
        remedy="Ship the source, or name the package that contains the program.",
        bad=Example(text="\x7fELF\x02\x01\x01" + "\0" * 64, path="bin/tool"),
        good=Example(text="#!/bin/sh\nexec tool\n", path="bin/tool")),
    Rule(id="disguised-file", severity="high", title="A program or archive that is named like a document or image",
        reason="The name keeps reviewers from opening the file.",
        remedy="Give the file its real extension.",
        bad=Example(text="#!/bin/sh\ncurl https://acme.example/data\n", path="assets/logo.png"),
        good=Example(text="GIF89a" + "\0" * 20, path="assets/logo.gif")),
    Rule(id="pickle", severity="medium", title="A pickle",
        reason="Loading it runs the code that it contains.",
        remedy="Use a format for data: JSON, CSV, safetensors.",
        bad=Example(text="\0\0\0\0", path="assets/model.pkl"),
        good=Example(text="{}", path="assets/model.json"),
        patterns=(
            Pattern(words="python", message="YAML that calls Python when it is loaded", kinds="data", text=r"!!\bpython\b/(?:object|name|module)[:/]"),
        )),
    Rule(id="archive", severity="medium", title="An archive, whose content is not audited",
        reason="Reviewers do not see what it contains. With a password, scanners cannot read it, either; without one, it is low.",
        remedy="Ship the files themselves.",
        bad=Example(text="PK\x03\x04\x14\0\x01\0" + "\0" * 40, path="assets/data.zip"),
        good=Example(text="PK\x03\x04\x14\0\0\0" + "\0" * 40, path="assets/report.docx")),
    Rule(id="not-audited", severity="high", title="Text that is too long for the rules",
        reason="The rules read 1,000,000 bytes of each file, and 10,000,000 bytes of a skill; the rest is medium. What is in a skills directory already is refused if it has more files or bytes than a skill may have.",
        remedy="Split the file, or review the rest yourself.",
        bad=Example(text="# a line of a very long script\n", path="scripts/run.py", copies=40_000),
        good=Example(text="# a short script\n", path="scripts/run.py")),
)
CLAIMS = (
    Rule(id="host-manifest", severity="high", title="A manifest by which an agent host starts programs",
        reason="A host loads a folder with its manifest as a plugin, and starts the hooks and servers of the plugin by itself with the next session. A manifest is refused for its presence, whatever it holds, even if `block` is "
        f"empty: which of its keys a host reads changes with the host's versions. `{SERVERS_KEY}` in the frontmatter "
        "counts as one.",
        remedy="Keep the manifest outside of the skill's folder: in a plugin, skills are in folders of their own, below `skills/`. To install the skill without it: `--files '*' --files '!.claude-plugin'`.",
        bad=Example(text='{"name": "status"}\n', path=".claude-plugin/plugin.json"),
        good=Example(text='{"name": "status"}\n', path="assets/plugin.json")),
    Rule(id="hook", severity="medium", title="A hook: a command that the host runs automatically",
        reason="Hosts run hooks on events, without asking the model or the user.",
        remedy="Instruct the agent to run the command, so that the host asks for confirmation.",
        bad=Example(text='{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./stop.sh"}]}]}}\n', path="hooks/hooks.json"),
        good=Example(text='{"retries": 3}\n', path="config/settings.json")),
    Rule(id="load-command", severity="low", title="The skill may fail to load in Claude Code",
        reason="Claude Code runs the text in `` !`…` `` as a command while it loads a skill, also in a sentence about something else. If that is not a command, the skill does not load.",
        remedy="Write the exclamation mark apart from the code, or instruct the agent which command to run.",
        bad=Example(text=f"{HEAD}---\nAdd `!` before `:`, then check !`./collect.sh`.\n"),
        good=Example(text=f"{HEAD}---\nRun `git status` first.\n")),
    Rule(id="mcp-server", severity="low", title="An MCP server",
        reason="Hosts start the command and give its tools to the agent; it runs with the user's rights.",
        remedy="Pin the version of the server, and say what it is for.",
        bad=Example(text='{"mcpServers": {"db": {"command": "npx", "args": ["-y", "db-mcp"]}}}\n', path=".mcp.json"),
        good=Example(text='{"servers": []}\n', path="config/servers.json")),
)
