"""Where files and folders are looked for, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiosk import places


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(places, "SYSTEM_SETTINGS", tmp_path / "etc" / "settings.toml")
    monkeypatch.setattr(places, "SYSTEM_STATE", tmp_path / "var")
    return tmp_path


def test_the_command_that_is_named_is_the_one_that_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release = Path("/opt/pyramid-kiosk/releases/0.1.0/venv/lib/python3.11/site-packages")
    assert places.command(release / "kiosk" / "places.py") == "pyramid-kiosk"
    assert places.command(Path("/home/ann/pyramid-kiosk/kiosk/places.py")) == "python -m kiosk"
    monkeypatch.setattr("sys.frozen", True, raising=False)
    assert places.command(Path("/tmp/bundle/kiosk/places.py")) == "pyramid-kiosk"


def test_settings_come_from_the_command_line_then_the_system_then_the_user(home: Path) -> None:
    users = home / "config" / "pyramid-kiosk" / "settings.toml"
    assert places.settings_file(None) is None
    users.parent.mkdir(parents=True)
    users.touch()
    assert places.settings_file(None) == users
    places.SYSTEM_SETTINGS.parent.mkdir()
    places.SYSTEM_SETTINGS.touch()
    assert places.settings_file(None) == places.SYSTEM_SETTINGS
    given = home / "not" / "there.toml"
    assert places.settings_file(given) == given


def test_a_folder_that_may_not_be_entered_stops_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = {home / "config" / "pyramid-kiosk" / "settings.toml"}
    stat = Path.stat

    def may_stat(path: Path, **how: bool) -> object:
        if path in closed:
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **how)

    monkeypatch.setattr(Path, "stat", may_stat)
    assert places.settings_file(None) is None, "somebody else's home"
    closed.add(places.SYSTEM_SETTINGS)
    assert places.settings_file(None) == places.SYSTEM_SETTINGS, "who reads it says what is wrong"


def test_the_state_is_where_the_command_line_or_systemd_says(home: Path) -> None:
    assert places.state_folder(None, {}) == home / "state" / "pyramid-kiosk"
    systemd = {"STATE_DIRECTORY": "/var/lib/a:/var/lib/b"}
    assert places.state_folder(None, systemd) == Path("/var/lib/a")
    assert places.state_folder(home, systemd) == home


def test_who_asks_from_outside_means_the_service_where_there_is_one(home: Path) -> None:
    assert places.service_state(None, {}) == home / "state" / "pyramid-kiosk"
    places.SYSTEM_STATE.mkdir()
    assert places.service_state(None, {}) == places.SYSTEM_STATE
    assert places.service_state(home, {}) == home
    assert places.service_state(None, {"STATE_DIRECTORY": "/a"}) == Path("/a")
    # The kiosk itself never takes the service's folder by chance.
    assert places.state_folder(None, {}) == home / "state" / "pyramid-kiosk"


def test_the_folder_of_a_run_is_systemds_or_none() -> None:
    assert places.runtime_folder({}) is None
    assert places.runtime_folder({"RUNTIME_DIRECTORY": "/run/a:/run/b"}) == Path("/run/a")


def test_the_shipped_settings_are_there() -> None:
    assert places.SHIPPED_SETTINGS.is_file()
