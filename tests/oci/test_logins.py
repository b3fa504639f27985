"""How a registry is logged in to: where logins come from, how often they are sent, and to whom."""

import base64
import json
from pathlib import Path

import pytest
from kit import CertificateAuthority, GitServer, OciRegistry, Response, Sandbox, Tokens, make_skill
from oci.world import publish, requests_of

LOGIN = ("ann", "s3cret")
BASIC = "Basic " + base64.b64encode(b"ann:s3cret").decode()
PDF = make_skill("pdf")


def variables(registry: OciRegistry, password: str = LOGIN[1]) -> dict[str, str]:
    """Return the environment variables of a login."""
    prefix = "SKILLPM_OCI_" + registry.host.replace(".", "_").replace(":", "_")
    return {f"{prefix}_USERNAME": "ann", f"{prefix}_PASSWORD": password}


def sent_logins(server: GitServer) -> list[str]:
    """Return what each request sent: `Basic`, `Bearer` or nothing, in order."""
    return [request.authorization.partition(" ")[0] for request in server.requests]


def test_without_a_login_it_is_said_how_to_log_in(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.login = LOGIN

    result = sandbox.run("install", f"oci://{registry.host}/acme/pdf")

    prefix = "SKILLPM_OCI_" + registry.host.replace(".", "_").replace(":", "_")
    assert (result.code, result.error_output) == (
        1,
        f"error: oci://{registry.host}/acme/pdf: access denied: the registry requires a login\n"
        f"  hint: log in with `docker login {registry.host}` (or podman, oras, skopeo), or set {prefix}_USERNAME and "
        f"{prefix}_PASSWORD\n",
    )


def test_a_wrong_password_is_sent_once(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.login = LOGIN

    result = sandbox.run("install", f"oci://{registry.host}/acme/pdf", env=variables(registry, "wrong"))

    assert result.code == 1
    assert result.error_output.splitlines()[0] == (
        f"error: oci://{registry.host}/acme/pdf: access denied: the registry rejects the login"
    )
    assert "wrong" not in result.error_output
    assert sent_logins(registry) == ["", "Basic"]


def test_a_login_of_netrc_goes_to_no_registry_token_server_or_upload_server(
    registry: OciRegistry, sandbox: Sandbox
) -> None:
    sandbox.write_files(
        {f"pdf/{path}": data for path, data in make_skill("pdf", metadata={"version": "1.0.0"}).items()}
    )
    registry.login = LOGIN
    registry.tokens = Tokens()
    (sandbox.home / ".netrc").write_text("machine 127.0.0.1 login maven password other\n")
    (sandbox.home / ".netrc").chmod(0o600)

    sandbox.run("push", "pdf", f"oci://{registry.host}/acme/pdf", env=variables(registry), check=True)
    sandbox.run("install", f"oci://{registry.host}/acme/pdf", env=variables(registry), check=True)

    sent = {request.authorization for request in registry.requests}
    assert {text for text in sent if not text.startswith("Bearer ")} == {"", BASIC}


def test_a_password_is_asked_for_once_a_host(registry: OciRegistry, sandbox: Sandbox) -> None:
    for name in ("docx", "pdf"):
        publish(registry, f"acme/{name}", "1.0.0", make_skill(name))
        sandbox.run("install", f"oci://{registry.host}/acme/{name}", check=True)
    registry.login = LOGIN
    registry.clear_requests()
    (sandbox.work / ".agent-skills/docx/SKILL.md").unlink()
    (sandbox.work / ".agent-skills/pdf/SKILL.md").unlink()

    empty = {"SKILLPM_CACHE_DIR": str(sandbox.root / "empty"), **variables(registry)}
    sandbox.run("sync", "--frozen", "--force", env=empty, check=True)

    refused = [request for request in registry.requests if request.status == 401]
    assert 1 <= len(refused) <= 2  # both repositories may ask at the same moment
    assert len(registry.requests) - len(refused) == 4


@pytest.mark.parametrize("has_login", [True, False])
def test_a_token_is_fetched_once_a_repository(registry: OciRegistry, sandbox: Sandbox, *, has_login: bool) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.tokens, registry.login = Tokens(), LOGIN if has_login else None

    env = variables(registry) if has_login else None
    sandbox.run("install", f"oci://{registry.host}/acme/pdf", env=env, check=True)

    assert [(each.path.partition("sha256")[0], each.status) for each in registry.requests] == [
        ("/v2/acme/pdf/tags/list", 401),
        ("/token", 200),
        ("/v2/acme/pdf/tags/list", 200),
        ("/v2/acme/pdf/manifests/1.0.0", 200),
        ("/v2/acme/pdf/blobs/", 200),
    ]
    assert sent_logins(registry) == ["", "Basic" if has_login else "", "Bearer", "Bearer", "Bearer"]


def test_an_expired_token_is_renewed(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.tokens = Tokens(uses=1)

    sandbox.run("install", f"oci://{registry.host}/acme/pdf", check=True)

    assert [each.status for each in registry.requests if each.path.startswith("/v2/")] == [401, 200] * 3
    assert [each.path for each in registry.requests].count("/token") == 3


def test_a_token_that_is_never_good_is_given_up(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.tokens = Tokens(uses=0)

    result = sandbox.run("install", f"oci://{registry.host}/acme/pdf")

    assert result.error_output.splitlines()[0] == (
        f"error: oci://{registry.host}/acme/pdf: access denied: the registry requires a login, or the repository does "
        "not exist"
    )
    assert len(registry.requests) == 3


def test_blobs_on_another_server_cost_one_request_more_and_get_no_login(
    registry: OciRegistry, sandbox: Sandbox
) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.login = LOGIN
    with GitServer() as other:
        registry.blobs_elsewhere = other

        sandbox.run("install", f"oci://{registry.host}/acme/pdf", env=variables(registry), check=True)

        assert sent_logins(other) == [""]
    assert sent_logins(registry) == ["", "Basic", "Basic", "Basic"]


def write_docker_config(sandbox: Sandbox, value: object, path: str = ".docker/config.json") -> Path:
    file = sandbox.home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))
    return file


def encoded(user: str, password: str) -> dict[str, str]:
    return {"auth": base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.mark.parametrize("key", ["{host}", "https://{host}", "{host}/acme", "{host}/acme/pdf", "http://{host}/v2/"])
def test_the_login_of_docker_is_used(registry: OciRegistry, sandbox: Sandbox, key: str) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.login = LOGIN
    write_docker_config(sandbox, {"auths": {key.format(host=registry.host): encoded(*LOGIN)}})

    assert sandbox.run("install", f"oci://{registry.host}/acme/pdf").code == 0


def test_the_most_specific_entry_wins(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.login = LOGIN
    entries = {registry.host: encoded("bob", "wrong"), f"{registry.host}/acme": encoded(*LOGIN)}
    write_docker_config(sandbox, {"auths": entries})

    assert sandbox.run("install", f"oci://{registry.host}/acme/pdf").code == 0


def test_files_of_podman_come_before_docker(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.login = LOGIN
    write_docker_config(sandbox, {"auths": {registry.host: encoded("bob", "wrong")}})
    right = {"auths": {registry.host: encoded(*LOGIN)}}
    write_docker_config(sandbox, right, "run/containers/auth.json")
    explicit = write_docker_config(sandbox, right, "explicit.json")

    for env in ({"XDG_RUNTIME_DIR": str(sandbox.home / "run")}, {"REGISTRY_AUTH_FILE": str(explicit)}):
        spec = f"oci://{registry.host}/acme/pdf"
        assert sandbox.run("install", spec, "--force", env=env).code == 0
    assert sandbox.run("install", f"oci://{registry.host}/acme/pdf", "--force").code == 1


def write_helper(sandbox: Sandbox, script: str) -> dict[str, str]:
    """Write a credential helper, and return the environment that has it in PATH."""
    helper = sandbox.home / "bin/docker-credential-vault"
    helper.parent.mkdir()
    helper.write_text(f"#!/bin/sh\n{script}\n")
    helper.chmod(0o755)
    return {"PATH": f"{helper.parent}:/usr/bin:/bin"}


@pytest.mark.parametrize("key", ["credsStore", "credHelpers"])
def test_a_credential_helper_is_asked(registry: OciRegistry, sandbox: Sandbox, key: str) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.login = LOGIN
    env = write_helper(
        sandbox,
        f'test "$1" = get && echo "$(cat)" >> {sandbox.home}/asked; '
        """echo '{"Username": "ann", "Secret": "s3cret"}'""",
    )
    write_docker_config(sandbox, {key: "vault" if key == "credsStore" else {registry.host: "vault"}})

    sandbox.run("install", f"oci://{registry.host}/acme/pdf", env=env, check=True)

    assert (sandbox.home / "asked").read_text() == f"{registry.host}\n"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (
            "echo 'the vault is sealed'; exit 1",
            "the credential helper docker-credential-vault failed: the vault is sealed",
        ),
        ("echo '{}'", "the credential helper docker-credential-vault returned no login"),
        ("echo 'credentials not found in native keychain'; exit 1", ""),
    ],
)
def test_a_helper_that_fails_is_reported_and_one_that_knows_nothing_is_not(
    registry: OciRegistry, sandbox: Sandbox, script: str, reason: str
) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.login = LOGIN
    env = write_helper(sandbox, script)
    file = write_docker_config(sandbox, {"credsStore": "vault"})

    result = sandbox.run("install", f"oci://{registry.host}/acme/pdf", env=env)

    first = f"oci://{registry.host}/acme/pdf: access denied: the registry requires a login"
    assert result.error_output.splitlines()[0] == f"error: {reason or first}"
    assert (f"  where: {file}" in result.error_output.splitlines()) == bool(reason)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../../bin/sh", "invalid name of a credential helper: `../../bin/sh`"),
        (
            "nothing",
            "the credential helper docker-credential-nothing was not found in PATH",
        ),
    ],
)
def test_a_helper_is_a_program_of_that_name_only(
    registry: OciRegistry, sandbox: Sandbox, name: str, message: str
) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.login = LOGIN
    write_docker_config(sandbox, {"credsStore": name})

    result = sandbox.run("install", f"oci://{registry.host}/acme/pdf")

    assert result.code == 1
    assert result.error_output.splitlines()[0] == f"error: {message}"


def test_an_identity_token_is_exchanged(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.tokens, registry.login = Tokens(), LOGIN
    write_docker_config(sandbox, {"auths": {registry.host: {"identitytoken": registry.identity_token}}})

    sandbox.run("install", f"oci://{registry.host}/acme/pdf", check=True)

    assert [each.method for each in registry.requests if each.path == "/token"] == ["POST"]


def test_a_token_server_elsewhere_gets_the_login_only_if_the_registry_names_it(
    registry: OciRegistry, sandbox: Sandbox
) -> None:
    """As with ghcr.io and Docker Hub: the login is for the token server that the registry names in its challenge."""
    publish(registry, "acme/pdf", "1.0.0", PDF)
    with OciRegistry() as auth:
        auth.tokens = Tokens()
        registry.tokens = Tokens(realm=f"{auth.address}/token")
        registry.login = auth.login = LOGIN

        result = sandbox.run("install", f"oci://{registry.host}/acme/pdf", env=variables(registry))

        assert sent_logins(auth) == ["Basic"]
    assert result.code == 1  # this registry knows nothing of the other one's tokens


def test_a_step_down_to_plain_http_is_refused(tmp_path: Path, sandbox: Sandbox) -> None:
    """A token server over plain HTTP would read the password of one that is reached by HTTPS."""
    company = CertificateAuthority(tmp_path)
    with OciRegistry(tls=company.context("127.0.0.1")) as registry, GitServer() as plain:
        publish(registry, "acme/pdf", "1.0.0", PDF)
        registry.login = LOGIN
        registry.tokens = Tokens(realm=f"{plain.address}/token")
        env = {**variables(registry), "SSL_CERT_FILE": str(company.certificate_file)}

        result = sandbox.run("install", f"oci://{registry.host}/acme/pdf", env=env)

        assert plain.requests == []
    assert (result.code, result.error_output) == (
        1,
        f"error: {registry.address}/v2/acme/pdf points from https to http: {plain.address}/token\n"
        "  hint: report it to the server's administrator; nothing was downloaded\n",
    )


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("login", ["password", "identity token"])
def test_the_login_for_a_registry_on_this_machine_is_not_sent_elsewhere(
    registry: OciRegistry, tmp_path: Path, sandbox: Sandbox, scheme: str, login: str
) -> None:
    """Over plain HTTP, nothing proves that the registry is what listens there; 127.0.0.2 counts as another machine."""
    company = CertificateAuthority(tmp_path)
    publish(registry, "acme/pdf", "1.0.0", PDF)
    with GitServer(ip="127.0.0.2", tls=company.context("127.0.0.2") if scheme == "https" else None) as elsewhere:
        elsewhere.publish("/token", b'{"token": "abc"}')
        registry.tokens = Tokens(realm=f"{elsewhere.address}/token")
        env = {"SSL_CERT_FILE": str(company.certificate_file)}
        words = ("install", f"oci://{registry.host}/acme/pdf", "--allow-insecure-host", "127.0.0.2")

        anonymous = sandbox.run(*words, env=env)
        assert [(request.path, request.authorization) for request in elsewhere.requests] == [("/token", "")]
        elsewhere.clear_requests()
        if login == "password":
            env |= variables(registry)
        else:
            write_docker_config(sandbox, {"auths": {registry.host: {"identitytoken": registry.identity_token}}})
        result = sandbox.run(*words, env=env)

        assert elsewhere.requests == []
    assert anonymous.code == 1  # this registry knows nothing of the other one's tokens
    assert (result.code, result.error_output) == (
        1,
        f"error: oci://{registry.host}/acme/pdf: the login for a registry on this machine is not sent elsewhere: "
        f"{elsewhere.address}/token\n"
        "  hint: let the registry name a token server on this machine, or use the registry over https\n",
    )


@pytest.mark.parametrize("blanks", ["{}\n", "  {}", "\t{} \r\n"])
def test_blanks_around_a_login_are_ignored(registry: OciRegistry, sandbox: Sandbox, blanks: str) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.login = LOGIN
    env = {name: blanks.format(value) for name, value in variables(registry).items()}

    sandbox.run("install", f"oci://{registry.host}/acme/pdf", env=env, check=True)


def test_a_private_ca_is_trusted_as_everywhere(tmp_path: Path, sandbox: Sandbox) -> None:
    company = CertificateAuthority(tmp_path)
    with OciRegistry(tls=company.context("127.0.0.1")) as registry:
        publish(registry, "acme/pdf", "1.0.0", PDF)

        without = sandbox.run("install", f"oci://{registry.host}/acme/pdf")
        env = {"SSL_CERT_FILE": str(company.certificate_file)}
        with_ca = sandbox.run("install", f"oci://{registry.host}/acme/pdf", env=env)

        assert without.code == 1
        assert with_ca.code == 0
        assert requests_of(registry)


def test_an_identity_token_is_not_sent_on_by_a_redirect(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.tokens = Tokens()
    write_docker_config(sandbox, {"auths": {registry.host: {"identitytoken": registry.identity_token}}})
    with GitServer() as other:
        registry.overrides["token"] = Response(307, {"Location": f"{other.address}/steal"}, b"")

        result = sandbox.run("install", f"oci://{registry.host}/acme/pdf")

        assert other.requests == []
    assert (result.code, result.error_output) == (
        1,
        f"error: {registry.address}/token redirects what was sent to it to another server: {other.address}/steal\n"
        "  hint: report it to the server's administrator; nothing was sent there\n",
    )


def test_a_helper_in_the_project_is_not_run(registry: OciRegistry, sandbox: Sandbox) -> None:
    """With `PATH=:/usr/bin`, the current folder is searched, too: a checkout must not bring its own helper."""
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.login = LOGIN
    helper = sandbox.write("docker-credential-vault", "#!/bin/sh\ntouch ran\n")
    helper.chmod(0o755)
    write_docker_config(sandbox, {"credsStore": "vault"})

    for path in (":/usr/bin:/bin", ".:/usr/bin:/bin"):
        result = sandbox.run("install", f"oci://{registry.host}/acme/pdf", env={"PATH": path})

        assert result.error_output.splitlines()[0] == (
            "error: the credential helper docker-credential-vault was not found in PATH"
        )
    assert not sandbox.exists("ran")


def test_plain_http_is_used_for_a_host_that_the_user_allows(sandbox: Sandbox) -> None:
    """Nothing listens there: the error names the URL that was tried."""
    spec = "oci://registry.invalid:5000/acme/pdf:1.0.0"

    refused = sandbox.run("install", spec)
    allowed = sandbox.run("install", spec, "--allow-insecure-host", "registry.invalid")

    assert refused.error_output.startswith("error: https://registry.invalid:5000/v2/acme/pdf/manifests/1.0.0")
    assert allowed.error_output.startswith("error: http://registry.invalid:5000/v2/acme/pdf/manifests/1.0.0")
