"""What addresses mean that people copy from seven kinds of forge, and that policies judge the repository they mean."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from fetchers.world import Project
from kit import CertificateAuthority, Forge, GitServer, Proxy, Repository, make_skill, prefix_paths
from kit.forge import ForgeKind

pytestmark = pytest.mark.slow

# Each host, its kind, and the repository that it serves.
HOSTS: dict[str, tuple[ForgeKind, str]] = {
    "github.com": ("github", "acme/skills"),
    "github.corp.example": ("github", "acme/skills"),
    "gitlab.com": ("gitlab", "acme/team/skills"),
    "gitlab.corp.example": ("gitlab", "acme/team/skills"),
    "codeberg.org": ("gitea", "acme/skills"),
    "git.corp.example": ("gitea", "acme/skills"),
    "bitbucket.org": ("bitbucket", "acme/skills"),
    "bitbucket.corp.example": ("bitbucket", "scm/AC/skills"),
    "dev.azure.com": ("azure", "acme/My Team/_git/skills"),
    "acme.visualstudio.com": ("azure", "team/_git/skills"),
    "wall.corp.example": ("wall", "acme/skills"),
    "clawhub.ai": ("github", "none"),
    "skills.sh": ("github", "none"),
}
GITHUB, ENTERPRISE = "https://github.com/acme/skills", "https://github.corp.example/acme/skills"
GITLAB, SELF_HOSTED = "https://gitlab.com/acme/team/skills", "https://gitlab.corp.example/acme/team/skills"
CODEBERG, GITEA = "https://codeberg.org/acme/skills", "https://git.corp.example/acme/skills"
BITBUCKET, SERVER = "https://bitbucket.org/acme/skills", "https://bitbucket.corp.example/scm/AC/skills.git"
AZURE = "https://dev.azure.com/acme/My%20Team/_git/skills"
BROWSE = "https://bitbucket.corp.example/projects/AC/repos/skills/browse"
VISUAL_STUDIO = "https://acme.visualstudio.com/team/_git/skills"
PDF, MAIN = {"path": "skills/pdf"}, {"branch": "main"}
BRANCH, TAG = {"branch": "feature/x"}, {"tag": "v1.0"}
COMMIT = "COMMIT"  # stands for the id of the tag's commit


def row(spec: str, url: str, *parts: Mapping[str, str]) -> tuple[str, object]:
    return spec, {"git": url} | {key: value for part in (PDF, *parts) for key, value in part.items()}


FOUND = [
    # GitHub, and GitHub Enterprise
    row("https://github.com/acme/skills/tree/main/skills/pdf", GITHUB, MAIN),
    row("https://github.com/acme/skills/tree/feature/x/skills/pdf", GITHUB, BRANCH),
    row("https://github.com/acme/skills/tree/feature%2Fx/skills/pdf", GITHUB, BRANCH),
    row("https://github.com/acme/skills/blob/main/skills/pdf/SKILL.md#L1-L3", GITHUB, MAIN),
    row("https://github.com/acme/skills/blob/main/skills/pdf/SKILL.md?plain=1", GITHUB, MAIN),
    row("https://github.com/acme/skills/tree/v1.0/skills/pdf", GITHUB, TAG),
    row("https://github.com/acme/skills/tree/refs/tags/v1.0/skills/pdf", GITHUB, TAG),
    row("https://github.com/acme/skills/raw/refs/heads/feature/x/skills/pdf/SKILL.md", GITHUB, BRANCH),
    row("https://github.com/acme/skills/tree/COMMIT/skills/pdf", GITHUB, {"rev": COMMIT}),
    row("https://github.com/acme/skills@pdf", GITHUB),
    row("github.com/acme/skills/tree/main/skills/pdf", GITHUB, MAIN),
    row("https://github.corp.example/acme/skills/tree/main/skills/pdf", ENTERPRISE, MAIN),
    row("https://github.corp.example/acme/skills/blob/feature/x/skills/pdf/SKILL.md", ENTERPRISE, BRANCH),
    row("https://github.corp.example/acme/skills@pdf", ENTERPRISE),
    row("https://github.corp.example/acme/skills --skill pdf", ENTERPRISE),
    # GitLab
    row("https://gitlab.com/acme/team/skills/-/tree/main/skills/pdf?ref_type=heads", GITLAB, MAIN),
    row("https://gitlab.com/acme/team/skills/-/blob/feature/x/skills/pdf/SKILL.md", GITLAB, BRANCH),
    row("https://gitlab.com/acme/team/skills@pdf", GITLAB),
    row("gitlab:acme/team/skills/-/tree/main/skills/pdf", GITLAB, MAIN),
    row(f"{SELF_HOSTED}/-/tree/main/skills/pdf", SELF_HOSTED, MAIN),
    row(f"{SELF_HOSTED}/-/tree/feature/x/skills/pdf", SELF_HOSTED, BRANCH),
    row(f"{SELF_HOSTED}/-/tree/feature%2Fx/skills/pdf?ref_type=heads", SELF_HOSTED, BRANCH),
    row(f"{SELF_HOSTED}/-/tree/v1.0/skills/pdf?ref_type=tags", SELF_HOSTED, TAG),
    row(f"{SELF_HOSTED}/-/blob/main/skills/pdf/SKILL.md?ref_type=heads#pdf", SELF_HOSTED, MAIN),
    row(f"{SELF_HOSTED}/-/raw/main/skills/pdf/SKILL.md", SELF_HOSTED, MAIN),
    row("https://gitlab.corp.example/acme%2Fteam/skills/-/tree/main/skills/pdf", SELF_HOSTED, MAIN),
    row(f"{SELF_HOSTED}@pdf", SELF_HOSTED),
    row(f"{SELF_HOSTED} --skill pdf", SELF_HOSTED),
    row(f"{SELF_HOSTED}.git/skills/pdf", f"{SELF_HOSTED}.git"),
    # Gitea and Forgejo
    row("https://codeberg.org/acme/skills/src/branch/main/skills/pdf", CODEBERG, MAIN),
    row("https://codeberg.org/acme/skills/src/tag/v1.0/skills/pdf", CODEBERG, TAG),
    row("https://codeberg.org/acme/skills/src/commit/COMMIT/skills/pdf", CODEBERG, {"rev": COMMIT}),
    row("https://git.corp.example/acme/skills/src/branch/main/skills/pdf", GITEA, MAIN),
    row("https://git.corp.example/acme/skills/src/branch/feature/x/skills/pdf/SKILL.md", GITEA, BRANCH),
    row("https://git.corp.example/acme/skills/src/branch/feature%2Fx/skills/pdf", GITEA, BRANCH),
    row("https://git.corp.example/acme/skills/raw/branch/main/skills/pdf/SKILL.md", GITEA, MAIN),
    row("https://git.corp.example/acme/skills --skill pdf", GITEA),
    row("https://git.corp.example/acme/skills/ --skill pdf", GITEA),
    row("https://git.corp.example/acme/skills --path skills/pdf", GITEA),
    row("https://git.corp.example/acme/skills --tag v1.0 --skill pdf", GITEA, TAG),
    # Bitbucket, in the cloud and one's own
    row("https://bitbucket.org/acme/skills/src/main/skills/pdf/", BITBUCKET, MAIN),
    row("https://bitbucket.org/acme/skills/src/feature/x/skills/pdf/", BITBUCKET, BRANCH),
    row("https://bitbucket.org/acme/skills/src/COMMIT/skills/pdf/?at=feature%2Fx", BITBUCKET, BRANCH),
    row("https://bitbucket.org/acme/skills/src/COMMIT/skills/pdf/SKILL.md", BITBUCKET, {"rev": COMMIT}),
    row(f"{BROWSE}/skills/pdf", SERVER),
    row(f"{BROWSE}/skills/pdf?at=refs%2Fheads%2Ffeature%2Fx", SERVER, BRANCH),
    row(f"{BROWSE}/skills/pdf/SKILL.md?at=refs%2Ftags%2Fv1.0", SERVER, TAG),
    # Azure DevOps
    row(f"{AZURE}?path=/skills/pdf", AZURE),
    row(f"{AZURE}?path=%2Fskills%2Fpdf&version=GBmain&_a=contents", AZURE, MAIN),
    row(f"{AZURE}?path=/skills/pdf/SKILL.md&version=GBfeature%2Fx", AZURE, BRANCH),
    row(f"{AZURE}?path=/skills/pdf&version=GTv1.0", AZURE, TAG),
    row(f"{AZURE}?path=/skills/pdf&version=GCCOMMIT", AZURE, {"rev": COMMIT}),
    row("https://acme@dev.azure.com/acme/My%20Team/_git/skills@pdf", AZURE),
    row("https://acme.visualstudio.com/team/_git/skills#feature/x@pdf", VISUAL_STUDIO, BRANCH),
]  # fmt: skip
NO_FOLDER = "is a page of a forge that shows no folder\n  hint: use the URL of the folder, or "
WALL = "https://wall.corp.example/acme/skills"
ANSWERED = [
    (f"{GITHUB}/issues/1",
     f"`{GITHUB}/issues/1` {NO_FOLDER}{GITHUB}"),
    ("https://gitlab.corp.example/acme/team/skills/-/issues/3",
     f"`{SELF_HOSTED}/-/issues/3` {NO_FOLDER}{SELF_HOSTED}"),
    ("https://dev.azure.com/acme/My%20Team/_git/skills/pullrequest/7",
     f"`{AZURE}/pullrequest/7` {NO_FOLDER}{AZURE}"),
    ("https://gitlab.corp.example/acme/x%2f..%2fevil/-/tree/main/skills/pdf",
     "`https://gitlab.corp.example/acme/x%2f..%2fevil/-/tree/main/skills/pdf` names no repository\n"
     "  hint: e.g. code-review, owner/repo@skill, https://github.com/owner/repo, ./folder"),
    ("https://gitlab.corp.example/acme/team/skills/-/tree/gone/skills/pdf",
     f"{SELF_HOSTED} has no branch or tag `gone/skills/pdf`\n  hint: its newest tags: v1.0"),
    ("https://gitlab.corp.example/acme/team/skills/-/tree/v1.0/skills/pdf?ref_type=heads",
     f"{SELF_HOSTED} has no branch or tag `v1.0/skills/pdf`\n  hint: its newest tags: v1.0"),
    ("gitlab:acme/team/skills@pdf",
     "no access to https://gitlab.com/acme/team, or the repository does not exist\n"
     "  hint: no login was sent; set GITLAB_TOKEN, or a git credential helper; if `team` is a group: skillpm install https://gitlab.com/acme/team/skills@pdf"),
    ("gitlab:acme/team/skills/skills/pdf",
     "no access to https://gitlab.com/acme/team, or the repository does not exist\n"
     "  hint: no login was sent; set GITLAB_TOKEN, or a git credential helper; "
     "if `team` is a group: skillpm install https://gitlab.com/acme/team/skills --path skills/pdf"),
    (f"{WALL}/-/tree/main/skills/pdf",
     f"{WALL} redirects to https://wall.corp.example/login?to=/acme/skills/info/refs, which is "
     "not the address of a git repository (a login?)\n  hint: check that `git clone` accepts this URL"),
    (f"{WALL}.git",
     f"{WALL}.git redirects to https://wall.corp.example/login?to=/acme/skills.git/info/refs, which is "
     "not the address of a git repository (a login?)\n  hint: check that `git clone` accepts this URL"),
    (WALL,
     f"cannot read the index wall.corp.example: {WALL}/index.json is a web page (a login?)\n"
     f"  hint: check the address, and whether it needs a login; for a git repository behind one, use git+{WALL}"),
    (f"{WALL}@pdf",
     f"{WALL} redirects to https://wall.corp.example/login?to=/acme/skills/info/refs, which is "
     "not the address of a git repository (a login?)\n  hint: check that `git clone` accepts this URL"),
    ("https://wall.corp.example/skills/pdf/SKILL.md", "https://wall.corp.example/skills/pdf/SKILL.md: expected a "
     ".tar.gz, a .zip or a SKILL.md, got a web page (a login?)\n  skills: pdf\n"
     "  hint: check the address, and whether it needs a login"),
    ("https://wall.corp.example/skills/pdf.zip", "https://wall.corp.example/skills/pdf.zip: expected a "
     ".tar.gz, a .zip or a SKILL.md, got a web page (a login?)\n  skills: pdf\n"
     "  hint: check the address, and whether it needs a login"),
    ("https://wall.corp.example",
     "cannot read the index wall.corp.example: https://wall.corp.example/index.json is a web page (a login?)\n"
     "  hint: check the address, and whether it needs a login; for a git repository behind one, "
     "use git+https://wall.corp.example"),
    ("https://git.corp.example/acme/other",
     "no access to https://git.corp.example/acme/other, or the repository does not exist\n"
     "  hint: no login was sent; set GH_ENTERPRISE_TOKEN and GH_HOST=git.corp.example, GITLAB_TOKEN and "
     "GITLAB_HOST=git.corp.example, or GITEA_TOKEN and GITEA_SERVER_URL=https://git.corp.example, "
     "or a git credential helper"),
    ("https://bitbucket.org/acme/other",
     "there is no git repository at https://bitbucket.org/acme/other\n  hint: check the spelling; if it is private: "
     "no login was sent; set up a git credential helper"),
    ("https://skills.sh/acme/skills/pdf",
     "invalid SPEC `https://skills.sh/acme/skills/pdf`\n"
     "  hint: skills.sh lists repositories on GitHub: acme/skills@pdf"),
    ("https://clawhub.ai/ada/pdf",
     "invalid SPEC `https://clawhub.ai/ada/pdf`\n"
     "  hint: ClawHub serves a skill as an archive: 'https://clawhub.ai/api/v1/download?slug=pdf'"),
]  # fmt: skip


class Forges:
    """All forges, as a project reaches them."""

    def __init__(self, servers: Mapping[str, Forge], proxy: Proxy, repository: Repository, ca: Path) -> None:
        self.servers = servers
        self.proxy = proxy
        self.commit = repository.resolve("v1.0")
        self.environment = {
            "https_proxy": proxy.address,
            "SSL_CERT_FILE": str(ca),
            "GIT_SSL_CAINFO": str(ca),
        }

    @property
    def requests(self) -> list[str]:
        return [request.path for server in self.servers.values() for request in server.requests]


@pytest.fixture(scope="module")
def forges(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forges]:
    folder = tmp_path_factory.mktemp("forges")
    repository = Repository.create(folder / "upstream")
    repository.write(prefix_paths("skills/pdf", make_skill("pdf")) | prefix_paths("skills/docx", make_skill("docx")))
    repository.commit()
    repository.tag("v1.0")
    repository.branch("feature/x")
    repository.write(prefix_paths("skills/pdf", make_skill("pdf", body="Branch.\n"))).commit(branch="feature/x")
    company = CertificateAuthority(folder)
    with ExitStack() as stack:
        servers = {
            host: stack.enter_context(Forge(kind, tls=company.context(host))) for host, (kind, _) in HOSTS.items()
        }
        for host, (_, name) in HOSTS.items():
            if name != "none":
                servers[host].serve(name, repository)
        proxy = stack.enter_context(Proxy(dict(servers)))
        yield Forges(servers, proxy, repository, company.certificate_file)


def allow(project: Project, place: str) -> dict[str, str]:
    path = project.root / "policy.toml"
    path.write_text(f'version = 1\n[sources]\nallow = ["{place}"]\n[indexes]\nallow = []\n')
    return {"SKILLPM_POLICY": str(path)}


@pytest.mark.parametrize(("spec", "expected"), FOUND, ids=[spec for spec, _ in FOUND])
def test_a_copied_address_is_a_repository(
    project: Project, forges: Forges, spec: str, expected: Mapping[str, str]
) -> None:
    words = spec.replace("COMMIT", forges.commit).split(" ")
    before = len(forges.requests)

    refused = project.run("install", *words, env={**forges.environment, **allow(project, "*/elsewhere")})
    contacted = forges.requests[before:]
    policy = allow(project, expected["git"].removeprefix("https://"))
    result = project.run("install", *words, env={**forges.environment, **policy})

    place = expected["git"].removesuffix(".git")
    assert (refused.code, contacted) == (1, [])
    assert f"comes from {place}" in refused.stderr.replace(".git", "")
    assert (result.code, result.stderr) == (0, result.stderr)
    wanted = {key: value.replace(COMMIT, forges.commit) for key, value in expected.items()}
    assert json.loads(project.read("skills.json"))["skills"] == {"pdf": wanted}


@pytest.mark.parametrize(("spec", "expected"), ANSWERED, ids=[spec for spec, _ in ANSWERED])
def test_a_copied_address_is_answered(project: Project, forges: Forges, spec: str, expected: str) -> None:
    result = project.run("install", spec, env=forges.environment)

    assert result.code in {1, 2}
    assert result.stderr == f"error: {expected}\n"
    assert project.is_untouched


@pytest.mark.parametrize("token", ["", "secret"])
def test_a_group_that_the_server_hides_is_answered(project: Project, server: GitServer, token: str) -> None:
    project.redirect_git("https://gitlab.com/", server.address)

    result = project.run("install", "gitlab:acme/team/skills@pdf", env={"GITLAB_TOKEN": token or None})

    assert result.code == 1
    hint = result.stderr.splitlines()[1]
    assert hint.endswith("; if `team` is a group: skillpm install https://gitlab.com/acme/team/skills@pdf")
    assert project.is_untouched
