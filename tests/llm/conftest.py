"""The tiny model, once a session, and a home folder of the tests' own."""

from __future__ import annotations

from importlib import util
from pathlib import Path

import pytest

from tests.llm.tiny_gguf import write_tiny_model


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("gguf", reason="gguf writes the tiny model: pip install gguf")
    return write_tiny_model(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture(params=["llama_cpp", "xllamacpp"])
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if util.find_spec(name) is None:
        pytest.skip(f"the engine {name} is not installed")
    return name


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes what belongs to who runs it."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("LLM", "BASE_URL", "API_KEY_FILE", "MODELS", "MIRROR", "DEADLINE", "CONTEXT", "THREADS", "GPU_LAYERS"):
        monkeypatch.delenv(f"CHATHPC_{name}", raising=False)
    for name in ("FORM", "HOSTED", "CONFIDENTIAL", "LOG", "TEST_BACKENDS"):
        monkeypatch.delenv(f"CHATHPC_{name}", raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    return home
