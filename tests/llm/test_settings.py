from __future__ import annotations

import os
import pwd
import re
from pathlib import Path

import pytest

from chathpc.commands.main import main
from chathpc.errors import UsageError
from chathpc.llm import places, spec
from chathpc.llm.price import Price
from chathpc.llm.settings import Settings, Values, load_settings


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "etc" / "config.yaml"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def load(site: Path, **options: object) -> Settings:
    return load_settings(options, site=site)


# Which of the five places say something → the value that counts. Each place says its own name.
PLACES = ["option", "environment", "project", "user", "site"]


@pytest.mark.parametrize("first", range(5))
def test_the_first_place_that_says_something_counts(
    first: int, site: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    speaking = PLACES[first:]
    options = {"llm": "local:option"} if "option" in speaking else {}
    if "environment" in speaking:
        monkeypatch.setenv("CHATHPC_LLM", "local:environment")
    if "project" in speaking:
        write(own_home / "chathpc.yaml", "llm: local:project\n")
    if "user" in speaking:
        write(own_home / ".config/chathpc/config.yaml", "llm: local:user\n")
    write(site, "llm: local:site\n")
    settings = load(site, **options)
    assert settings.llm == f"local:{PLACES[first]}"
    origins = ["--llm", "CHATHPC_LLM", "chathpc.yaml, llm", "config.yaml, llm", "etc/config.yaml, llm"]
    assert settings.origins["llm"].endswith(origins[first])


def test_without_any_settings_the_defaults_hold(site: Path) -> None:
    assert load(site) == Settings()


def test_values_are_read_in_their_types(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHATHPC_DEADLINE", "12.5")
    monkeypatch.setenv("CHATHPC_THREADS", "3")
    monkeypatch.setenv("CHATHPC_HOSTED", "false")
    write(site, "context: 8192\nform: structured\nmodels: ~/models\n")
    settings = load(site)
    assert (settings.deadline, settings.threads, settings.hosted) == (12.5, 3, False)
    assert (settings.context, settings.form) == (8192, "structured")
    assert settings.models == Path.home() / "models"


def test_auto_leaves_the_choice_to_the_next_place(site: Path) -> None:
    write(site, "llm: local:site\n")
    assert load(site, llm="auto").llm == "local:site"


def test_the_base_url_of_openai_counts_unless_there_is_one_of_chathpc(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert load(site).origins["base_url"] == "OPENAI_BASE_URL"
    monkeypatch.setenv("CHATHPC_BASE_URL", "http://127.0.0.1:2/v1")
    assert load(site).base_url == "http://127.0.0.1:2/v1"


@pytest.mark.parametrize("place", ["option", "environment"])
def test_nothing_overrides_what_the_site_pins(place: str, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(site, "llm: local:site\npin: true\n")
    options = {}
    if place == "option":
        options = {"llm": "openai:gpt"}
    else:
        monkeypatch.setenv("CHATHPC_LLM", "openai:gpt")
    with pytest.raises(UsageError, match=r"asks for 'openai:gpt'.*settled on 'local:site'"):
        load(site, **options)


@pytest.mark.parametrize("asked", ["openai:evil", "local", "replay:x", "openai:site,local"])
@pytest.mark.parametrize("pinned", ["none", "openai:site", "auto"])
def test_no_argument_goes_past_what_the_site_pins(asked: str, pinned: str, site: Path) -> None:
    write(site, f"llm: {pinned}\nbase_url: http://127.0.0.1:1/v1\npin: true\n")
    for look_up in (spec.resolve, lambda text, settings: list(spec.choices(text, settings))):
        with pytest.raises(UsageError, match=rf"'{asked}' is asked for.*settled on '{pinned}' \({site}"):
            look_up(asked, load(site))
        look_up("none", load(site))
        look_up(pinned, load(site, llm="none"))


@pytest.mark.parametrize("way", ["explain", "show-prompt", "ask", "fix", "predict", "models"])
def test_no_command_goes_past_what_the_site_pins(
    way: str, site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], own_home: Path
) -> None:
    write(site, "llm: none\npin: true\n")
    monkeypatch.setitem(load_settings.__kwdefaults__, "site", site)
    database = str(Path(__file__).parents[2] / "examples" / "omp-triangle" / "database")
    program = own_home / "program"
    write(program / "chathpc.yaml", "project: {build: 'true', run: 'true', edit: [a.c]}\n")
    write(program / "a.c", "int main(void) { return 0; }\n")
    commands = {
        "explain": ["explain", database],
        "show-prompt": ["explain", database, "--show-prompt"],
        "ask": ["ask", database, "why is it slow?"],
        "fix": ["fix", str(program), "--no-sandbox"],
        "predict": ["predict", str(program / "a.c")],
        "models": ["models", "test", "openai:evil"],
    }
    model = [] if way == "models" else ["--llm", "openai:evil"]
    assert main([*commands[way], *model, "--base-url", "http://127.0.0.1:9/v1"]) == 2
    assert "this site has settled on 'none'" in capsys.readouterr().err


def test_a_users_file_gives_way_to_what_the_site_pins(site: Path, own_home: Path) -> None:
    write(site, "llm: openai:site\nbase_url: https://llm.site/v1\npin: true\n")
    write(own_home / ".config/chathpc/config.yaml", "llm: openai:x\nbase_url: https://elsewhere/v1\n")
    settings = load(site)
    assert (settings.llm, settings.base_url) == ("openai:site", "https://llm.site/v1")


def test_no_model_is_allowed_whatever_the_site_pins(site: Path) -> None:
    write(site, "llm: local:site\npin: true\n")
    assert load(site, llm="none").llm == "none"


@pytest.mark.parametrize("forbidding", ["site", "environment"])
def test_hosted_models_stay_forbidden_whoever_allows_them(
    forbidding: str, site: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(own_home / ".config/chathpc/config.yaml", "hosted: true\n")
    if forbidding == "site":
        monkeypatch.setenv("CHATHPC_HOSTED", "true")
        write(site, "hosted: false\n")
    else:
        monkeypatch.setenv("CHATHPC_HOSTED", "false")
        write(site, "hosted: true\n")
    assert load(site).hosted is False


@pytest.mark.parametrize(
    ("pinned", "asked", "refused"),
    [("all", "default", True), ("default", "none", True), ("default", "all", False), ("none", "default", False)],
)
def test_a_site_says_how_much_is_concealed_at_least(pinned: str, asked: str, refused: bool, site: Path) -> None:
    write(site, f"confidential: {pinned}\npin: true\n")
    assert load(site).confidential == pinned
    if refused:
        with pytest.raises(UsageError, match=f"asks for '{asked}'.*settled on '{pinned}'"):
            load(site, confidential=asked)
    else:
        assert load(site, confidential=asked).confidential == asked


def test_a_users_file_cannot_conceal_less_than_the_site_asks_for(site: Path, own_home: Path) -> None:
    write(site, "confidential: all\npin: true\n")
    write(own_home / ".config/chathpc/config.yaml", "confidential: none\n")
    assert load(site).confidential == "all"


def test_a_foreign_folder_cannot_take_the_users_key_to_another_server(
    site: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    write(own_home / ".config/chathpc/config.yaml", "llm: openai:mine\nbase_url: https://llm.mine/v1\n")
    foreign = own_home / "downloads" / "somebodys-profile"
    write(foreign / "chathpc.yaml", "base_url: https://llm.evil/v1\n")
    assert load_settings(site=site, cwd=foreign).base_url == "https://llm.mine/v1"
    write(foreign / "chathpc.yaml", "deadline: 5\n")
    settings = load_settings(site=site, cwd=foreign)
    assert (settings.base_url, settings.llm, settings.deadline) == ("https://llm.mine/v1", "openai:mine", 5)


def test_a_project_is_no_setting(site: Path, own_home: Path) -> None:
    write(own_home / "chathpc.yaml", "llm: local:small\nproject: {build: make, run: ./app, whatever: [1, 2]}\n")
    settings = load(site)
    assert settings.llm == "local:small"
    assert "project" not in settings.origins


@pytest.mark.parametrize("place", ["user", "site"])
def test_a_project_is_described_in_its_own_folder_alone(place: str, site: Path, own_home: Path) -> None:
    write(site if place == "site" else own_home / ".config/chathpc/config.yaml", "project: {build: make}\n")
    with pytest.raises(UsageError, match="'project' is not a setting") as caught:
        load(site)
    assert "its own folder" in caught.value.hint


def test_pin_is_for_the_site_alone(site: Path, own_home: Path) -> None:
    write(own_home / ".config/chathpc/config.yaml", "pin: true\n")
    with pytest.raises(UsageError, match="site's file alone"):
        load(site)


@pytest.mark.parametrize(
    "line",
    [
        "base_url: https://evil.example/v1",
        "api_key_file: /users/u/.ssh/id_rsa",
        "llm: openai:gpt",
        "llm: local:./evil.gguf",
        "models: ./models",
        "mirror: https://evil.example",
        "confidential: none",
        "log: false",
    ],
)
def test_a_project_file_does_not_say_where_data_go_or_what_is_loaded(
    line: str, site: Path, own_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is passed over, and told of once; it stops nothing."""
    without = load(site)
    write(own_home / "chathpc.yaml", line + "\ndeadline: 5\n")
    assert load(site) == load(site) == without.model_copy(update={"deadline": 5.0, "origins": load(site).origins})
    (told,) = (record.getMessage() for record in caplog.records)
    assert re.search(r"chathpc\.yaml: '\w+' is ignored in this file", told)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lmm: none\n", r"config\.yaml: there is no setting 'lmm'"),
        ("deadline: soon\n", r"config\.yaml: 'deadline' is wrong"),
        ("threads: 0\n", r"config\.yaml: 'threads' is wrong"),
        ("llm: [a]\n", r"config\.yaml: 'llm' is wrong"),
        ("form: poem\n", r"config\.yaml: 'form' is wrong"),
        ("- llm\n", r"config\.yaml: expected lines of the form"),
        ("llm: {\n", r"config\.yaml, line \d: not valid YAML"),
        ("llm: !!python/object/apply:os.system [true]\n", r"config\.yaml.*: not valid YAML"),
        ("\x00", r"config\.yaml: not valid YAML"),
        ("#" * 70_000, r"config\.yaml: larger than 65536 bytes"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_and_key(text: str, message: str, site: Path) -> None:
    write(site, text)
    with pytest.raises(UsageError, match=message) as caught:
        load(site)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("lmm: none\n", "no setting 'lmm'", "Did you mean 'llm'?"),
        ("gpu-layers: 3\n", "no setting 'gpu-layers'", "Did you mean 'gpu_layers'?"),
        ("build: make\n", "no setting 'build'", "It belongs below 'project'"),
        ("bulid_: make\n", "no setting 'bulid_'", "Did you mean 'build'? It belongs below 'project'"),
        ("projekt: {build: make}\n", "no setting 'projekt'", "Did you mean 'project'?"),
        ("qqq: 1\n", "no setting 'qqq'", "Settings are llm,"),
        ("prices: {m: {inputs: 1, output: 1}}\n", r"there is no key 'prices\.m\.inputs'", "prices: Model:"),
        ("deadline: soon\n", "'deadline' is wrong: expected a number", "deadline: Seconds for one answer."),
        ("threads: 0\n", "'threads' is wrong: expected a number of at least 1", "threads: Threads of a local model."),
        ("form: poem\n", "'form' is wrong: expected 'prose' or 'structured'", "form: Prompt form"),
        ("llm: [a]\n", "'llm' is wrong: expected a text", "llm: Which model, as for --llm."),
    ],
)
def test_a_wrong_key_or_value_leads_to_what_was_meant(
    text: str, message: str, hint: str, site: Path, own_home: Path
) -> None:
    write(own_home / "chathpc.yaml", text)
    with pytest.raises(UsageError, match=message) as caught:
        load(site)
    assert caught.value.hint.startswith(hint)


def test_keys_of_a_project_are_those_that_fix_reads() -> None:
    from chathpc.fix.project_schema import ProjectValues
    from chathpc.llm.settings import PROJECT_KEYS

    assert tuple(ProjectValues.model_fields) == PROJECT_KEYS


def test_an_empty_file_says_nothing(site: Path) -> None:
    write(site, "# nothing\n")
    assert load(site) == Settings()


def test_a_folder_in_place_of_a_file_is_refused(site: Path) -> None:
    site.mkdir(parents=True)
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        load(site)


def test_a_wrong_variable_and_a_wrong_option_are_called_by_their_names(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="--deadline"):
        load(site, deadline="x")
    monkeypatch.setenv("CHATHPC_CONTEXT", "many")
    with pytest.raises(UsageError, match="CHATHPC_CONTEXT"):
        load(site)


def test_a_key_in_a_settings_file_is_refused_and_not_shown(site: Path) -> None:
    write(site, "api_key: sk-planted-0123456789\n")
    with pytest.raises(UsageError) as caught:
        load(site)
    assert "sk-planted" not in str(caught.value)
    assert "api_key_file" in caught.value.hint


def test_without_a_home_folder_there_is_no_users_file(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_uid: int) -> pwd.struct_passwd:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.delenv("HOME")
    assert load(site) == Settings()
    assert places.cache_folder(os.environ) is None
    monkeypatch.setenv("HOME", "relative")
    assert places.config_file(os.environ) is None
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache/u")
    assert places.cache_folder(os.environ) == Path("/var/cache/u/chathpc")


def test_without_the_variable_home_the_user_database_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    assert places.home(os.environ) == Path(pwd.getpwuid(os.getuid()).pw_dir)


def test_prices_are_read_from_files_alone(site: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(site, "prices:\n  org/model: {input: 0.15, output: 0.6}\ncurrency: EUR\nspend: 0.05\n")
    monkeypatch.setenv("CHATHPC_PRICES", "{}")
    settings = load(site)
    assert settings.prices == {"org/model": Price(input=0.15, output=0.6)}
    assert (settings.currency, settings.spend) == ("EUR", 0.05)
    write(own_home / "chathpc.yaml", "spend: 100\n")
    assert load(site).spend == 0.05


@pytest.mark.parametrize(
    "text",
    ["prices: {m: {input: 1}}", "prices: {m: {input: -1, output: 1}}", "prices: [1]", "spend: -1", "currency: ''"],
)
def test_a_wrong_price_is_refused(text: str, site: Path) -> None:
    write(site, text)
    with pytest.raises(UsageError, match="is wrong"):
        load(site)


def test_every_setting_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    assert [key for key in Values.model_fields if f"`{key}`" not in page] == []
