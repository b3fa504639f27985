"""The kinds of credentials: how code names them, and the hosts of the services that they are for."""

from re import Pattern
from typing import NamedTuple

from skillpm.core.patterns import lazy_pattern


class Credential(NamedTuple):
    """A kind of credentials, and the hosts of the service that they are for (none: of no single service)."""

    name: str
    words: tuple[str, ...]
    pattern: Pattern[str]
    hosts: tuple[str, ...] = ()
    # Whether skills keep their own tokens there, too.
    is_shared: bool = False


CREDENTIALS = (
    Credential(
        "SSH keys",
        (".ssh", "id_rsa", "id_ed25519"),
        lazy_pattern(
            r"\.ssh[/\\\"', ]{1,6}(?:id_\w+|\*|identity)|\.ssh[\"']\s*\)\s*\.(?:iterdir|r?glob)\("
            r"|\bid_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub)"
        ),
    ),
    Credential(
        "AWS credentials",
        (".aws",),
        lazy_pattern(r"\.aws[/\\\"', ]{1,6}(?:credentials|config)\b"),
        ("amazonaws.com", "aws.amazon.com"),
    ),
    Credential(
        "Google Cloud credentials",
        ("gcloud", "application_default"),
        lazy_pattern(
            r"\bgcloud[/\\\"', ]{1,6}(?:application_default_credentials|credentials\.db|access_tokens\.db"
            r"|legacy_credentials)"
        ),
        ("googleapis.com", "google.com"),
    ),
    Credential(
        "Azure tokens",
        (".azure",),
        lazy_pattern(r"\.azure[/\\\"', ]{1,6}(?:accessTokens|msal_token_cache|azureProfile)"),
        ("azure.com", "windows.net", "microsoftonline.com", "microsoft.com"),
    ),
    Credential(
        "Kubernetes credentials",
        (".kube", "serviceaccount/token"),
        lazy_pattern(r"\.kube[/\\\"', ]{1,6}config\b|/var/run/secrets/kubernetes\.io/serviceaccount/token"),
    ),
    Credential(
        "stored logins",
        (".netrc", ".git-credentials", ".pypirc", ".docker", "hosts.yml", ".vault-token", "~/.npmrc", ".cargo/"),
        lazy_pattern(
            r"(?<![\w-])\.netrc\b|\.git-credentials\b|\.pypirc\b|~/\.npmrc\b"
            r"|\.cargo/credentials\b|\.docker[/\\\"', ]{1,6}config\.json"
            r"|\bgh[/\\\"', ]{1,6}hosts\.yml|\.vault-token\b"
        ),
        ("github.com", "docker.io", "docker.com", "pypi.org"),
    ),
    Credential(
        "passwords or cookies of a browser",
        ("login data", "cookies", "key4.db", "logins.json", "local state"),
        lazy_pattern(
            r"(?i)\b(?:Chrome|Chromium|Brave-Browser|Edge|User Data|Default|Profile \d)[^\n]{0,60}(?:Login Data"
            r"|Cookies\b|Local State|Web Data)|\bkey4\.db\b|\blogins\.json\b|\bcookies\.sqlite\b"
        ),
    ),
    Credential(
        "the keychain",
        ("dump-keychain", "security export", "login.keychain", "secret-tool", "cmdkey"),
        lazy_pattern(
            r"(?i)\bsecurity\s+(?:dump-keychain|export)\b|\blogin\.keychain(?:-db)?\b|\bsecret-tool\s+search\b"
            r"|\bcmdkey\s+/list\b"
        ),
    ),
    Credential(
        "a password of the keychain",
        ("find-generic-password", "find-internet-password", "secret-tool"),
        lazy_pattern(r"\bsecurity\s+find-(?:generic|internet)-password\b|\bsecret-tool\s+lookup\b"),
        is_shared=True,
    ),
    Credential(
        "wallets",
        ("wallet", "solana", "keystore", "electrum", "metamask", "exodus"),
        lazy_pattern(
            r"(?i)\bwallet\.dat\b|\.config/solana/id\.json|\bkeystore/UTC--|\.electrum/wallets|\bexodus\.wallet\b"
            r"|\bnkbihfbeogaeaoehlefnkodbefgpgknn\b"
        ),
    ),
    Credential(
        "the history of a shell",
        ("_history",),
        lazy_pattern(r"(?:~|HOME\}?|/root|/home/\w+)/\.(?:bash|zsh|python)_history\b"),
    ),
    Credential(
        "the memory or the environment of a process",
        ("/proc/",),
        lazy_pattern(r"/proc/(?:self|\d{1,9}|\{\w{1,20}\}|\$\w{1,20})/(?:mem|environ)\b"),
    ),
    Credential(
        "a password manager",
        ("item", "lpass", "bw "),
        lazy_pattern(
            r"(?<![\w-])op[\"', ]{1,5}item[\"', ]{1,5}get\b|\bbw\s+get\s+(?:item|password)\b|\blpass\s+show\b"
        ),
        is_shared=True,
    ),
    Credential("password hashes", ("/etc/shadow",), lazy_pattern(r"/etc/shadow\b")),
    Credential(
        "GPG keys",
        (".gnupg", "secring"),
        lazy_pattern(r"\.gnupg[/\\\"', ]{1,6}(?:private-keys|secring|\*)|\bgpg\s[^\n]{0,40}--export-secret-keys"),
    ),
    Credential(
        "tokens of agents",
        (".claude", ".codex", ".gemini"),
        lazy_pattern(
            r"\.claude[/\\\"', ]{1,6}\.credentials\.json|\.codex[/\\\"', ]{1,6}auth\.json"
            r"|\.gemini[/\\\"', ]{1,6}oauth_creds\.json"
        ),
        ("anthropic.com", "claude.ai", "openai.com", "googleapis.com"),
    ),
    Credential(
        "the tokens of OpenClaw",
        (".openclaw", ".clawdbot", ".moltbot"),
        lazy_pattern(r"\.(?:openclaw|clawdbot|moltbot)[/\\\"', ]{1,6}(?:\.env|credentials)\b"),
        is_shared=True,
    ),
    Credential(
        "credentials of the cloud machine",
        ("169.254.169.254", "metadata.google.internal"),
        lazy_pattern(r"https?://(?:169\.254\.169\.254|metadata\.google\.internal)"),
        ("169.254.169.254", "metadata.google.internal", "amazonaws.com", "googleapis.com"),
    ),
)
SECRET_ENVIRONMENT = Credential(
    "secrets in the environment",
    ("environ", "process.env", "printenv", "env"),
    lazy_pattern(
        r"\bin\s+(?:dict\()?os\.environ\b(?=[^\n]{0,200}(?:\n[^\n]{0,120}){0,2}\bif\b)"
        r"|\bjson\.dumps\(\s*(?:dict\()?os\.environ\b(?!\.get)|JSON\.stringify\(\s*process\.env\s*[,)]|Object\."
        r"(?:entries|keys)\(process\.env\)[^\n]{0,80}(?:KEY|TOKEN|SECRET)"
        r"|\b(?:env|printenv)\s*\|\s*(?:grep\s[^\n|]{0,60}\|\s*)?(?:curl|nc|base64|wget)\b"
        r"|[\"']?=\s*dict\(os\.environ\)\s*$|\b(?:json|data)\s*=\s*(?:dict\(\s*os\.environ\s*\)|\{\s*\*\*os\.environ)"
        r"|JSON\.stringify\(\s*\{\s*\.\.\.process\.env\b"
        r"|\b(?:check_output|run|execSync)\(\s*\[?\s*[\"'](?:env|printenv)[\"']\s*[\]),]"
    ),
)
# A loop over the environment picks secrets by their names: by a search, or by two kinds of names in a row.
PICKED = lazy_pattern(
    r"\bany\(|\.upper\(\)|\.lower\(\)|\bre\.(?:search|match)|(?:KEY|SECRET|PASSW)[^\n]{0,60}TOKEN"
    r"|TOKEN[^\n]{0,60}(?:KEY|SECRET|PASSW)|KEY[^\n]{0,60}(?:SECRET|PASSW)|SECRET[^\n]{0,60}KEY"
)
ALL_CREDENTIALS = (*CREDENTIALS, SECRET_ENVIRONMENT)
