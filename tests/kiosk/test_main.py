"""The program as it is started: exit codes, messages, the demo, the end."""

from __future__ import annotations

import json
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.position import Outcome
from kiosk.__main__ import Stopper, main
from kiosk.session import Session
from kiosk.sessiontypes import SessionOptions
from kiosk.storage import Storage
from tests.kiosk.fakes import FakeAdviser, FakeDealer
from tests.kiosk.program import PLAIN, ROOT, started

pytest.importorskip("kivy")


def kiosk(*arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kiosk", *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=PLAIN,
        cwd=ROOT,
        check=False,
    )


def png_size(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def test_without_a_display_it_says_what_to_do_and_ends(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    assert main([]) == 2
    assert "SDL_VIDEODRIVER" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--demo", "--shots", "shots"]])
def test_where_nothing_can_be_drawn_it_says_so_and_ends(
    arguments: list[str], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "kiosk", "--offscreen", "--size", "320x240", *arguments]
    state = tmp_path / "state"
    done = subprocess.run(
        [*command, "--state", state],
        capture_output=True,
        text=True,
        timeout=120,
        env=PLAIN | {"SDL_VIDEO_EGL_DRIVER": str(tmp_path / "libnowhere.so")},
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "Nothing can be drawn on the screen" in done.stderr
    assert "X server" not in done.stderr
    assert not state.exists(), "nothing was begun that would have to be ended"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--size", "big"], "write it like 1280x720"),
        (["--size", "10x10"], "320x240"),
        (["--preset", "golf"], "three-pass"),
        (["--language", "xx"], "fr"),
        (["--frobnicate"], "--frobnicate"),
    ],
)
def test_a_bad_command_line_ends_with_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(("size", "preset"), [("800x480", "three-pass"), ("720x1280", "cards4")])
def test_the_demo_plays_a_game_and_takes_pictures(tmp_path: Path, size: str, preset: str) -> None:
    done = kiosk(
        "--offscreen", "--size", size, "--demo", "--shots", str(tmp_path), "--preset", preset
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["won"] is True
    assert summary["preset"] == preset
    assert 28 / 2 <= summary["moves"] < 200
    assert summary["frames"] > summary["moves"]
    assert len(summary["pictures"]) == 3
    pictures = [Path(name) for name in summary["pictures"]]
    assert all("x".join(map(str, png_size(picture))) == size for picture in pictures)
    assert len({picture.read_bytes() for picture in pictures}) == 3


def test_a_game_goes_on_through_a_bad_settings_file_and_a_stop(tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text('[game]\npreset = "golf"\n')
    state = tmp_path / "state"
    storage = Storage(state)
    session = Session(FakeDealer(), FakeAdviser(), SessionOptions(start_in_attract=False), now=0.0)
    storage.save(session.saved())
    assert storage.close()
    options = ("--size", "800x480", "--state", state, "--settings", settings)
    with started(*options) as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if "main loop" in line:
                break
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        said += process.stderr.readlines()
        assert process.wait(30) == 0, said
    assert any("game.preset" in line and "three-pass" in line for line in said)
    assert not any("Traceback" in line for line in said), said
    again = Storage(state)
    assert again.saved is not None
    assert again.problems == []
    restored = Session(FakeDealer(), FakeAdviser(), SessionOptions(), now=0.0, saved=again.saved)
    assert restored.position.outcome is Outcome.RUNNING
    assert restored.number == session.number


def test_a_save_that_is_no_game_is_set_aside_and_the_kiosk_starts(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    session = Session(FakeDealer(), FakeAdviser(), SessionOptions(start_in_attract=False), now=0.0)
    saved = session.saved()
    storage.save(type(saved)(**{**vars(saved), "game": "{}"}))
    assert storage.close()
    with started("--state", tmp_path) as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if "main loop" in line:
                break
        process.send_signal(signal.SIGINT)
        said += process.stderr.readlines()
        assert process.wait(30) == 0
    assert any("saved game is set aside" in line for line in said)


class FakeApp:
    """An application that ends when it is told to."""

    def __init__(self) -> None:
        self.stops = 0

    def bind(self, **_events: object) -> None:
        """Nothing begins."""

    def run(self) -> None:
        signal.raise_signal(signal.SIGTERM)

    def stop(self) -> None:
        self.stops += 1


def test_whoever_asks_for_the_end_again_does_not_disturb_it() -> None:
    app = FakeApp()
    stopper = Stopper()
    stopper.listen()
    stopper.run(app)
    assert app.stops == 1
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.raise_signal(number)
    assert app.stops == 1


def test_a_stop_during_the_start_ends_it_too(tmp_path: Path) -> None:
    for tenth in range(1, 10):
        with started("--state", tmp_path) as process:
            time.sleep(tenth / 10)
            process.send_signal(signal.SIGTERM)
            assert process.stderr is not None
            said = process.stderr.read()
            # Before Python itself is ready a signal ends the process by itself.
            assert process.wait(30) in {0, -signal.SIGTERM}
        assert "Traceback" not in said


def closed(*options: str | Path, streams: str) -> list[str]:
    """A command that starts the kiosk with some of its streams closed."""
    return [
        "/bin/sh",
        "-c",
        f'exec "$@" {streams}',
        "sh",
        sys.executable,
        "-m",
        "kiosk",
        *map(str, options),
    ]


@pytest.mark.parametrize("streams", ["<&-", "2>&-", "<&- >&- 2>&-"])
def test_the_kiosk_runs_with_streams_that_are_closed(tmp_path: Path, streams: str) -> None:
    command = closed("--offscreen", "--size", "320x240", "--state", tmp_path, streams=streams)
    # What it tells of itself is written as soon as it runs.
    figures = tmp_path / "pyramid-kiosk.prom"
    env = PLAIN | {"RUNTIME_DIRECTORY": str(tmp_path)}
    with subprocess.Popen(command, env=env, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        while not figures.exists() and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert figures.exists()
    storage = Storage(tmp_path)
    assert storage.saved is not None
    assert storage.close()


@pytest.mark.parametrize("streams", [">&-", "<&- >&-"])
def test_what_only_prints_needs_nobody_to_print_to(tmp_path: Path, streams: str) -> None:
    for options in (("settings",), ("--check", "--offscreen", "--state", tmp_path)):
        command = closed(*options, streams=streams)
        done = subprocess.run(
            command, env=PLAIN, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False
        )
        assert done.stderr == ""
        assert done.returncode == 0


def test_a_folder_for_pictures_that_cannot_be_made_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SystemExit) as ended:
        main(["--demo", "--offscreen", "--shots", str(tmp_path / "file" / "shots")])
    assert ended.value.code == 2
    assert "cannot be made" in capsys.readouterr().err


def test_the_gallery_takes_what_is_asked_for(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "kiosk.gallery", "--out", str(tmp_path)),
            *("--sizes", "800x480", "--languages", "fr", "--scenes", "stuck", "cannot-win", "won"),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        env=PLAIN,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in (tmp_path / "800x480").iterdir())
    assert names == ["cannot-win-fr.png", "stuck-fr.png", "won-fr.png"]


def test_the_bench_measures_moving_cards_and_an_empty_window() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kiosk.bench", "--size", "320x240"],
        capture_output=True,
        text=True,
        timeout=120,
        env=PLAIN,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["every_card_ms"] > figures["empty_ms"] > 0
    assert figures["ratio"] == pytest.approx(
        figures["every_card_ms"] / figures["empty_ms"], abs=0.1
    )
