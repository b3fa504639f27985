"""The version of the rule set, and the names of its rules, for processes that find all their verdicts in the cache."""

from collections.abc import Mapping

# The digest of the rules and of the code that applies them, and the ids of the rules: `python tests/kit/rules_page.py`
# writes both.
RULE_SET = "b01beecf7a0e"
RULE_IDS = frozenset(
    """
    archive collector-host container-escape credential-access credential-exfiltration deceptive-link
    decode-and-run destructive-command disguised-file dynamic-code encoded-command hidden-instructions hidden-text
    hide-from-user hook host-manifest load-command mcp-server native-program not-audited override-instructions
    password-archive persistence pickle pipe-to-shell remote-instructions remote-package reverse-shell secret
    send-secrets skip-confirmation undeclared-host unnamed-host
    """.split()
)
# Rules of earlier versions: settings, exceptions and `--allow` may still name them, without effect.
GONE: Mapping[str, str] = {
    "any-command": "a quarter of good skills had it; `update` names what a new version allows itself",
    "broken-promise": "it compared the description with the files, and found nothing in 2,250 skills",
    "coin-miner": "every skill with a miner had a finding of another rule",
    "disable-protection": "it found only honest skills, five of 5,600",
    "fake-message": "it found nothing in 2,250 skills",
    "greedy-description": "it found three of 5,600 good skills, and no malware",
    "mixed-scripts": "the other rules read look-alike letters as the letters that they look like",
    "nested-skill": "`install` and `validate` name the skills below a skill",
    "obfuscated-code": "configure a scanner that reads Python, in `[audit.scanners]`",
    "obfuscated-command": "it refused only texts about attacks; `encoded-command` and `decode-and-run` remain",
    "undeclared-tool": "it compared `allowed-tools` with the scripts, which says nothing about danger",
}
