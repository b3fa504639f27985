"""The registry is read by the loaders that exist: the one of the Skill MCP tool, as its authors wrote it."""

import json
import shutil
import subprocess

import pytest
from commands.scene import CommandSandbox
from kit import make_skill, prefix_paths

NODE = shutil.which("node")
# src/core/tools/skill-mcp/loader.ts of the seed, its types and its logger taken away and nothing else changed.
LOADER = """
const fs = require('fs'), path = require('path'), os = require('os');
const DEFAULT_CONFIG = { skillsDir: '~/.agent-skills', maxContentLength: 50000, renderMode: 'compact' };
function resolveSkillsDir(dir) {
  if (dir.startsWith('~')) { return path.join(os.homedir(), dir.slice(1)); }
  return dir;
}
function loadSkillRegistry(config) {
  const dir = resolveSkillsDir(config.skillsDir);
  const registryPath = path.join(dir, 'skills.json');
  if (!fs.existsSync(registryPath)) { return null; }
  const content = fs.readFileSync(registryPath, 'utf-8');
  return JSON.parse(content);
}
function loadSkillContent(skill, config) {
  const dir = resolveSkillsDir(config.skillsDir);
  const fullPath = path.join(dir, skill.filePath);
  if (!fs.existsSync(fullPath)) { return null; }
  let content = fs.readFileSync(fullPath, 'utf-8');
  if (content.length > config.maxContentLength) {
    content = content.slice(0, config.maxContentLength) + '\\n\\n[... truncated ...]';
  }
  return content;
}
function findSkill(name, registry) {
  let skill = registry.skills.find(s => s.name.toLowerCase() === name.toLowerCase());
  if (skill) return skill;
  skill = registry.skills.find(s =>
    s.name.toLowerCase().includes(name.toLowerCase()) || name.toLowerCase().includes(s.name.toLowerCase()));
  return skill ?? null;
}
function searchSkills(query, registry) {
  const lower = query.toLowerCase();
  return registry.skills.filter(s =>
    s.name.toLowerCase().includes(lower) || s.description.toLowerCase().includes(lower) ||
    s.category.toLowerCase().includes(lower) || s.triggers.some(t => t.toLowerCase().includes(lower)));
}
function listSkillsByCategory(registry) {
  const byCategory = {};
  for (const skill of registry.skills) {
    if (!byCategory[skill.category]) { byCategory[skill.category] = []; }
    byCategory[skill.category].push(skill);
  }
  return byCategory;
}
const registry = loadSkillRegistry(DEFAULT_CONFIG);
const names = skills => skills.map(s => s.name);
console.log(JSON.stringify({
  version: registry.version,
  names: names(registry.skills),
  fields: registry.skills.every(s => typeof s.name === 'string' && typeof s.category === 'string' &&
    typeof s.description === 'string' && Array.isArray(s.triggers) && typeof s.filePath === 'string'),
  found: findSkill('CODE-REVIEW', registry).name,
  partly: findSkill('mine', registry).name,
  nobody: findSkill('zzz', registry),
  byTrigger: names(searchSkills('pull request', registry)),
  byWord: names(searchSkills('house words', registry)),
  categories: Object.fromEntries(Object.entries(listSkillsByCategory(registry)).map(([k, v]) => [k, names(v)])),
  content: Object.fromEntries(registry.skills.map(s => [s.name, loadSkillContent(s, DEFAULT_CONFIG)])),
}));
"""


@pytest.mark.skipif(NODE is None, reason="the loader is JavaScript; node is not on PATH")
def test_the_loader_of_the_seed_finds_loads_and_searches_every_skill(scene: CommandSandbox) -> None:
    files = prefix_paths(
        ".agent-skills/mine-too", make_skill("mine-too", "Says the house words.", category="house", trigger="a|b")
    )
    for path, content in files.items():
        (scene.home / path).parent.mkdir(parents=True, exist_ok=True)
        (scene.home / path).write_bytes(content)
    scene.run("install", "-g", "code-review", "testing", "git-release", check=True)
    scene.run("uninstall", "-g", "git-release", check=True)

    answer = subprocess.run(
        [str(NODE), "-e", LOADER], env=scene.environment(), capture_output=True, text=True, check=True
    ).stdout
    output = json.loads(answer)

    content = output.pop("content")
    assert output == {
        "version": "1",
        "names": ["code-review", "mine-too", "testing"],
        "fields": True,
        "found": "code-review",
        "partly": "mine-too",
        "nobody": None,
        "byTrigger": ["code-review"],
        "byWord": ["mine-too"],
        "categories": {"development": ["code-review"], "house": ["mine-too"], "testing": ["testing"]},
    }
    skills = scene.home / ".agent-skills"
    assert content == {
        name: (skills / name / "SKILL.md").read_text() for name in ("code-review", "mine-too", "testing")
    }


def test_the_five_fields_are_always_there_also_of_a_skill_that_says_nothing(project: CommandSandbox) -> None:
    project.write(".agent-skills/silent/SKILL.md", "---\nname: silent\n---\n")

    project.run("registry", "build", check=True)

    assert project.read_json(".agent-skills/skills.json")["skills"] == [
        {"name": "silent", "category": "general", "description": "", "triggers": [], "filePath": "silent/SKILL.md"}
    ]
