"""Where things are: the operator's file, the state folder, the runtime folder.

Invariant: what the command line names comes first, then what systemd says, then what an ordinary
user has; nothing is made here, and nothing is written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import platformdirs

NAME: Final = "pyramid-kiosk"
SYSTEM_SETTINGS: Final = Path("/etc") / NAME / "settings.toml"
#: Where the installer puts the program.
INSTALLED: Final = Path("/opt") / NAME
#: Where the kiosk that systemd starts keeps everything.
SYSTEM_STATE: Final = Path("/var/lib") / NAME
#: The file that is shipped: every setting, each with its default.
SHIPPED_SETTINGS: Final = Path(__file__).parent / "data" / "settings.toml"


def command(module: Path = Path(__file__)) -> str:
    """What is typed to call this program: an installed one has a command of its own.

    Args:
        module: a file of the program.
    """
    installed = getattr(sys, "frozen", False) or module.is_relative_to(INSTALLED)
    return NAME if installed else "python -m kiosk"


def settings_file(given: Path | None) -> Path | None:
    """The operator's file: the one given, the system's, the user's, or None where there is none."""
    if given is not None:
        return given
    user = platformdirs.user_config_path(NAME) / "settings.toml"
    return next((path for path in (SYSTEM_SETTINGS, user) if _is_there(path)), None)


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # What lies in a closed folder is not to be known.  The system's file is meant for us, so
        # that whoever reads it says what is wrong; another user's home is none of our business.
        return path == SYSTEM_SETTINGS
    return True


def state_folder(given: Path | None, environ: Mapping[str, str] = os.environ) -> Path:
    """Where the running game and the results are kept."""
    if given is not None:
        return given
    if from_systemd := environ.get("STATE_DIRECTORY"):
        return Path(from_systemd.split(":")[0])
    return platformdirs.user_state_path(NAME)


def service_state(given: Path | None, environ: Mapping[str, str] = os.environ) -> Path:
    """The state folder of the kiosk that somebody asks about from outside of it.

    Where a service is installed, its folder is meant rather than one of whoever asks.
    """
    if given is None and "STATE_DIRECTORY" not in environ and SYSTEM_STATE.is_dir():
        return SYSTEM_STATE
    return state_folder(given, environ)


def runtime_folder(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The folder that systemd made for this run and removes after it; None without systemd."""
    given = environ.get("RUNTIME_DIRECTORY", "").split(":")[0]
    return Path(given) if given else None
