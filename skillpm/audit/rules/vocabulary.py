"""Patterns of the checks, and of what is written around a match: each is one line, over text in lower case."""

from skillpm.audit.model import Pattern

# fmt: off

# What is written around a match, and the parts of files.
FENCE = r"(`{3,}|~{3,})[ \t]*([^\n`]*)"
# Parts of a regular expression: the line searches for the command.
REGEX = r"\.\*|\.\+|\[\^|\\s[*+]|\(\?:|\\b|\.\{\d"
ARGUMENT = r"\bhttps?://[^\s|]{1,500}|\s-{1,2}[\w-]{1,30}[ =][\"']?[^\s|\"']{1,80}[\"']?(?=\s)"
# A line of a script that is an item of a list, or what is compared.
LISTED = r"(?:[rbf]{0,2}[\"'`]|/(?![/*]))|.*(?:includes|contains|starts_?with|ends_?with|match|search|assert|expect|==|!=|detect|pattern\w*|regex\w*)\W{0,6}(?:\w{1,20}\W{1,4})?$"
ENTITY = r"&#(?:x[0-9a-fA-F]{1,6}|[0-9]{1,7});"
# Text that says of a command that it is bad, or what it is compared with. Without names of hosts, and comments.
BAD = r"\b(?:(?:never|do not|don't|must not|should not|avoid|instead of|refuse to|not to)\s+(?:\w+\s+)?(?:runs?|us(?:e|ing)|execut\w+|do|pip(?:e|ing)|past(?:e|ing)|install\w*|follow\w*|pass(?:ing)?|interpolat\w+|allow\w*|add\w*|call\w*|be)\b|attack\w*|malicious|malware|dangerous\w*|vulnerab\w+|exploit\w*|payloads?|unsafe|insecure|suspicious|injection|injected|red flags?|anti-?patterns?|forbidden|blocked|blocks|denied|deny|denies|detect\w*|flag(?:s|ged)|reject\w*|phishing|jailbreak\w*|exfiltrat\w+|backdoors?|hijack\w*|bad|phrases?|patterns?|indicators?|signatures?|regex\w*|matches|arbitrary|accidental\w*|destructive)\b|\xe2\x9d\x8c|\xf0\x9f\x9a\xab|\xf0\x9f\x9a\xa8|\xe2\x9b\x94"
NAMES = r"\b[\w-]+(?:\.[\w-]+)+[^\s)]*"
ABOUT = r"attack|injection|vulnerab|dangerous|malicious|exploit|security|supply[ -]chain|threat|malware|insecure|pentest|red[ -]team|sharp-edges|jailbreak|hardening|phishing|scanner"
# Two parts of one word: `"cu" + "rl"`, `c""url`; and a word that a backslash continues in the next line.
JOINED = ((b'" + "', r"\"(?<=[\w ./-]\") \+ \"(?=[\w ./-])"), (b"' + '", r"'(?<=[\w ./-]') \+ '(?=[\w ./-])"), (b'"+"', r"\"(?<=[\w ./-]\")\+\"(?=[\w ./-])"), (b"'+'", r"'(?<=[\w ./-]')\+'(?=[\w ./-])"), (b'""', r"\"\"(?<=[a-z]\"\")(?=[a-z])"), (b"''", r"''(?<=[a-z]'')(?=[a-z])"))
CONTINUED = r"\\\n(?<=\w\\\n)(\w+)"
# A variable of a shell, and one with a literal value.
VARIABLE = r"\$(?:\{([A-Za-z_]\w{0,30})\}|([A-Za-z_]\w{0,30}))"
ASSIGNED = r"[\n;][ \t]*(?:export |local |readonly )?([A-Za-z_]\w{0,30})(\+?)=(?:\"([^\"\n`\\]{1,200})\"|'([^'\n]{1,200})'|([^\s\"'`();&|<>\\]{1,200}))(?=[ \t]*(?:\n|;|$|&&| #))"

# Before an instruction: it says the contrary. "Never mind" and "do not hesitate" do not.
NEGATED = r"\b(?:never(?! mind)|(?:not|don't)(?! hesitate| be afraid| worry| forget| fail)|cannot|can't|without|avoid\w*|refuse\w*|prevent\w*|no|isn't|forbidden|prohibit\w*|if|unless|when)\b[^.!?:;\n]{0,80}$"
# Before an instruction that is quoted, or that the text ascribes to others.
QUOTED = r"[\"'`*_|\[(/<>]\s?$|\|.*$"
REPORTED = r"\b(?:e\.?g\.|i\.e\.|examples?|such as|like|attempts?|watch for|look for|claim\w*|asks?|asking|tells?|telling|says?|saying|instructs?|instructing|tr(?:y|ies|ying)|to)\b[^.!?\n]{0,60}$"

# Runs of letters and digits, and what they decode to.
ESCAPES = r"(?:\\\\?(?:x|u00)[0-9a-f]{2}){8,20000}"
# What commands and programs contain, but configuration, images and tokens do not.
COMMAND = r"(?i)\b(?:curl|wget)\s+[-\w\"'/$]|\|\s*(?:ba|z)?sh\b|/bin/(?:ba)?sh\b|\beval\s*\(|\bexec\s*\(|\bimport\s+(?:os|subprocess|socket|requests|base64)\b|\bos\.(?:system|popen)\b|\bsubprocess\.|\bchild_process\b|/dev/tcp/|\bpowershell\b|\binvoke-(?:expression|webrequest)\b|\bnc\s+-|\brm\s+-rf\b|\bchmod\s+\+x\b|\bignore\s+(?:all\s+)?(?:previous|prior)\b|\bdownloadstring\b|\bnew-object\s+net\.webclient|\b__import__\b|\.ssh/|\.aws/credentials"
ENCODED_ADDRESS = r"https?://[\w.-]{4,100}(?::\d{1,5})?(?:/\S{0,200})?\s*"
# Keys and tokens by the forms that their issuers give them. Group 1 is the random part.
SECRETS = r"(?P<aws>\b(?:AKIA|ASIA)([A-Z2-7]{16})\b)|\b(?:gh[pousr]_([A-Za-z0-9]{36})|github_pat_(\w{82})|glpat-([\w-]{20,60})|xox[abeprs]-([\w-]{20,120})|sk-(?:proj-|svcacct-)?([\w-]{20,140}T3BlbkFJ[\w-]{20,140}|[A-Za-z0-9]{48})|sk-ant-(?:api|sid|admin)\d\d-([\w-]{80,120})|sk-or-v1-([0-9a-f]{64})|AIza([\w-]{35})|[sr]k_live_([A-Za-z0-9]{20,100})|npm_([A-Za-z0-9]{36})|pypi-(AgEIcHlwaS[\w-]{50,200})|dop_v1_([0-9a-f]{64})|dapi([0-9a-f]{32})|hf_([A-Za-z]{34})|eyJ[\w-]{10,500}\.eyJ[\w-]{10,2000}\.([\w-]{40,700}))(?![\w-])|(?<=SG\.)([\w-]{22}\.[\w-]{43})\b|(?<=\d:)(AA[\w-]{33})\b|(?:com/)?api/webhooks/(\d{17,20}/[\w-]{60,80})|(?:com/)?services/(T\w{8,12}/B\w{8,12}/\w{24})"
PRIVATE_KEY = r"-----(?:\s|\\n){1,4}(?:[A-Za-z0-9+/=:,-]{0,200}(?:\s|\\n)){0,4}?[A-Za-z0-9+/]{40}"
PLACEHOLDER = r"(?i)example|sample|dummy|fake|placeholder|your|xxxx|0000|1234|abcd|test|changeme|redacted|secret|password|sflkxw|a1b2c3"
# Comments for people do not contain this: it addresses an agent.
FOR_AGENTS = r"\b(?:ignore|disregard|forget|instead|secretly|silently|you must|you should|you are|assistant|agent|system|claude|the model|llm|do not (?:tell|mention|reveal)|curl|wget|bash|base64|eval|api.?key|credential|password)\b"
# It gives an agent a command.
COMMANDING = r"(?s)\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|rules|prompt|above|previous)\b|\b(?:curl|wget)\b.{0,200}\|\s*(?:ba|z)?sh\b|\bdo not (?:tell|mention|reveal)\b|\b(?:secretly|silently) (?:send|run)|\b(?:fetch|download|open|read|visit|load)\b.{0,60}https?://[^\s<>\"'`]{1,200}.{0,60}\b(?:and|then|to)\s+(?:do|follow|obey|execute)\b|\b(?:read|open|cat|copy|include)\b.{0,60}(?:\.ssh/|\.aws/|id_rsa|id_ed25519|\.netrc)|\b(?:send|upload|post|exfiltrate)\b.{0,80}(?:https?://|api.?keys?|credentials?|passwords?|secrets)"
UNSHOWN = Pattern(words="style color hidden comment", below=3, message="the page does not show this text", text=r"<\w{1,20}\s[^>]{0,200}?(?:\bstyle\b\s*=[^>]{0,200}?(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:px|pt|em|%)?\s*[;\"']|opacity\s*:\s*0(?:\.0\d?)?\s*[;\"']|(?<!-)color\s*:\s*(?:white\b|#fff(?:fff)?\b|transparent\b))|\bcolor\b\s*=\s*[\"']?(?:white\b|#fff(?:fff)?\b)|\bhidden\b(?=[\s>]))[^>]{0,200}>([^<]{1,2000})|(?m:^)\[\bcomment\b\]:\s*\S{1,9}\s+[\"'(](.{1,1000})")
# This machine, a private network, or a name for examples.
LOCAL = r"localhost|(?:0|10|127|100\.64|192\.168|169\.254|192\.0\.2|198\.51\.100|203\.0\.113|172\.(?:1[6-9]|2\d|3[01]))\.[\d.]*|\[::1\]|host\.docker\.internal|.*\.(?:local|localhost|internal|test|invalid|lan|home\.arpa)"
ADDRESS = r"(?:(?:0x[0-9a-f]{1,2}|\d{1,4})\.){3}(?:0x[0-9a-f]{1,2}|\d{1,4})|\d{8,10}|0x[0-9a-f]{8}|\[[0-9a-f:.]+\]"
URL = r"(https?|wss?|ftp)://(?:([^\s/?#@\"'`<>()]{1,200})@)?(\[[0-9a-f:.]{2,45}\]|[\w\x80-\xff.-]{1,253})(?::\d{1,5})?(/[^\s\"'`<>)\]|;]{0,300})?"
# A host without a scheme, for which curl uses plain HTTP.
BARE_HOST = r"(?<![\w./@:$-])((?:\d{1,3}\.){3}\d{1,3}|(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,12})(?=[/\s:\"'`|)\\?]|$)(/[^\s\"'`|)]{0,200})?"
# Hosts, or hosts with the beginning of a path, that serve the installers which projects name in their own documentation.
INSTALLERS = tuple(b"astral.sh/ sh.rustup.rs static.rust-lang.org/rustup bun.sh/ bun.com/ deno.land/ get.docker.com ollama.com/ claude.ai/ fly.io/ get.pnpm.io/ install.python-poetry.org pyenv.run mise.run brew.sh cli.github.com/ raw.githubusercontent.com/nvm-sh/ raw.githubusercontent.com/homebrew/ raw.githubusercontent.com/helm/ raw.githubusercontent.com/pyenv/ raw.githubusercontent.com/ohmyzsh/ raw.githubusercontent.com/babashka/ raw.githubusercontent.com/aquasecurity/ raw.githubusercontent.com/anchore/ raw.githubusercontent.com/golangci/ deb.nodesource.com/ rpm.nodesource.com/ get.helm.sh get.k3s.io starship.rs/ nixos.org/ install.determinate.systems/ get.sdkman.io sdk.cloud.google.com awscli.amazonaws.com/ sh.jbang.dev get.volta.sh aka.ms/ dot.net/ aspire.dev/ get-ghcup.haskell.org foundry.paradigm.xyz tailscale.com/ rclone.org/ cursor.com/ opencode.ai/ release.anza.xyz/ gh.io/ proton.me/ just.systems/ taskfile.dev/ get.rke2.io packages.microsoft.com/ getcomposer.org/ bootstrap.pypa.io/ app.factory.ai/ golangci-lint.run/ get.chezmoi.io railway.com/install.sh fluxcd.io/install.sh run.linkerd.io/ istio.io/downloadistio get.submariner.io fnm.vercel.app/ sentry.io/get-cli community.chocolatey.org/install repo.anaconda.com/miniconda/ github.com/conda-forge/miniforge/ lambdalabs.com/install-lambda-stack moonrepo.dev/install/ raw.githubusercontent.com/rapid7/metasploit-omnibus/".split())
# The user who opened the inbox, tunnel or paste reads the requests.
COLLECTORS = frozenset(b"webhook.site requestbin.com requestbin.net pipedream.net ngrok.io ngrok.app ngrok-free.app ngrok-free.dev trycloudflare.com burpcollaborator.net oastify.com oast.fun oast.pro oast.live oast.site oast.online oast.me interact.sh requestcatcher.com beeceptor.com hookbin.com dnslog.cn serveo.net localhost.run lhr.life loca.lt transfer.sh file.io 0x0.st pastebin.com rentry.co glot.io paste.ee ix.io termbin.com bashupload.com temp.sh gofile.io hastebin.com dpaste.com dpaste.org canarytokens.com anonfiles.com paste.rs catbox.moe".split())
COLLECTOR_PATHS = tuple(b"discord.com/api/webhooks discordapp.com/api/webhooks discord.com/api/v8/webhooks discord.com/api/v9/webhooks discord.com/api/v10/webhooks canary.discord.com/api/ ptb.discord.com/api/ api.telegram.org/bot script.google.com/macros/s/ hooks.zapier.com/hooks/catch/".split())
SHORTENERS = frozenset(b"bit.ly tinyurl.com t.co goo.gl is.gd ow.ly cutt.ly rb.gy shorturl.at tiny.cc v.gd rebrand.ly buff.ly s.id t.ly bl.ink shorte.st adf.ly lnk.to tr.im".split())
# Letters of other scripts that look like Latin ones; and quotation marks, so that rules need only one form.
LOOKALIKE_LETTERS = "аеорсухіјѕһԁԛԝвкмнтАВЕКМНОРСТУХІЈЅοΑΒΕΖΗΙΚΜΝΟΡΤΥΧօսոհցԱՍᎪᏟᎬᎻᎷᏢᎢᴄᴏꜱᴠᴢᴡ"
LOOKALIKES = str.maketrans(f"{LOOKALIKE_LETTERS}‘’“”", "aeopcyxijshdqwbkmhtABEKMHOPCTYXIJSoABEZHIKMNOPTYXounhgUUACEHMPTcosvzw''\"\"")
# Names of which each is an address: `198-51-100-7.sslip.io`.
ADDRESS_SUFFIXES = (b".sslip.io", b".nip.io", b".xip.io")
# Endings of names of files, which are not hosts.
FILE_SUFFIXES = tuple(b".sh .py .json .txt .tar .gz .tgz .zip .js .ts .rb .pl .md .log .html .yaml .yml .toml .csv .pdf .env .pub".split())
# Hosts whose names others put before their own.
KNOWN_HOSTS = tuple(b"github.com. raw.githubusercontent.com. gitlab.com. pypi.org. npmjs.com. google.com. microsoft.com. anthropic.com. openai.com. apple.com. amazonaws.com.".split())
CODE_LINK = r"\]\(\s*(?:data:text/html|javascript:|vbscript:)[^\s)]{1,80}"
# The user info of a SPEC is a package or a skill: `npm:@acme/skills@1.2.0`, `https://acme.example/skills@deploy`.
NAME = r"[\w.-]{1,200}\.[a-z]{2,12}"

# What scripts do with files and hosts. The addresses of licences and schemas receive nothing.
INERT = frozenset(b"www.apache.org spdx.org www.w3.org json-schema.org opensource.org".split())
# Of a script that names a file in a message to its user.
PRINTS = (b"echo ", b"printf ", b"print(", b"console.", b"log", b"die ")
# In a line that opens the file, rather than names it.
OPENS = r"open\w*\(|read\w*[\s(]|\b(?:cat|cp|tar|zip|base64|scp)\s|load\w*\(|expanduser"
# Of a label that can be the name of a service; SKILL.md need not have the common ones.
MIN_LABEL, COMMON = 3, {b"www", b"api", b"com", b"co"}

# Kinds of files, by their extensions: programs, documents of programs, and what is neither searched for commands nor decoded.
SCRIPTS = "sh bash zsh fish ksh command py pyw pyi js mjs cjs ts mts cts jsx tsx ps1 psm1 bat cmd rb pl php lua applescript go rs java kts swift c cs ipynb"
DATA, BULK = "json jsonc yaml yml toml ini cfg env", "csv tsv lock xsd xsl xml svg css"
# What hosts, editors and package managers run.
CONFIGS = frozenset(".mcp.json mcp.json hooks.json package.json settings.json settings.local.json plugin.json tasks.json".split())
SHELLS = frozenset(("", *"sh bash zsh shell fish ksh command console".split()))
HASH_COMMENTS = SHELLS.union("py pyw python rb ruby pl perl ps1 psm1 powershell yaml yml toml".split())
PICTURES = tuple(".png .jpg .jpeg .gif .webp .bmp .ico .ttf .woff .woff2 .mp3 .mp4 .wav".split())
INNOCENT = (*PICTURES, *".svg .pdf .txt .md .json .csv .yaml .yml .toml .html .css .xml".split())
# Formats that are zip files.
DOCUMENTS = tuple(".docx .xlsx .pptx .odt .ods .odp .epub .potx .xlsm .vsdx .drawio .sketch .kmz .dotx .npz".split())
PROGRAM_FILES = tuple(".pyc .pyo .class .jar .whl .egg .exe .dll .so .dylib .msi .scr .apk .deb .rpm .dmg .pkg .app .node".split())
PICKLES, PICKLE_MAGIC = (".pkl", ".pickle", ".joblib", ".dill"), (b"\x80\x02", b"\x80\x03", b"\x80\x04\x95", b"\x80\x05\x95")
