"""Well-known public repositories and their skills, as of 2026-11-26.

They are named in hints only: nothing is fetched because of this list.
"""

from collections.abc import Iterable

from skillpm.core.suggestions import closest_matches, did_you_mean

KNOWN_SKILLS = {
    "anthropics/skills": (
        "algorithmic-art brand-guidelines canvas-design claude-api doc-coauthoring docx frontend-design internal-comms "
        "mcp-builder pdf pptx skill-creator slack-gif-creator theme-factory web-artifacts-builder webapp-testing xlsx"
    ),
    "obra/superpowers": (
        "brainstorming dispatching-parallel-agents executing-plans finishing-a-development-branch "
        "receiving-code-review requesting-code-review subagent-driven-development systematic-debugging "
        "test-driven-development using-git-worktrees verification-before-completion writing-plans writing-skills"
    ),
    "vercel-labs/agent-skills": "composition-patterns deploy-to-vercel react-best-practices web-design-guidelines",
    "hashicorp/agent-skills": "new-terraform-provider terraform-stacks terraform-style-guide terraform-test",
    "supabase/agent-skills": "supabase-postgres-best-practices",
}
MAX_NAMED = 3


def known_specs(text: str) -> list[str]:
    """Return SPECs of the known skills whose names have all words of a text, those with exactly this name first."""
    words = {*text.lower().replace("-", " ").split()}
    specs = [
        (name != text, f"{repository}@{name}")
        for repository, names in KNOWN_SKILLS.items()
        for name in names.split()
        if words <= {*name.split("-")}
    ]
    return [spec for _, spec in sorted(specs)[:MAX_NAMED]] if words else []


def known_skill_hint(name: str, bundled: Iterable[str] = ()) -> str:
    """Return how to install the known skill with exactly this name, or which ones have similar names; or nothing."""
    specs = [spec for spec in known_specs(name) if spec.endswith(f"@{name}")]
    if specs:
        return f"a well-known repository has it: skillpm install {' or '.join(specs)}"
    known = {skill: f"{repository}@{skill}" for repository, names in KNOWN_SKILLS.items() for skill in names.split()}
    known |= {skill: skill for skill in bundled}
    return did_you_mean([known[skill] for skill in closest_matches(name, known)])
