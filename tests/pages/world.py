"""The environment of the commands on the pages: Ada's machine, and a forge with repositories."""

import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from kit import GitServer, Repository, Sandbox, git, make_skill, prefix_paths, ship_directory
from kit.public_skills import words_of
from pages.reading import Step

from skillpm.core.names import SkillName
from skillpm.formats.public_skills import PublicSkill, render_public_skills
from skillpm.indexes.search.query import STOP_WORDS

DEPLOY = """\
---
name: deploy
description: Ships a service to staging or production, watches it, and rolls back. Use when asked to deploy, release \
to staging, or roll back.
license: MIT
metadata:
  audience: developers
  category: operations
  triggers: "deploy|roll back|ship it"
  requires: kubectl
---

# Deploy

1. Run `scripts/preflight.sh`.
2. Deploy to staging, watch the error rate for five minutes.
3. Deploy to production.
"""
ON_CALL_DESCRIPTION = "Takes an alert from page to postmortem. Use when asked about an incident."
PDF_DESCRIPTION = (
    "Use this skill whenever the user wants to do anything with PDF files. This includes reading and merging them."
)
DOCX_DESCRIPTION = "Use this skill whenever the user wants to create Word documents."
OTHER_REPOSITORIES = {
    "anthropics/skills": {
        "algorithmic-art": "Creating algorithmic art using p5.js with seeded randomness and parameters to explore.",
        "brand-guidelines": "Applies Anthropic's official brand colors and typography to what you make.",
        "canvas-design": "Create beautiful visual art in .png and .pdf documents using design philosophy.",
        "claude-api": "Reference for the Claude API / Anthropic SDK — model ids, pricing, parameters and more.",
        "doc-coauthoring": "Writes documents together with you, from outline to last reading.",
        "docx": DOCX_DESCRIPTION,
        "frontend-design": "Designs frontends.",
        "internal-comms": "Writes what a company tells itself.",
        "mcp-builder": "Builds servers of the Model Context Protocol.",
        "pdf": PDF_DESCRIPTION,
        "pptx": "Makes slides.",
        "skill-creator": "Makes skills.",
        "slack-gif-creator": "Makes moving pictures.",
        "template-skill": "Replace with a description.",
        "theme-factory": "Gives a look to what you make.",
        "web-artifacts-builder": "Builds pages.",
        "webapp-testing": "Tests web applications.",
        "xlsx": "Makes tables.",
    },
    "obra/superpowers": {
        "brainstorming": "Use before any creative work.",
        "dispatching-parallel-agents": "Use when there are independent tasks.",
        "executing-plans": "Use when you have a plan.",
        "finishing-a-development-branch": "Use when the work is done.",
        "receiving-code-review": "Use when a review comes.",
        "requesting-code-review": "Use before merging.",
        "subagent-driven-development": "Use when tasks are independent.",
        "systematic-debugging": "Use when something fails.",
        "test-driven-development": "Use before writing code.",
        "using-git-worktrees": "Use before work that needs a place of its own.",
        "using-superpowers": "Use at the start.",
        "verification-before-completion": "Use when about to claim work is complete, fixed, or passing.",
        "writing-plans": "Use when you have a spec or requirements for a multi-step task, before touching code.",
        "writing-skills": "Use when creating new skills, editing existing skills, or verifying that they work.",
    },
}
SHELL_HELPERS = Path(__file__).with_name("words.sh")


def build_forge(server: GitServer, folder: Path) -> None:
    """Serve the repositories that the pages name."""
    acme = Repository.create(folder / "acme")
    on_call = make_skill("on-call", ON_CALL_DESCRIPTION, body="# On call\n\n1. Say that you have it.\n")
    files = {"SKILL.md": DEPLOY, "scripts/preflight.sh": "#!/bin/sh\nkubectl diff -f manifests.yaml\n"}
    acme.write(
        prefix_paths("skills/deploy", files) | prefix_paths("skills/on-call", on_call),
        executable=["skills/deploy/scripts/preflight.sh"],
    )
    acme.commit("first")
    acme.tag("v1.0.0")
    server.serve("acme/skills", acme)
    for name, skills in OTHER_REPOSITORIES.items():
        repository = Repository.create(folder / name.replace("/", "-"))
        for one, description in skills.items():
            repository.write(prefix_paths(f"skills/{one}", make_skill(one, description) | {"forms.md": "Forms.\n"}))
        repository.commit("first")
        server.serve(name, repository)


class UserMachine(Sandbox):
    """Ada's machine: `skillpm` is on PATH, and github.com is the forge."""

    def __init__(self, root: Path, server: GitServer, forge: Path) -> None:
        super().__init__(root)
        self.home = root / "home" / "ada"
        self.work = self.home / "payments"
        self.work.mkdir(parents=True)
        self.forge = forge
        self.redirect_git("https://github.com/", server.address)
        self.git_config("[user]\n\tname = Ada\n\temail = ada@acme.example\n[init]\n\tdefaultBranch = main\n")
        self.ship_public_skills()
        program = root / "bin" / "skillpm"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {shlex.join(self.command)} "$@"\n')
        program.chmod(0o755)

    def ship_public_skills(self) -> None:
        """Let the directory of public skills be that of the repositories of this forge."""
        commits = {
            name: git("rev-parse", "main", cwd=self.forge / name.replace("/", "-")) for name in OTHER_REPOSITORIES
        }
        skills = [
            PublicSkill(
                name=SkillName(name),
                repository=repository,
                folder=f"skills/{name}",
                words=tuple(sorted(words_of(description) - STOP_WORDS)),
            )
            for repository, described in OTHER_REPOSITORIES.items()
            for name, description in described.items()
        ]
        ship_directory(self, commits, render_public_skills(skills, STOP_WORDS))

    def run_steps(self, steps: Sequence[Step]) -> list[tuple[int, str]]:
        """Run all steps in one shell; return the exit code and the output of each, with Ada's home as /home/ada."""
        script = [f"exec 2>&1\nexport FORGE='{self.forge}'\n. '{SHELL_HELPERS}'\n"]
        for step in steps:
            command = step.command.rstrip("\n")
            script.append(f"{{ {command}\n}} < /dev/null\n_code=$?; printf '\\002%d\\n' $_code; (exit $_code)\n")
        environment = self.environment({"SHELL": "/bin/bash", "GIT_CONFIG_NOSYSTEM": "1"})
        environment["PATH"] = f"{self.root / 'bin'}:{environment['PATH']}"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-s"],
            input="".join(script).encode(),
            cwd=self.work,
            env=environment,
            stdout=subprocess.PIPE,
            timeout=300,
            check=False,
        )
        output = done.stdout.decode().replace(str(self.home), "/home/ada")
        parts = re.findall(r"(.*?)\x02(\d+)\n", output, re.DOTALL)
        assert len(parts) == len(steps), f"the shell ended after {len(parts)} of {len(steps)} steps:\n{output[-2000:]}"
        return [(int(code), text) for text, code in parts]
