from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hardware.chip import Chip, HardwareError, ask_kernel, find_chip, open_factory, pipe_folder


def machine(root: Path, labels: dict[int, str], *, legacy: bool = False) -> Path:
    """A tree like that of a machine with GPIO chips: number to label."""
    (root / "dev").mkdir()
    devices = root / "sys/bus/gpio/devices"
    devices.mkdir(parents=True)
    for number, label in labels.items():
        (root / f"dev/gpiochip{number}").touch()
        real = root / f"sys/devices/platform/soc/chip{number}/gpiochip{number}"
        real.mkdir(parents=True)
        (devices / f"gpiochip{number}").symlink_to(real)
        if legacy:
            old = root / f"sys/class/gpio/gpiochip{512 + 32 * number}"
            old.mkdir(parents=True)
            (old / "device").symlink_to(real.parent)
            (old / "label").write_text(label + "\n")
    return root


def asking(labels: dict[int, str | OSError]) -> Callable[[Path], str]:
    """What the kernel would answer, by number."""

    def ask(device: Path) -> str:
        answer = labels[int(device.name.removeprefix("gpiochip"))]
        if isinstance(answer, OSError):
            raise answer
        return answer

    return ask


def denied() -> OSError:
    return PermissionError(13, "Permission denied")


PI_5 = {
    0: "pinctrl-rp1",
    10: "gpio-brcmstb@107d508500",
    11: "gpio-brcmstb@107d508520",
    12: "gpio-brcmstb@107d517c00",
}


@pytest.mark.parametrize(
    ("labels", "number"),
    [
        (PI_5, 0),
        ({4: "pinctrl-rp1", 0: "gpio-brcmstb@107d508500"}, 4),
        ({13: "pinctrl-rp1", 0: "gpio-brcmstb@107d508500", 2: "raspberrypi-exp-gpio"}, 13),
        ({0: "pinctrl-bcm2711", 1: "raspberrypi-exp-gpio"}, 0),
        ({1: "pinctrl-bcm2835", 0: "raspberrypi-exp-gpio"}, 1),
        ({0: "INT34C5:00", 3: "gpio-sim.0:node0"}, 3),
        ({0: "gpio-sim.0-node0", 1: "pinctrl-bcm2711"}, 1),
    ],
)
def test_the_chip_of_the_header_is_found_by_its_label(
    tmp_path: Path, labels: dict[int, str], number: int
) -> None:
    chip = find_chip(root=machine(tmp_path, labels), ask=asking(dict(labels)))
    assert chip == Chip(number, labels[number])
    assert chip.is_simulated == labels[number].startswith("gpio-sim")


def test_a_link_to_a_chip_is_not_a_second_one(tmp_path: Path) -> None:
    root = machine(tmp_path, {0: "pinctrl-rp1"})
    (root / "dev/gpiochip4").symlink_to("gpiochip0")
    asked: list[str] = []

    def ask(device: Path) -> str:
        asked.append(device.name)
        return "pinctrl-rp1"

    assert find_chip(root=root, ask=ask).number == 0
    assert asked == ["gpiochip0"]


def test_device_files_suffice_where_sysfs_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/gpiochip7").touch()
    (tmp_path / "dev/gpiochip").touch()
    (tmp_path / "dev/gpiochip7.old").touch()
    assert find_chip(root=tmp_path, ask=asking({7: "pinctrl-bcm2835"})).number == 7


def test_a_machine_without_chips_says_so(tmp_path: Path) -> None:
    with pytest.raises(HardwareError, match="no GPIO chip: this machine has no header"):
        find_chip(root=tmp_path)


def test_chips_that_are_none_of_a_pi_are_named(tmp_path: Path) -> None:
    labels = {0: "INT34C5:00", 2: "ftdi-cbus"}
    with pytest.raises(HardwareError, match=r"INT34C5:00 \(0\), ftdi-cbus \(2\)"):
        find_chip(root=machine(tmp_path, labels), ask=asking(dict(labels)))


@pytest.mark.parametrize("legacy", [False, True])
def test_no_permission_says_which_group(tmp_path: Path, legacy: bool) -> None:
    labels = {0: "raspberrypi-exp-gpio", 4: "pinctrl-rp1"}
    root = machine(tmp_path, labels, legacy=legacy)
    with pytest.raises(HardwareError, match="group gpio") as caught:
        find_chip(root=root, ask=asking({0: denied(), 4: denied()}))
    # Only where sysfs tells the labels is it known which of them it is.
    assert ("gpiochip4 (pinctrl-rp1)" in str(caught.value)) == legacy


def test_permission_for_another_chip_is_not_needed(tmp_path: Path) -> None:
    root = machine(tmp_path, {0: "raspberrypi-exp-gpio", 4: "pinctrl-rp1"})
    assert find_chip(root=root, ask=asking({0: denied(), 4: "pinctrl-rp1"})).number == 4


def test_a_label_file_beside_the_device_is_believed(tmp_path: Path) -> None:
    root = machine(tmp_path, {0: "x", 1: "y"})
    (root / "sys/bus/gpio/devices/gpiochip1/label").write_text("pinctrl-bcm2711\n")
    with pytest.raises(HardwareError, match=r"gpiochip1 \(pinctrl-bcm2711\)"):
        find_chip(root=root, ask=asking({0: denied(), 1: denied()}))


def test_a_device_that_went_away_is_said(tmp_path: Path) -> None:
    root = machine(tmp_path, {0: "pinctrl-rp1"}, legacy=True)
    with pytest.raises(HardwareError, match="No such device"):
        find_chip(root=root, ask=asking({0: OSError(19, "No such device")}))


def test_the_kernel_says_of_another_device_that_it_is_no_chip(tmp_path: Path) -> None:
    file = tmp_path / "gpiochip0"
    file.touch()
    with pytest.raises(OSError, match="Inappropriate ioctl"):
        ask_kernel(file)
    with pytest.raises(FileNotFoundError):
        ask_kernel(tmp_path / "gpiochip1")


# --- The library ---------------------------------------------------------------------------------


def test_the_pipe_goes_where_only_the_service_writes(tmp_path: Path) -> None:
    given, runtime = tmp_path / "given", tmp_path / "runtime"
    given.mkdir()
    runtime.mkdir()
    environment = {"LG_WD": str(given), "RUNTIME_DIRECTORY": f"{runtime}:/elsewhere"}
    assert pipe_folder(environment) == given
    del environment["LG_WD"]
    assert pipe_folder(environment) == runtime
    assert pipe_folder({"XDG_RUNTIME_DIR": str(runtime)}) == runtime
    assert pipe_folder({"LG_WD": "/nowhere", "XDG_RUNTIME_DIR": str(runtime)}) == runtime


def test_no_folder_for_the_pipe_is_said_before_the_library_fails_strangely() -> None:
    with pytest.raises(HardwareError, match="set LG_WD"):
        pipe_folder({})
    with pytest.raises(HardwareError, match="LG_WD=/nowhere cannot be written"):
        pipe_folder({"LG_WD": "/nowhere", "HOME": "/"})


class FakeFactory:
    """Stands in for gpiozero's LGPIOFactory."""

    def __init__(self, chip: int) -> None:
        self.chip = chip

    def _get_revision(self) -> int:
        raise LookupError("this is no Pi")


def opened(tmp_path: Path, label: str, load: Callable[[], Any] = lambda: FakeFactory) -> Any:
    root = tmp_path / "root"
    root.mkdir()
    return open_factory(root=machine(root, {5: label}), ask=asking({5: label}), load=load)


def test_the_factory_is_opened_on_the_chip_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LG_WD", str(tmp_path))
    assert opened(tmp_path, "pinctrl-rp1").chip == 5


def test_simulated_lines_pass_for_a_pi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpiozero import PiBoardInfo

    monkeypatch.setenv("LG_WD", str(tmp_path))
    factory = opened(tmp_path, "gpio-sim.0-node0")
    board = PiBoardInfo.from_revision(factory._get_revision())
    assert "J8" in board.headers


def test_the_library_may_change_folders_and_we_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pipe").mkdir()
    monkeypatch.setenv("LG_WD", "")
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path / "pipe"))
    monkeypatch.chdir(tmp_path)

    def load() -> type[FakeFactory]:
        os.chdir(os.environ["LG_WD"])
        assert Path.cwd() == tmp_path / "pipe"
        return FakeFactory

    opened(tmp_path, "pinctrl-rp1", load)
    assert Path.cwd() == tmp_path


@pytest.mark.parametrize("error", [ModuleNotFoundError("No module named 'lgpio'"), OSError("x")])
def test_a_library_that_cannot_be_used_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setenv("LG_WD", str(tmp_path))
    before = Path.cwd()

    def load() -> Any:
        raise error

    with pytest.raises(HardwareError, match="lgpio cannot be used") as caught:
        opened(tmp_path, "pinctrl-rp1", load)
    assert str(error) in str(caught.value)
    assert Path.cwd() == before


def test_a_chip_that_cannot_be_opened_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LG_WD", str(tmp_path))

    class Failing(FakeFactory):
        def __init__(self, chip: int) -> None:
            raise RuntimeError("can not open gpiochip")

    with pytest.raises(HardwareError, match=r"gpiochip5 \(pinctrl-rp1\).*can not open"):
        opened(tmp_path, "pinctrl-rp1", lambda: Failing)
