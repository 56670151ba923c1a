"""Keys and passwords go; names, numbers and sentences stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.privacy.credentials import REDACTED, redact


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("key sk-proj-Abc123Def456Ghi", "Abc123"),
        ("sk_live_51HabcDEF0123456", "51Habc"),
        ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefg"),
        ("github_pat_11ABCDEFG0abcdefghijkl_more", "11ABC"),
        ("glpat-abcDEF0123456789xyz", "abcDEF"),
        ("hf_AbCdEfGhIj0123456789KlMnOpQrStUv", "AbCd"),
        ("nvapi-abcdefghij0123456789", "abcdef"),
        ("xoxb-1234567890-abcdefghij", "12345"),
        ("AIzaSyA0123456789abcdefghijklmnopqrstuv", "SyA01"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl", "zdWIi"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nxyz\n-----END RSA PRIVATE KEY-----", "MIIE"),
        ("-----BEGIN PRIVATE KEY-----\ncut off", "cut off"),
        ("Authorization: Bearer abcdefgh", "abcdefgh"),
        ('"Authorization": "Basic dXNlcjpwYXNz"', "dXNl"),
        ("Bearer abc123def456", "abc123"),
        ("postgres://quokka:wombat77@db.example/x", "wombat77"),
        ("https://ghtoken99@host.org/r.git", "ghtoken99"),
        ("./app --password wombat77 -n 4", "wombat77"),
        ("./app --db-password=wombat77", "wombat77"),
        ("DB_PASSWORD=wombat77", "wombat77"),
        ("api_key: 'wombat77'", "wombat77"),
        ('{"client_secret": "wombat77"}', "wombat77"),
        ("AWS_SECRET_ACCESS_KEY=wombat77/abc", "wombat77"),
    ],
)
def test_a_credential_is_taken_out_whole(text: str, secret: str) -> None:
    said = redact(text, {})
    assert secret not in said
    assert REDACTED in said


def test_marks_in_place_of_blanks_hide_nothing() -> None:
    text = "//ˆsch://quokka:wombat77@db.example --passwordˆSw0rdfish1ˆxˆAuthorization:ˆBearerˆabcd1234ˆcorrectˆhorse".replace(
        " ", "ˆ"
    )
    said = redact(text, {"MY_TOKEN": "correct horse"})
    for secret in ("wombat77", "Sw0rdfish1", "abcd1234", "correct"):
        assert secret not in said


@pytest.mark.parametrize(
    "text",
    [
        "rk_integrate_fields_on_device", "hf_exchange_operator_kernel", "sk_solve_3d", "std::token::next<int>(char*)", "In next_token: 3.20 s of 9.01 s.",
        "multi-token prediction takes 3 s", "token embeddings of tokens", "pass through the loop", "token.c:47", "secretary_problem(int)", "basic operations",
        "https://example.org/a?b=c", "user@host.org", "bearer elements", "PASSED=1 of 2", "lock_token(", "compass: north",
    ],
)  # fmt: skip
def test_what_is_no_credential_stays(text: str) -> None:
    assert redact(text, {}) == text


def test_values_of_variables_that_hold_secrets_are_known() -> None:
    environ = {
        "MY_TOKEN": "correct horse",
        "SHORT_KEY": "abc",
        "KEY_FILE_KEY": "/etc/key/file",
        "HOME": "/home/bob/x",
    }
    assert (
        redact("a correct horse at /home/bob/x, abc, /etc/key/file", environ)
        == f"a {REDACTED} at /home/bob/x, abc, /etc/key/file"
    )


@given(st.text(max_size=200))
def test_it_ends_and_changes_nothing_twice(text: str) -> None:
    once = redact(text, {})
    assert redact(once, {}) == once
