"""The preflight: made-up machines, each with one thing wrong, and what is said about it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engine.pool import DEFAULT_PATH
from kiosk import preflight, renderer
from kiosk.overrides import Overrides
from kiosk.preflight import Finding, Level, Machine
from kiosk.settings import Settings, parse
from kiosk.statefile import FILE_NAME
from kiosk.storage import Storage
from tests.kiosk.fakes import input_device

ROOT = Path(__file__).parents[2]
PI_DRAWS = "V3D 7.1.7.0"
PROGRAM_DRAWS = "llvmpipe (LLVM 15.0.6, 128 bits)"
EVERY_GROUP = frozenset({"video", "render", "input", "gpio", "audio"})
BUTTONS, _ = parse("[buttons]\nundo = 17\n[lamps]\nundo = 12\n")


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def raspberry(root: Path) -> None:
    """A Raspberry Pi with a touch screen, a keyboard, a light and a sound card."""
    write(root / "proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0\0")
    write(root / "dev/dri/card1")
    write(root / "dev/dri/renderD128")
    write(root / "sys/class/drm/card1-HDMI-A-1/status", "connected\n")
    for number, name, absolute, properties in (
        (0, "a keyboard", "0", "0"),
        (1, "ft5x06", "260800000000003", "2"),
        (2, "a touch pad", "260800000000003", "5"),
    ):
        device = root / f"sys/class/input/event{number}/device"
        write(device / "name", name + "\n")
        write(device / "capabilities/abs", absolute + "\n")
        write(device / "properties", properties + "\n")
        write(root / f"dev/input/event{number}")
    write(root / "sys/class/backlight/10-0045/brightness", "255")
    write(root / "proc/asound/cards", " 0 [vc4hdmi0]: vc4-hdmi\n")


def machine(root: Path, **changed: Any) -> Machine:
    values: dict[str, Any] = {
        "root": root,
        "environ": {},
        "user": os.getuid() or 1000,
        "groups": EVERY_GROUP,
        "existing": EVERY_GROUP | {"root"},
        "renderer": lambda: PI_DRAWS,
        **changed,
    }
    return Machine(**values)


def shut(*names: str) -> Callable[[Path, int], bool]:
    """Like os.access, but for files so named."""
    return lambda path, _mode: path.exists() and path.name not in names


def test_a_machine_that_has_everything_is_ready(tmp_path: Path) -> None:
    raspberry(tmp_path)
    findings = preflight.check(
        machine(tmp_path),
        (BUTTONS, [], tmp_path / "settings.toml"),
        tmp_path / "state",
        find_chip=lambda: "pinctrl-rp1 (/dev/gpiochip0)",
    )
    assert [f.level for f in findings] == [Level.OK] * len(findings), findings
    assert preflight.ready(findings)
    said = {finding.subject: finding.text for finding in findings}
    assert list(said) == [
        *("settings", "user", "display", "graphics", "touch"),
        *("pins", "light", "sound", "pool", "storage"),
    ]
    assert said["display"] == "would be reached by kmsdrm"
    assert said["graphics"] == PI_DRAWS
    assert said["touch"] == "ft5x06 (event1)"
    assert said["pins"] == "pinctrl-rp1 (/dev/gpiochip0), for undo, lamp undo"
    assert said["light"] == "10-0045"
    assert said["pool"].startswith("18,000 deals, digest ")
    assert not (tmp_path / "state").exists()  # nothing was made
    assert preflight.as_text(findings).splitlines()[-1] == "all is well"


def test_every_mistake_in_the_settings_is_a_problem(tmp_path: Path) -> None:
    _, problems = parse('[game]\npreset = "golf"\ngrade = 7\n[gaem]\n')
    findings = list(preflight.of_settings(problems, tmp_path / "settings.toml"))
    assert [finding.level for finding in findings] == [Level.PROBLEM] * 3
    assert "game.preset" in findings[0].text
    assert not preflight.ready(findings)


def test_no_settings_file_is_all_right() -> None:
    (finding,) = preflight.of_settings([], None)
    assert finding.level is Level.OK


def test_what_the_service_menu_has_changed_is_said(tmp_path: Path) -> None:
    assert list(preflight.of_overrides(tmp_path)) == []
    overrides = Overrides(tmp_path)
    overrides.change(Settings(), "game.preset", "cards4")
    overrides.change(Settings(), "sound.volume", 0.8)
    (finding,) = preflight.of_overrides(tmp_path)
    assert finding.level is Level.OK
    assert finding.text.endswith('the last word on game.preset = "cards4", sound.volume = 0.8')
    overrides.clear()
    assert list(preflight.of_overrides(tmp_path)) == []
    file = write(tmp_path / "overrides.json", "{nonsense")
    (finding,) = preflight.of_overrides(tmp_path)
    assert finding.level is Level.WARNING
    assert file.read_text() == "{nonsense"


def test_missing_groups_are_named_with_the_command_that_adds_them(tmp_path: Path) -> None:
    here = machine(tmp_path, groups=frozenset({"video", "audio"}))
    finding = preflight.of_user(here, Settings())
    assert finding.level is Level.WARNING
    assert "render (the graphics chip), input (the touch screen)" in finding.text
    assert "gpio" not in finding.text  # nothing is connected
    assert f"sudo usermod -aG render,input {here.user_name}" in finding.remedy
    assert "gpio (buttons and lamps)" in preflight.of_user(here, BUTTONS).text


def test_groups_that_this_system_does_not_have_are_not_missed(tmp_path: Path) -> None:
    here = machine(tmp_path, groups=frozenset(), existing=frozenset({"root"}))
    assert preflight.of_user(here, BUTTONS).level is Level.OK


def test_a_desktop_needs_no_groups_for_screen_and_touches(tmp_path: Path) -> None:
    raspberry(tmp_path)
    here = machine(tmp_path, environ={"DISPLAY": ":0"}, groups=frozenset(), access=shut("event1"))
    assert preflight.of_user(here, Settings()).level is Level.OK
    assert preflight.of_touch(here).level is Level.OK
    finding = preflight.of_user(here, BUTTONS)
    assert (finding.level, finding.text) == (
        Level.WARNING,
        f"{here.user_name} is not in the groups gpio (buttons and lamps)",
    )


def test_root_is_told_that_it_says_little(tmp_path: Path) -> None:
    finding = preflight.of_user(machine(tmp_path, user=0), Settings())
    assert finding.level is Level.WARNING
    assert "sudo -u pyramid-kiosk" in finding.remedy


def test_no_screen_is_a_problem_and_says_what_to_do(tmp_path: Path) -> None:
    finding = preflight.of_display(machine(tmp_path))
    assert finding.level is Level.PROBLEM
    assert finding.text == "There is no display here"
    assert "Start the kiosk from a desktop" in finding.remedy
    assert preflight.of_display(machine(tmp_path), offscreen=True).level is Level.OK
    raspberry(tmp_path)
    write(tmp_path / "sys/class/drm/card1-HDMI-A-1/status", "disconnected\n")
    finding = preflight.of_display(machine(tmp_path))
    assert (finding.level, finding.remedy[:10]) == (Level.PROBLEM, "plug it in")


def test_a_program_that_draws_is_a_problem_on_a_pi_and_a_warning_elsewhere(tmp_path: Path) -> None:
    slow = machine(tmp_path, renderer=lambda: PROGRAM_DRAWS)
    assert preflight.of_graphics(slow).level is Level.WARNING
    raspberry(tmp_path)
    finding = preflight.of_graphics(slow)
    assert finding.level is Level.PROBLEM
    assert PROGRAM_DRAWS in finding.text
    assert "vc4-kms-v3d" in finding.remedy


def test_a_chip_that_may_not_be_used_asks_for_the_group(tmp_path: Path) -> None:
    raspberry(tmp_path)
    here = machine(tmp_path, access=shut("renderD128"), renderer=lambda: PROGRAM_DRAWS)
    finding = preflight.of_graphics(here)
    assert finding.level is Level.PROBLEM
    assert "usermod -aG render" in finding.remedy


def test_what_draws_may_stay_unknown(tmp_path: Path) -> None:
    raspberry(tmp_path)
    finding = preflight.of_graphics(machine(tmp_path, renderer=lambda: None))
    assert finding.level is Level.WARNING
    assert "cannot be found out" in finding.text


def test_only_a_screen_under_fingers_is_a_touch_screen(tmp_path: Path) -> None:
    raspberry(tmp_path)
    closed = preflight.of_touch(machine(tmp_path, access=shut("event1")))
    assert (closed.level, closed.text) == (Level.PROBLEM, "ft5x06 (event1) may not be used")
    assert "usermod -aG input" in closed.remedy
    shutil.rmtree(tmp_path / "sys/class/input/event1")
    assert preflight.of_touch(machine(tmp_path)).level is Level.WARNING


def test_a_touch_screen_for_one_finger_is_one(tmp_path: Path) -> None:
    # It does not say that it lies on a screen.
    device = input_device(tmp_path / "sys/class/input", 0, axes=[0, 1, 0x18], keys=[0x14A])
    write(device / "name", "ADS7846 Touchscreen\n")
    write(tmp_path / "dev/input/event0")
    finding = preflight.of_touch(machine(tmp_path))
    assert (finding.level, finding.text) == (Level.OK, "ADS7846 Touchscreen (event0)")


def test_pins_are_looked_for_only_where_something_is_connected() -> None:
    def none() -> str:
        raise OSError("no GPIO chip: this machine has no header")

    assert preflight.of_pins(Settings(), none).level is Level.OK
    finding = preflight.of_pins(BUTTONS, none)
    assert finding.level is Level.PROBLEM
    assert finding.text == "no GPIO chip: this machine has no header"


def test_the_library_for_pins_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = preflight.importlib.util.find_spec
    monkeypatch.setattr(
        preflight.importlib.util,
        "find_spec",
        lambda name: None if name == "lgpio" else real(name),
    )
    finding = preflight.of_pins(BUTTONS, lambda: "a chip")
    assert finding.level is Level.PROBLEM
    assert finding.text == "not installed, so no button works: lgpio"


def test_a_light_that_is_not_there_or_may_not_be_written(tmp_path: Path) -> None:
    raspberry(tmp_path)
    other, _ = parse('[backlight]\ndevice = "rpi"\n')
    finding = preflight.of_backlight(machine(tmp_path), other)
    assert finding.level is Level.PROBLEM
    assert "there are: 10-0045" in finding.text
    here = machine(tmp_path, access=shut("brightness"))
    assert preflight.of_backlight(here, Settings()).level is Level.WARNING
    none, _ = parse('[backlight]\ndevice = "none"\n')
    assert preflight.of_backlight(here, none).level is Level.OK


def test_silence_is_a_warning_unless_it_is_wanted(tmp_path: Path) -> None:
    here = machine(tmp_path)
    assert preflight.of_sound(here, Settings()).level is Level.WARNING
    silent, _ = parse("[sound]\nvolume = 0\n")
    assert preflight.of_sound(here, silent).level is Level.OK


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.unlink(), "there is no such pool file"),
        (lambda path: os.truncate(path, path.stat().st_size // 2), ""),
        (lambda path: path.write_bytes(b"nonsense"), ""),
    ],
)
def test_a_bad_pool_is_a_problem(
    tmp_path: Path, spoil: Callable[[Path], object], words: str
) -> None:
    pool = shutil.copy(DEFAULT_PATH, tmp_path / "pool")
    assert preflight.of_pool(pool).level is Level.OK
    spoil(pool)
    finding = preflight.of_pool(pool)
    assert finding.level is Level.PROBLEM
    assert str(pool) in finding.text
    assert words in finding.text
    assert "solved on the spot" in finding.text


def test_an_altered_pool_is_told_by_its_digest(tmp_path: Path) -> None:
    pool = shutil.copy(DEFAULT_PATH, tmp_path / "pool")
    db = sqlite3.connect(pool)
    with db:
        db.execute("UPDATE deals SET casual_wins = casual_wins + 1 WHERE number % 100 = 7")
    db.close()
    finding = preflight.of_pool(pool)
    assert finding.level is Level.PROBLEM
    assert "digest is wrong" in finding.text


def test_a_folder_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    finding = preflight.of_storage(tmp_path / "file" / "state", machine(tmp_path))
    assert finding.level is Level.PROBLEM
    assert "cannot be written" in finding.text


@pytest.mark.parametrize(
    ("free", "level"),
    [(4_000_000, Level.PROBLEM), (50_000_000, Level.WARNING), (200_000_000, Level.OK)],
)
def test_a_disk_that_is_full_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, level: Level
) -> None:
    usage = type("usage", (), {"free": free})
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda _path: usage)
    finding = preflight.of_storage(tmp_path, machine(tmp_path))
    assert finding.level is level
    assert f"{free // 1_000_000} MB" in finding.text


def test_a_damaged_state_file_is_told_and_left_alone(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    assert storage.close()
    assert preflight.of_storage(tmp_path, machine(tmp_path)).level is Level.OK
    (tmp_path / FILE_NAME).write_bytes(b"nonsense" * 1000)
    finding = preflight.of_storage(tmp_path, machine(tmp_path))
    assert finding.level is Level.PROBLEM
    assert "sets it aside" in finding.remedy
    assert (tmp_path / FILE_NAME).read_bytes() == b"nonsense" * 1000


def test_a_state_file_of_somebody_else_is_not_said_to_be_set_aside(tmp_path: Path) -> None:
    assert Storage(tmp_path).close()
    finding = preflight.of_storage(tmp_path, machine(tmp_path, access=shut(FILE_NAME)))
    assert finding.level is Level.PROBLEM
    assert "may not be read and written by this user" in finding.text
    assert finding.remedy.startswith("sudo chown ")
    assert str(tmp_path / FILE_NAME) in finding.remedy


def test_a_disk_that_fails_is_not_said_to_have_damaged_the_state_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_path: Path) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(preflight, "examine", fails)
    finding = preflight.of_storage(tmp_path, machine(tmp_path))
    assert finding.level is Level.PROBLEM
    assert os.strerror(errno.EIO) in finding.text
    assert "left as they are" in finding.remedy


def test_what_the_next_start_sets_aside_is_said(tmp_path: Path) -> None:
    folder, newer, short = tmp_path / "folder", tmp_path / "newer", tmp_path / "short"
    pipe = tmp_path / "pipe"
    for state in (folder, newer, short, pipe):
        state.mkdir()
    (folder / FILE_NAME).mkdir()
    os.mkfifo(pipe / FILE_NAME)
    (short / FILE_NAME).write_bytes(b"SQLite")
    assert Storage(newer).close()
    with closing(sqlite3.connect(newer / FILE_NAME)) as db:
        db.execute("PRAGMA user_version = 99")
    for state, why in (
        (folder, "is no file"),
        (pipe, "is no file"),
        (newer, "newer version"),
        (short, "only 6 bytes"),
    ):
        finding = preflight.of_storage(state, machine(tmp_path))
        assert finding.level is Level.PROBLEM
        assert why in finding.text
        assert "sets it aside" in finding.remedy
        storage = Storage(state)
        assert storage.close()
        assert (state / f"{FILE_NAME}.bad-1").exists(), "as it was said"


def test_the_text_has_a_line_each_and_the_sum() -> None:
    findings = [
        Finding("pool", Level.OK, "18,000 deals"),
        Finding("sound", Level.WARNING, "silent", "plug one in"),
        Finding("touch", Level.PROBLEM, "shut", "open it"),
        Finding("pins", Level.PROBLEM, "none"),
    ]
    assert preflight.as_text(findings) == (
        "ok       pool      18,000 deals\n"
        "warning  sound     silent\n"
        "                   -> plug one in\n"
        "problem  touch     shut\n"
        "                   -> open it\n"
        "problem  pins      none\n"
        "2 problems, 1 warning\n"
    )
    document = json.loads(preflight.as_json(findings))
    assert document["ready"] is False
    assert document["findings"][1] == {
        "subject": "sound",
        "level": "warning",
        "text": "silent",
        "remedy": "plug one in",
    }


def test_names_of_programs_that_draw_are_known() -> None:
    assert renderer.is_software(PROGRAM_DRAWS)
    assert renderer.is_software("SWRast")
    assert not renderer.is_software(PI_DRAWS)
    assert not renderer.is_raspberry_pi(Path("/nowhere"))


def test_a_running_kiosk_complains_only_where_a_chip_should_draw() -> None:
    assert "group render" in renderer.complaint(PROGRAM_DRAWS, on_pi=True)
    assert renderer.complaint(PI_DRAWS, on_pi=True) == ""
    assert renderer.complaint(PROGRAM_DRAWS, on_pi=False) == ""


def test_what_draws_is_found_out_without_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("kivy")  # brings what it needs
    monkeypatch.delenv("DISPLAY", raising=False)
    assert renderer.renderer()

    def missing(_name: str) -> None:
        raise OSError("cannot open shared object file")

    monkeypatch.setattr(renderer.ctypes, "CDLL", missing)
    assert renderer.renderer() is None


def test_settings_that_only_the_kiosks_user_may_read_are_not_called_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.toml"
    path.touch()
    problem = f"{path}: cannot be read (Permission denied)"
    monkeypatch.setattr(os, "access", lambda *_args: False)
    (finding,) = preflight.of_settings([problem], path)
    assert finding.level is Level.PROBLEM
    assert "sudo -u pyramid-kiosk" in finding.remedy
    monkeypatch.setattr(os, "access", lambda *_args: True)
    (finding,) = preflight.of_settings([problem], path)
    assert finding.remedy == "put the file right"
    # Nor may anybody look into its folder.
    monkeypatch.setattr(Path, "stat", closed)
    (finding,) = preflight.of_settings([problem], path)
    assert "sudo -u pyramid-kiosk" in finding.remedy


def closed(path: Path, **_options: bool) -> None:
    raise PermissionError(13, "Permission denied", str(path))


def test_what_cannot_be_found_out_is_said_and_the_rest_goes_on(tmp_path: Path) -> None:
    raspberry(tmp_path)

    def broken(path: Path, _mode: int) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    findings = preflight.check(
        machine(tmp_path, access=broken),
        (Settings(), [], None),
        tmp_path / "state",
        find_chip=lambda: "a chip",
    )
    said = {finding.subject: finding for finding in findings}
    assert len(said) == 10
    assert said["touch"].level is Level.PROBLEM
    assert "cannot be found out: [Errno 13] Permission denied" in said["touch"].text
    assert said["storage"].level is Level.OK


def test_no_window_is_opened(tmp_path: Path) -> None:
    program = (
        "import sys; from kiosk.__main__ import main; "
        f"main(['--check', '--state', {str(tmp_path)!r}]); print('kivy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("\nFalse\n")
    assert done.stderr == ""


def test_the_command_ends_with_1_for_a_problem_and_0_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("kivy")
    from kiosk.__main__ import main

    good = write(tmp_path / "good.toml", "[sound]\nvolume = 0\n")
    always = ["--check", "--offscreen", "--state", str(tmp_path), "--settings"]
    assert main([*always, str(good)]) == 0
    assert f"{good}: read, without a mistake" in capsys.readouterr().out
    bad = write(tmp_path / "bad.toml", '[game]\npreset = "golf"\ngrade = 7\n')
    assert main([*always, str(bad), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    problems = [f["text"] for f in said["findings"] if f["level"] == "problem"]
    assert [text.split()[1] for text in problems] == ["game.preset", "game.grade"]
    with pytest.raises(SystemExit) as ended:
        main(["--json"])
    assert ended.value.code == 2
