"""The pages of the service menu: the way in, the list of pages, and what is asked and answered.

Tests are in :mod:`kiosk.service_tests`, settings in :mod:`kiosk.service_settings`, facts in
:mod:`kiosk.service_facts`.

Invariant: a page shows what :class:`~kiosk.service.Service` says and sends commands; it decides
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from kiosk import boxes, service_wording, theme
from kiosk.commands import Close, Command
from kiosk.keypad import BACK, digit_keys
from kiosk.layout import Rect
from kiosk.pin import LONGEST, SHORTEST
from kiosk.service import Service
from kiosk.service_commands import Do, EnterPin, Page, Task, Turn, TypePin
from kiosk.service_facts import ErrorsPage, StatusPage
from kiosk.service_settings import SettingsPage
from kiosk.service_tests import PinsPage, PixelTest, TouchTest
from kiosk.session import Session
from kiosk.sheets import Choice, Dialog, Send, Sheet, Words, header, header_height
from kiosk.texts import Texts
from kiosk.widgets import LINE, Look, Plate, PushButton, Role, TextBox, fit, label_room

#: A button: its label, icon, command, role and whether it can be pressed.
Entry = tuple[str, str | None, Command, Role, bool]


def page(send: Send, look: Look, texts: Texts, session: Session) -> Sheet | None:
    """The open page of the session's service menu."""
    if session.service is None:
        return None
    return _PAGES[session.service.page](send, look, texts, session)


def whole(look: Look) -> Rect:
    """All of the screen but a border: there is more to say here than to visitors."""
    return look.layout.screen.inset(look.unit)


def serviced(session: Session) -> Service:
    """The service menu that is open."""
    assert session.service is not None, "a page is built only while the menu is open"
    return session.service


class PinPage(Sheet):
    """The keys for the PIN."""

    def __init__(self, send: Send, look: Look, texts: Texts, session: Session) -> None:
        super().__init__(look, look.layout.panel)
        self._texts = texts
        room = header(self, send, texts.gettext("Service"))
        unit, palette = look.unit, look.palette
        field_h = round(1.5 * LINE * look.scale.figure)
        said_h = round(2 * LINE * look.scale.body)
        if look.layout.portrait:
            field, said, keys = boxes.rows(
                room, (field_h, said_h, room.h - field_h - said_h - 4 * unit), 2 * unit
            )
        else:
            half = (room.w - 3 * unit) // 2
            left, right = Rect(room.x, room.y, half, room.h), room.right - half
            keys = Rect(right, room.y, half, room.h)
            if look.layout.left_handed:
                keys, left = left, keys
            middle = boxes.centred(left, half, field_h + said_h + 2 * unit)
            field, said = boxes.rows(middle, (field_h, said_h), 2 * unit)
        self.add_widget(Plate(field, theme.with_alpha(palette.recess, 1.0), look.radius))
        self._typed = TextBox(
            boxes.shrunk(field, unit, unit // 2), look.scale.figure, palette.text, wrap=False
        )
        self._said = TextBox(said, look.scale.body, palette.text)
        self._keys = digit_keys(
            look,
            keys,
            lambda key: send(TypePin("" if key == BACK else key)),
            enter=lambda: send(EnterPin()),
        )
        for widget in (self._typed, self._said, *self._keys.values()):
            self.add_widget(widget)
        self.refresh(session)

    def refresh(self, session: Session) -> None:
        """Show a dot for each digit, and whether more can be typed."""
        service, palette = serviced(session), self.look.palette
        count, waits = len(service.typed), service.waits > 0
        self._typed.set_text(" ".join("•" * count) or "\N{EN DASH}")
        self._said.set_text(service_wording.pin_line(self._texts, service))
        self._said.set_colour(palette.danger if waits or service.wrong else palette.text)
        for name, key in self._keys.items():
            usable = {"enter": count >= SHORTEST, BACK: count > 0}.get(name, count < LONGEST)
            key.set_enabled(usable and not waits)


class Home(Sheet):
    """What there is."""

    def __init__(self, send: Send, look: Look, texts: Texts, session: Session) -> None:
        super().__init__(look, whole(look))
        service = serviced(session)
        lead = ""
        if not service.desk.has_pin:
            lead = texts.gettext(
                "No PIN is set: this menu shows, but changes nothing. To set one: pyramid-kiosk pin"
            )
        room = header(self, send, texts.gettext("Service"), lead)
        entries: list[tuple[str, str, Page]] = [
            (texts.gettext("Status"), "info", Page.STATUS),
            (texts.gettext("Last errors"), "warning", Page.ERRORS),
            (texts.gettext("Settings"), "settings", Page.SETTINGS),
            (texts.gettext("Pixel test"), "screen", Page.PIXELS),
            (texts.gettext("Touch test"), "touch", Page.TOUCH),
            (texts.gettext("Buttons and lamps"), "lamp", Page.PINS),
            (texts.gettext("Statistics"), "chart", Page.STATISTICS),
            (texts.gettext("Restart, power off"), "power", Page.POWER),
        ]
        choices: list[Entry] = [
            (text, icon, Turn(wanted), "plain", service.may_open(wanted))
            for text, icon, wanted in entries
        ]
        choices.append((texts.gettext("Back to the game"), "play", Close(), "accent", True))
        put_buttons(self, send, room, choices, across=2 if look.layout.portrait else 3)


def put_buttons(
    sheet: Sheet, send: Send, room: Rect, entries: Sequence[Entry], *, across: int
) -> None:
    """Buttons in a grid from the top of ``room``, labels in one size; the last one may be wider.

    Args:
        sheet: where they go.
        send: carries their commands.
        room: what they may take.
        entries: the buttons.
        across: how many are side by side.
    """
    look = sheet.look
    down = -(-len(entries) // across)
    gap = look.unit
    wanted = max(round(2.2 * look.layout.touch), round(6 * look.scale.button))
    height = min((room.h - (down - 1) * gap) // down, wanted)
    taken = down * height + (down - 1) * gap
    upper = Rect(room.x, room.top - taken, room.w, taken)
    cells = boxes.grid(upper, across, down, gap)[: len(entries)]
    if len(entries) % across:
        last = cells[-1]
        cells[-1] = Rect(last.x, last.y, upper.right - last.x, last.h)
    # A label beside its icon, in up to two lines.
    label = label_room(look, cells[0], look.scale.button)
    size = fit([entry[0] for entry in entries], look.scale.button, label, bold=True).size

    def sender(command: Command) -> Callable[[], object]:
        return lambda: send(command)

    for (text, icon, command, role, enabled), cell in zip(entries, cells, strict=True):
        button = PushButton(look, cell, sender(command), text, icon, role=role, size=size)
        button.set_enabled(enabled)
        sheet.add_widget(button)


class TasksPage(Sheet):
    """A few tasks, what they do, and how the last one went; before that, how things stand."""

    def __init__(
        self,
        send: Send,
        look: Look,
        texts: Texts,
        session: Session,
        *,
        title: str,
        about: str,
        tasks: Sequence[tuple[Task, str, Role]],
        before: str,
    ) -> None:
        said_h = round(3.2 * LINE * look.scale.body)
        buttons_h = max(round(1.3 * look.layout.touch), round(3.6 * look.scale.button))
        across = 1 if look.layout.portrait else len(tasks)
        down = -(-len(tasks) // across)
        block = down * buttons_h + (down - 1) * look.unit
        most = look.layout.panel
        height = header_height(look, most.w, about) + block + said_h + 4 * look.unit
        rect = boxes.centred(look.layout.screen, most.w, min(most.h, height))
        super().__init__(look, rect)
        self._texts = texts
        self._before = before
        service = serviced(session)
        room = header(self, send, title, about)
        upper = Rect(room.x, room.top - block, room.w, block)
        put_buttons(
            self,
            send,
            upper,
            [
                (
                    service_wording.task_name(texts, task),
                    icon,
                    Do(task),
                    role,
                    service.has_time_for(task),
                )
                for task, icon, role in tasks
            ],
            across=across,
        )
        said = Rect(room.x, upper.y - 2 * look.unit - said_h, room.w, said_h)
        self._said = TextBox(said, look.scale.body, look.palette.text, narrowest=0.6)
        self.add_widget(self._said)
        self.refresh(session)

    def refresh(self, session: Session) -> None:
        """Say how the last task went."""
        service, palette = serviced(session), self.look.palette
        self._said.set_text(service_wording.progress(self._texts, service) or self._before)
        report = service.report
        failed = report is not None and not report.done
        done = palette.text_soft if report is None else palette.success
        self._said.set_colour(palette.danger if failed else done)


def _statistics(send: Send, look: Look, texts: Texts, session: Session) -> Sheet:
    return TasksPage(
        send,
        look,
        texts,
        session,
        title=texts.gettext("Statistics"),
        about=texts.ngettext(
            "{n} finished game. Export writes CSV and JSON to a USB stick, if one is plugged in.",
            "{n} finished games. Export writes CSV and JSON to a USB stick, if one is plugged in.",
            session.statistics.all.played,
        ),
        tasks=((Task.EXPORT, "save", "accent"), (Task.RESET, "replay", "plain")),
        before=service_wording.played(texts, session.statistics.all),
    )


def _power(send: Send, look: Look, texts: Texts, session: Session) -> Sheet:
    return TasksPage(
        send,
        look,
        texts,
        session,
        title=texts.gettext("Restart, power off"),
        about=texts.gettext("The game under way is kept."),
        tasks=(
            (Task.RESTART, "replay", "plain"),
            (Task.REBOOT, "redeal", "plain"),
            (Task.POWER_OFF, "power", "plain"),
        ),
        before=service_wording.runs_for(texts, serviced(session).desk.facts()),
    )


def _confirm(send: Send, look: Look, texts: Texts, session: Session) -> Sheet:
    task = serviced(session).asking
    assert task is not None, "the page CONFIRM asks about something"
    title, body = service_wording.question(texts, task)
    return Dialog(
        send,
        look,
        Words(title=title, body=body),
        [
            Choice(texts.gettext("Cancel"), Close(), "close", "accent"),
            Choice(service_wording.task_name(texts, task), Do(task, confirmed=True), role="danger"),
        ],
    )


_PAGES: Final[dict[Page, Callable[[Send, Look, Texts, Session], Sheet]]] = {
    Page.PIN: PinPage,
    Page.HOME: Home,
    Page.STATUS: StatusPage,
    Page.ERRORS: ErrorsPage,
    Page.SETTINGS: SettingsPage,
    Page.PIXELS: PixelTest,
    Page.TOUCH: TouchTest,
    Page.PINS: PinsPage,
    Page.STATISTICS: _statistics,
    Page.POWER: _power,
    Page.CONFIRM: _confirm,
}
