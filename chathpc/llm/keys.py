"""The key of a hosted model: from a file of its owner alone, the environment or the keyring, and into the request header, nowhere else."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from chathpc.errors import UsageError
from chathpc.llm.settings import Settings
from chathpc.privacy.credentials import REDACTED, SHORTEST_VALUE, redact
from chathpc.profile.text import clean

DEFAULT_BASE_URL = "https://api.openai.com/v1"
ENVIRONMENT_KEY = "OPENAI_API_KEY"
KEYRING_SERVICE = "chathpc"

_LONGEST_KEY = 8192


@dataclass(frozen=True, slots=True, repr=False)
class Key:
    """A secret that shows itself only to who asks for `secret`."""

    secret: str

    def __repr__(self) -> str:
        return "Key(…)"

    def redact(self, text: str) -> str:
        """`text` without this key and what looks like one, fit to be shown: one line, printable, at most 300 characters."""
        if len(self.secret) >= SHORTEST_VALUE:
            text = text.replace(self.secret, REDACTED)
        elif self.secret:  # within a name it is a part of that
            text = re.sub(rf"(?<![\w-]){re.escape(self.secret)}(?![\w-])", REDACTED, text)
        return clean(" ".join(redact(text).split()))[:300]


NO_KEY = Key("")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go: the base URL, and whether it is this machine."""

    url: str
    host: str
    loopback: bool
    encrypted: bool


def endpoint(settings: Settings) -> Endpoint:
    """The endpoint that is set, else OpenAI's own.

    Raises UsageError for what is no HTTP URL, and for a URL with a user name or password in it: keys do not belong there.
    """
    url = settings.base_url or DEFAULT_BASE_URL
    origin = settings.origins.get("base_url", "the base URL")
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        raise UsageError(f"{origin}: not a URL.") from None
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"{origin}: a user name or password in the URL is not used.",
            hint=f"Set {ENVIRONMENT_KEY}, or api_key_file to a file of mode 0600.",
        )
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise UsageError(f"{origin}: expected a URL like http://host:8000/v1.")
    return Endpoint(url.rstrip("/"), host, _is_loopback(host), parts.scheme == "https")


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


def read_key(settings: Settings, target: Endpoint, environ: Mapping[str, str] | None = None) -> Key:
    """The key for `target`, or NO_KEY.

    A key file goes wherever the user points it. OPENAI_API_KEY is for its own endpoint: it is sent encrypted, or to the
    OPENAI_BASE_URL that stands beside it, and not in clear text to a server that was named elsewhere. Raises UsageError for
    a file that others can read. The keyring is asked last, under the service `chathpc` and the host's name, so that a key stays
    with its host whatever base URL is set.
    """
    environ = os.environ if environ is None else environ
    if settings.api_key_file is not None:
        return _from_file(settings.api_key_file)
    beside = settings.origins.get("base_url") == "OPENAI_BASE_URL"
    secret = environ.get(ENVIRONMENT_KEY, "").strip()
    if secret and (target.encrypted or beside):
        return _checked(secret, ENVIRONMENT_KEY)
    return _from_keyring(target.host) if target.encrypted or target.loopback else NO_KEY


def _from_keyring(host: str) -> Key:
    """What the user has put there with `keyring set chathpc HOST`; NO_KEY without the package `keyring`, a keyring or an entry."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return NO_KEY
    try:
        secret = keyring.get_password(KEYRING_SERVICE, host)
    except (KeyringError, RuntimeError, OSError):
        return NO_KEY  # locked, or no desktop here to keep one
    return _checked(secret.strip(), f"the keyring's entry for {host}") if secret else NO_KEY


def _from_file(path: Path) -> Key:
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            data = file.read(_LONGEST_KEY + 1)
    except OSError as error:
        raise UsageError(f"{path}: the key cannot be read: {error.strerror}.") from None
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise UsageError(f"{path}: this key is readable by others.", hint=f"chmod 600 {path}")
    return _checked(data.decode("utf-8", "replace").strip(), str(path))


def _checked(secret: str, origin: str) -> Key:
    if not secret or len(secret) > _LONGEST_KEY or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise UsageError(f"{origin}: not a key: expected one line of printable characters.")
    return Key(secret)
