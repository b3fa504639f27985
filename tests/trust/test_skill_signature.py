"""Signatures of skills: who signed them, and whether each file is one that was signed."""

import base64
import datetime as dt
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import ExtendedKeyUsageOID
from hypothesis import given
from hypothesis import strategies as st
from kit.signing import Key

from skillpm.core.file_tree import FileTree, SourceEntry
from skillpm.core.limits import Limits
from skillpm.core.names import SIGNATURE_FILE
from skillpm.core.tree_checks import check_tree
from skillpm.errors import SignatureError
from skillpm.trust.anchors import Anchors, fingerprint, read_certificates, read_public_key
from skillpm.trust.bundle import MAX_BUNDLE_SIZE, encode_signed
from skillpm.trust.skill_signature import read_signing_key, sign_skill, verify_skill

NOW = dt.datetime(2026, 11, 25, tzinfo=dt.UTC)
FILES = {"SKILL.md": b"---\nname: pdf\ndescription: PDF\n---\nRun scripts/run.sh\n", "scripts/run.sh": b"echo\n"}
KEY, OTHER_KEY = Key(), Key()
ROOT, OTHER_ROOT = Key.root(), Key.root("Other Root")
ANCHORS = read_certificates(ROOT.certificates, "root.pem")
NO_ROOT = "it is signed by CN={}, but no trusted root vouches for it; its own is CN={}"
Edit = Callable[[dict[str, Any]], object]


def make_tree(files: Mapping[str, bytes] = FILES) -> FileTree:
    entries = [SourceEntry(path=path, data=data) for path, data in files.items()]
    return check_tree(entries, name="pdf", limits=Limits())


def with_files(tree: FileTree, **files: bytes) -> FileTree:
    return make_tree({**{file.path: file.data for file in tree.files}, **files})


def without(tree: FileTree, path: str) -> FileTree:
    return FileTree(files=tuple(file for file in tree.files if file.path != path))


def sign(key: Key, tree: FileTree | None = None) -> FileTree:
    return sign_skill(tree or make_tree(), "pdf", read_signing_key(key.pem, None, "key.pem"))


def trust(*keys: Key) -> Anchors:
    return sum((read_public_key(key.public_pem, "key.pub") for key in keys), Anchors())


def problem(tree: FileTree, anchors: Anchors, at: dt.datetime | None = NOW) -> str:
    """Return why a skill does not verify, or an empty string."""
    try:
        verify_skill(tree, anchors, at)
    except SignatureError as error:
        return error.message
    return ""


def edit_bundle(tree: FileTree, edit: Edit) -> FileTree:
    """Change the bundle, without the key."""
    bundle = json.loads(tree.read(SIGNATURE_FILE) or b"")
    edit(bundle)
    return with_files(tree, **{SIGNATURE_FILE: json.dumps(bundle).encode()})


def sign_payload(edit: Edit, key: Key = KEY, payload_type: str = "application/vnd.in-toto+json") -> FileTree:
    """Sign a statement that was changed before: the signature is valid, what it says may not be."""

    def change(bundle: dict[str, Any]) -> None:
        envelope = bundle["dsseEnvelope"]
        statement = json.loads(base64.b64decode(envelope["payload"]))
        edit(statement)
        payload = json.dumps(statement).encode()
        signature = read_signing_key(key.pem, None, "key").sign(encode_signed(payload_type, payload))
        envelope["payload"], envelope["payloadType"] = base64.b64encode(payload).decode(), payload_type
        envelope["signatures"][0]["sig"] = base64.b64encode(signature).decode()

    return edit_bundle(sign(key), change)


def mismatch(text: str) -> str:
    return f"its files do not match its signature: {text}"


@pytest.mark.parametrize("curve", [ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1()])
def test_a_skill_that_a_trusted_key_signed_verifies(curve: ec.EllipticCurve) -> None:
    key = Key(curve)
    assert verify_skill(sign(key), trust(OTHER_KEY, key), NOW) == fingerprint(key.private.public_key())


def test_a_skill_whose_certificate_a_trusted_root_issued_verifies() -> None:
    signer = ROOT.issue("Acme Intermediate", is_ca=True).issue("Acme Skills")
    assert verify_skill(sign(signer), ANCHORS, NOW) == fingerprint(signer.private.public_key())


def test_the_same_key_signs_the_same_files_in_the_same_way() -> None:
    assert sign(KEY) == sign(KEY)


def test_signing_twice_replaces_the_signature() -> None:
    again = sign(OTHER_KEY, sign(KEY))
    assert [file.path for file in again.files] == ["SKILL.md", "scripts/run.sh", SIGNATURE_FILE]
    assert problem(again, trust(OTHER_KEY)) == ""


def test_another_key_is_not_trusted() -> None:
    assert problem(sign(KEY), trust(OTHER_KEY)) == "it is not signed with a trusted key"


def test_nothing_is_trusted_without_anchors() -> None:
    assert problem(sign(KEY), Anchors()) == "it is not signed with a trusted key"
    assert problem(sign(ROOT.issue("Acme Skills")), Anchors()) == NO_ROOT.format("Acme Skills", "Acme Root")


def test_an_unsigned_skill_does_not_verify() -> None:
    assert problem(make_tree(), trust(KEY)) == "it is not signed: there is no skill.oms.sig"


def test_a_certificate_of_another_root_is_not_trusted() -> None:
    signer = OTHER_ROOT.issue("Acme Skills")
    assert problem(sign(signer), ANCHORS) == NO_ROOT.format("Acme Skills", "Other Root")


def test_a_root_of_the_same_name_is_not_trusted() -> None:
    assert problem(sign(Key.root().issue("Acme Skills")), ANCHORS) == NO_ROOT.format("Acme Skills", "Acme Root")


def test_a_root_that_the_bundle_brings_is_not_trusted() -> None:
    signer = OTHER_ROOT.issue("Acme Skills")
    signer.chain.append(OTHER_ROOT.chain[0])
    assert problem(sign(signer), ANCHORS) == NO_ROOT.format("Acme Skills", "Other Root")


def test_a_signer_cannot_issue_certificates() -> None:
    signer = ROOT.issue("Acme Skills").issue("Somebody Else")
    assert problem(sign(signer), ANCHORS) == NO_ROOT.format("Somebody Else", "Acme Root")


def test_an_authority_that_may_not_issue_certificates_cannot() -> None:
    signer = ROOT.issue("Acme Mail", is_ca=True, is_for_signing=False).issue("Acme Skills")
    assert problem(sign(signer), ANCHORS) == NO_ROOT.format("Acme Skills", "Acme Root")


def test_a_missing_intermediate_certificate_can_be_given_with_the_root() -> None:
    intermediate = ROOT.issue("Acme Intermediate", is_ca=True, with_chain=False)
    tree = sign(intermediate.issue("Acme Skills", with_chain=False))
    assert problem(tree, ANCHORS) == NO_ROOT.format("Acme Skills", "Acme Intermediate")
    both = read_certificates(ROOT.certificates + intermediate.certificates, "root.pem")
    assert problem(tree, both) == ""


def test_an_intermediate_certificate_alone_is_no_root() -> None:
    with pytest.raises(SignatureError) as caught:
        read_certificates(ROOT.issue("Acme Intermediate", is_ca=True, with_chain=False).certificates, "root.pem")
    assert caught.value.message == "the file contains no root certificate (no self-signed one)"


@pytest.mark.parametrize(("at", "dates"), [("2025-06-01", "2026-01-01"), ("2030-06-01", "2030-01-01")])
def test_a_certificate_that_is_not_valid_now_does_not_count(at: str, dates: str) -> None:
    tree = sign(ROOT.issue("Acme Skills"))
    expected = "its certificate is only valid from 2026-01-01 to 2030-01-01 (CN=Acme Skills)"
    assert problem(tree, ANCHORS, dt.datetime.fromisoformat(f"{at}T00:00Z")) == expected
    assert problem(tree, ANCHORS, None) == ""  # for content that is locked already


def test_a_chain_of_which_one_certificate_has_expired_does_not_count() -> None:
    early = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)
    signer = ROOT.issue("Acme Intermediate", is_ca=True, end=early).issue("Acme Skills")
    assert problem(sign(signer), ANCHORS) == NO_ROOT.format("Acme Skills", "Acme Root")


def test_a_certificate_for_something_else_cannot_sign() -> None:
    tree = sign(ROOT.issue("Acme Mail", is_for_signing=False))
    assert problem(tree, ANCHORS) == "its certificate is not for signing (CN=Acme Mail)"


def test_the_certificate_of_a_server_cannot_sign() -> None:
    """Its key usage is that of a signature, too: each server of an organization could sign its skills."""
    server = ROOT.issue("Acme Web", purpose=ExtendedKeyUsageOID.SERVER_AUTH)
    assert problem(sign(server), ANCHORS) == "its certificate is not for signing (CN=Acme Web)"
    for purpose in (ExtendedKeyUsageOID.CODE_SIGNING, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE):
        assert problem(sign(ROOT.issue("Acme Skills", purpose=purpose)), ANCHORS) == ""


PURPOSES = (
    None,
    ExtendedKeyUsageOID.CODE_SIGNING,
    ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
    ExtendedKeyUsageOID.SERVER_AUTH,
    ExtendedKeyUsageOID.CLIENT_AUTH,
    ExtendedKeyUsageOID.EMAIL_PROTECTION,
    ExtendedKeyUsageOID.TIME_STAMPING,
    ExtendedKeyUsageOID.OCSP_SIGNING,
)


@pytest.mark.parametrize("is_for_signing", [True, False])
@pytest.mark.parametrize("purpose", PURPOSES)
def test_key_usage_and_extended_key_usage_must_both_allow_signing(
    purpose: x509.ObjectIdentifier | None, *, is_for_signing: bool
) -> None:
    """RFC 5280, section 4.2.1.12: a certificate with both must only be used for a purpose consistent with both."""
    tree = sign(ROOT.issue("Acme Skills", is_for_signing=is_for_signing, purpose=purpose))

    refused = (
        "" if is_for_signing and purpose in PURPOSES[:3] else "its certificate is not for signing (CN=Acme Skills)"
    )
    assert problem(tree, ANCHORS) == refused


def test_an_authority_for_servers_cannot_issue_the_certificate_of_a_signer() -> None:
    authority = ROOT.issue("Acme Web CA", is_ca=True, purpose=ExtendedKeyUsageOID.SERVER_AUTH)
    assert problem(sign(authority.issue("Acme Skills")), ANCHORS) == NO_ROOT.format("Acme Skills", "Acme Root")


def test_a_certificate_that_signed_itself_can_be_trusted_as_it_is() -> None:
    key = Key()
    key.chain = [key._make("Ada", key, is_ca=False, start=NOW, end=NOW + dt.timedelta(days=9), is_for_signing=True)]
    assert problem(sign(key), read_certificates(key.certificates, "ada.pem")) == ""
    assert problem(sign(key), ANCHORS) == NO_ROOT.format("Ada", "Ada")


def test_a_certificate_with_the_signature_of_another_key_does_not_verify() -> None:
    signer = ROOT.issue("Acme Skills")
    forger = Key()
    forger.chain = signer.chain
    tree = edit_bundle(sign(signer), lambda bundle: bundle.update(dsseEnvelope=read_envelope(sign(OTHER_KEY))))
    assert problem(tree, ANCHORS) == "its signature is not of the key of its certificate (CN=Acme Skills)"


def read_envelope(tree: FileTree) -> Any:
    return json.loads(tree.read(SIGNATURE_FILE) or b"")["dsseEnvelope"]


def test_damaged_certificates_do_not_verify() -> None:
    chain = {"certificates": [{"rawBytes": "AAAA"}]}

    def damage(bundle: dict[str, Any]) -> None:
        bundle["verificationMaterial"]["x509CertificateChain"] = chain

    assert problem(edit_bundle(sign(ROOT.issue("Acme")), damage), ANCHORS) == "its certificates are damaged"


@given(st.integers(0, 400), st.integers(1, 255))
def test_no_change_of_a_certificate_ends_in_another_error(at: int, flip: int) -> None:
    def change(bundle: dict[str, Any]) -> None:
        node = bundle["verificationMaterial"]["x509CertificateChain"]["certificates"][0]
        data = bytearray(base64.b64decode(node["rawBytes"]))
        data[at % len(data)] ^= flip
        node["rawBytes"] = base64.b64encode(data).decode()

    assert problem(edit_bundle(CERTIFIED, change), ANCHORS) != ""


CERTIFIED = sign(ROOT.issue("Acme Skills"))


def test_a_changed_file_is_found() -> None:
    tree = with_files(sign(KEY), **{"scripts/run.sh": b"rm\n"})
    assert problem(tree, trust(KEY)) == mismatch("scripts/run.sh differs")


def test_an_added_file_is_found() -> None:
    tree = with_files(sign(KEY), **{"scripts/more.sh": b"", "a.md": b""})
    assert problem(tree, trust(KEY)) == mismatch("a.md, scripts/more.sh are not signed")


def test_a_missing_file_is_found() -> None:
    assert problem(without(sign(KEY), "scripts/run.sh"), trust(KEY)) == mismatch("scripts/run.sh is missing")


def test_a_second_signature_in_a_folder_is_a_file_that_is_not_signed() -> None:
    tree = with_files(sign(KEY), **{"scripts/skill.oms.sig": b""})
    assert problem(tree, trust(KEY)) == mismatch("scripts/skill.oms.sig is not signed")


def test_a_link_counts_as_the_file_that_it_becomes() -> None:
    entries = [SourceEntry(path=path, data=data) for path, data in FILES.items()]
    link = SourceEntry(path="run.sh", kind="link", data=b"scripts/run.sh")
    signed = sign(KEY, check_tree([*entries, link], name="pdf", limits=Limits()))
    assert problem(signed, trust(KEY)) == ""
    assert problem(without(signed, "run.sh"), trust(KEY)) == mismatch("run.sh is missing")


def test_patterns_of_git_may_be_unsigned() -> None:
    tree = with_files(sign(KEY, with_files(make_tree(), **{".gitignore": b"*.pyc\n"})), **{".gitignore": b"*\n"})
    assert problem(tree, trust(KEY)) == ""


def test_patterns_of_git_are_signed_unless_the_statement_leaves_them_out() -> None:
    def edit(statement: dict[str, Any]) -> None:
        del statement["predicate"]["serialization"]["ignore_paths"]

    tree = with_files(sign_payload(edit), **{".gitignore": b"*\n"})
    assert problem(tree, trust(KEY)) == mismatch(".gitignore is not signed")


@pytest.mark.parametrize("ignored", [["scripts"], ["."], [""], ["*"], ["scripts/more.sh"], [".github"]])
def test_a_statement_cannot_leave_out_anything_else(ignored: list[str]) -> None:
    def edit(statement: dict[str, Any]) -> None:
        statement["predicate"]["serialization"]["ignore_paths"] = ignored

    tree = with_files(sign_payload(edit), **{"scripts/more.sh": b"rm\n"})
    assert problem(tree, trust(KEY)) == mismatch("scripts/more.sh is not signed")


@pytest.mark.parametrize("path", ["../SKILL.md", "/etc/passwd", "./SKILL.md", "SKILL.md/", "scripts//run.sh"])
def test_other_spellings_of_a_path_are_missing_files(path: str) -> None:
    def edit(statement: dict[str, Any]) -> None:
        statement["predicate"]["resources"][0]["name"] = path

    assert problem(sign_payload(edit), trust(KEY)) == mismatch(f"{path} is missing; SKILL.md is not signed")


def test_a_file_that_is_listed_twice_is_an_error() -> None:
    def edit(statement: dict[str, Any]) -> None:
        statement["predicate"]["resources"] += [{"name": "SKILL.md", "algorithm": "sha256", "digest": "0" * 64}]

    expected = "its statement: predicate.resources.2: duplicate file 'SKILL.md'"
    assert problem(sign_payload(edit), trust(KEY)) == expected


def test_a_statement_without_files_covers_nothing() -> None:
    def edit(statement: dict[str, Any]) -> None:
        statement["predicate"]["resources"] = []
        statement["subject"][0]["digest"]["sha256"] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    assert problem(sign_payload(edit), trust(KEY)) == mismatch("SKILL.md, scripts/run.sh are not signed")


def set_in_statement(*keys: str | int, value: Any) -> Edit:
    def edit(statement: Any) -> None:
        for key in keys[:-1]:
            statement = statement[key]
        statement[keys[-1]] = value

    return edit


@pytest.mark.parametrize(
    ("keys", "value", "expected"),
    [
        (("_type",), "x", '_type: expected https://in-toto.io/Statement/v1, got "x"'),
        (("predicateType",), "x", 'predicateType: expected https://model_signing/signature/v1.0, got "x"'),
        (("subject",), [], "expected one subject, got 0"),
        (("subject",), [{}, {}], "expected one subject, got 2"),
        (
            ("subject", 0, "digest", "sha256"),
            "0" * 64,
            "subject.0.digest.sha256: the digest is not that of the files listed",
        ),
        (
            ("predicate", "serialization", "method"),
            "shards",
            'predicate.serialization.method: expected `files`, the only one that is supported, got "shards"',
        ),
        (
            ("predicate", "serialization", "hash_type"),
            "blake3",
            'predicate.serialization.hash_type: expected `sha256`, the only one that is supported, got "blake3"',
        ),
        (
            ("predicate", "resources", 0, "algorithm"),
            "md5",
            'predicate.resources.0.algorithm: expected sha256, got "md5"',
        ),
        (
            ("predicate", "resources", 0, "digest"),
            "00",
            'predicate.resources.0.digest: expected 64 lower-case hex digits, got "00"',
        ),
    ],
)
def test_a_statement_of_another_kind_does_not_verify(keys: tuple[str | int, ...], value: Any, expected: str) -> None:
    tree = sign_payload(set_in_statement(*keys, value=value))
    assert problem(tree, trust(KEY)) == f"its statement: {expected}"


def test_a_statement_of_another_skill_does_not_verify() -> None:
    other = sign(KEY, make_tree({**FILES, "scripts/run.sh": b"rm\n"}))
    tree = with_files(make_tree(), **{SIGNATURE_FILE: other.read(SIGNATURE_FILE) or b""})
    assert problem(tree, trust(KEY)) == mismatch("scripts/run.sh differs")


def test_a_signature_over_another_type_of_payload_does_not_verify() -> None:
    tree = sign_payload(lambda _: None, payload_type="text/plain")
    expected = "skill.oms.sig signs a payload of type text/plain, not application/vnd.in-toto+json"
    assert problem(tree, trust(KEY)) == expected


def test_a_type_cannot_be_changed_after_signing() -> None:
    tree = sign_payload(lambda _: None, payload_type="text/plain")

    def rename(bundle: dict[str, Any]) -> None:
        bundle["dsseEnvelope"]["payloadType"] = "application/vnd.in-toto+json"

    assert problem(edit_bundle(tree, rename), trust(KEY)) == "it is not signed with a trusted key"


def test_a_signature_over_the_bare_payload_does_not_verify() -> None:
    def confuse(bundle: dict[str, Any]) -> None:
        envelope = bundle["dsseEnvelope"]
        bare = read_signing_key(KEY.pem, None, "key").sign(base64.b64decode(envelope["payload"]))
        envelope["signatures"][0]["sig"] = base64.b64encode(bare).decode()

    assert problem(edit_bundle(sign(KEY), confuse), trust(KEY)) == "it is not signed with a trusted key"


def test_lengths_separate_type_and_payload() -> None:
    assert encode_signed("a", b"b c") == b"DSSEv1 1 a 3 b c"
    assert encode_signed("a b", b"c") == b"DSSEv1 3 a b 1 c"
    assert encode_signed("ä", b"") == b"DSSEv1 2 \xc3\xa4 0 "


@pytest.mark.parametrize("count", [0, 2])
def test_exactly_one_signature_counts(count: int) -> None:
    def repeat(bundle: dict[str, Any]) -> None:
        bundle["dsseEnvelope"]["signatures"] *= count

    expected = f"skill.oms.sig is not a sigstore bundle: dsseEnvelope: expected one signature, got {count}"
    assert problem(edit_bundle(sign(KEY), repeat), trust(KEY)) == expected


def test_a_key_and_a_certificate_exclude_each_other() -> None:
    def add(bundle: dict[str, Any]) -> None:
        bundle["verificationMaterial"]["publicKey"] = {"hint": "x"}

    expected = (
        "skill.oms.sig is not a sigstore bundle: verificationMaterial: expected one of `certificate`, `publicKey` and "
        "`x509CertificateChain`"
    )
    assert problem(edit_bundle(CERTIFIED, add), trust(KEY)) == expected


def test_a_certificate_is_not_replaced_by_a_trusted_key() -> None:
    """The key of the bundle's certificate is trusted only through its root, even if the same user trusts other keys."""
    signer = OTHER_ROOT.issue("Acme Skills")
    assert problem(sign(signer), trust(KEY) + ANCHORS) == NO_ROOT.format("Acme Skills", "Other Root")


def test_an_identity_is_told_from_a_certificate() -> None:
    def issue(bundle: dict[str, Any]) -> None:
        material = bundle["verificationMaterial"]
        material["certificate"] = material.pop("x509CertificateChain")["certificates"][0]

    assert problem(edit_bundle(CERTIFIED, issue), ANCHORS) == "it is signed with a sigstore identity"


BOMB = b'{"mediaType":' + b"[" * 100_000


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "is not a sigstore bundle: 1:1: invalid JSON: Expecting value"),
        (b"\xff", "is not a sigstore bundle: not UTF-8"),
        (b"[]", "is not a sigstore bundle: expected an object, got an array"),
        (b"{}", "is not a sigstore bundle: `mediaType` is missing"),
        (b'{"mediaType": 1, "mediaType": 2}', "is not a sigstore bundle: 1:18: duplicate key `mediaType`"),
        (
            b'{"mediaType": "x"}',
            'is not a sigstore bundle: mediaType: expected application/vnd.dev.sigstore.bundle.v0.3+json, got "x"',
        ),
        (b" " * (MAX_BUNDLE_SIZE + 1), "is over 4000000 bytes"),
        (BOMB, "is not a sigstore bundle: this JSON is nested too deeply"),
        (
            b"[" + b"0," * 1_600_000,
            "is not a sigstore bundle: too many values (more than 1500000 brackets, commas and colons)",
        ),
    ],
    ids=["empty", "binary", "array", "object", "duplicate", "media-type", "huge", "deep", "many"],
)
def test_what_is_no_bundle_does_not_verify(data: bytes, expected: str) -> None:
    tree = with_files(make_tree(), **{SIGNATURE_FILE: data})
    assert problem(tree, trust(KEY)) == f"skill.oms.sig {expected}"


@pytest.mark.parametrize("value", ["", "!", "Z", None])
def test_a_signature_that_is_none_does_not_verify(value: str | None) -> None:
    def damage(bundle: dict[str, Any]) -> None:
        bundle["dsseEnvelope"]["signatures"][0]["sig"] = value

    assert problem(edit_bundle(sign(KEY), damage), trust(KEY)) != ""


def test_base64_with_other_characters_is_an_error() -> None:
    def add(bundle: dict[str, Any]) -> None:
        bundle["dsseEnvelope"]["signatures"][0]["sig"] += "!"

    assert "dsseEnvelope.signatures.0.sig: invalid base64: " in problem(edit_bundle(sign(KEY), add), trust(KEY))


def test_too_many_certificates_are_not_read() -> None:
    def add(bundle: dict[str, Any]) -> None:
        bundle["verificationMaterial"]["x509CertificateChain"]["certificates"] *= 11

    expected = "skill.oms.sig is not a sigstore bundle: verificationMaterial: expected 1 to 10 certificates, got 22"
    assert problem(edit_bundle(CERTIFIED, add), ANCHORS) == expected


@given(st.integers(0), st.integers(1, 255))
def test_no_byte_of_a_signed_file_can_change(at: int, flip: int) -> None:
    signed = SIGNED
    file = signed.files[at % 2]
    data = bytearray(file.data)
    data[at % len(data)] ^= flip
    assert problem(with_files(signed, **{file.path: bytes(data)}), trust(KEY)) == mismatch(f"{file.path} differs")


SIGNED = sign(KEY)


def raises(pem: bytes, passphrase: bytes | None = None) -> str:
    with pytest.raises(SignatureError) as caught:
        read_signing_key(pem, passphrase, "key.pem")
    assert caught.value.where == "key.pem"
    return caught.value.message


def test_keys_that_cannot_sign() -> None:
    encrypted = KEY.encrypted(b"secret")
    assert raises(b"") == "not a PEM file with a private key, or the passphrase is wrong"
    assert raises(KEY.public_pem) == "not a PEM file with a private key, or the passphrase is wrong"
    assert raises(encrypted) == "the private key needs a passphrase"
    assert raises(encrypted, b"other") == "not a PEM file with a private key, or the passphrase is wrong"
    assert read_signing_key(KEY.pem, b"ignored", "key.pem").public_key == KEY.private.public_key()
    assert raises(KEY.pem + ROOT.certificates) == "the first certificate is not that of the private key"
    unsupported = "unsupported key; expected an ECDSA key on P-256, P-384 or P-521"
    assert raises(Key(ec.SECP256K1()).pem) == unsupported
    ed = ed25519.Ed25519PrivateKey.generate()
    arguments = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    assert raises(ed.private_bytes(*arguments)) == unsupported
    assert read_signing_key(encrypted, b"secret", "key.pem").public_key == KEY.private.public_key()


def test_files_that_hold_nothing_to_trust() -> None:
    for read, pem, expected in (
        (read_certificates, b"", "not a PEM file with certificates"),
        (read_certificates, KEY.public_pem, "not a PEM file with certificates"),
        (read_public_key, b"", "not a PEM file with a public key"),
        (read_public_key, KEY.pem, "not a PEM file with a public key"),
        (
            read_public_key,
            Key(ec.SECP256K1()).public_pem,
            "unsupported key; expected an ECDSA key on P-256, P-384 or P-521",
        ),
    ):
        with pytest.raises(SignatureError) as caught:
            read(pem, "trusted.pem")
        assert (caught.value.message, caught.value.where) == (expected, "trusted.pem")
