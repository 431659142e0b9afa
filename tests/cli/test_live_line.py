"""The live line: one line, narrow enough, and it never damages the text above it."""

from __future__ import annotations

import io

import pytest

from mtp_cli.events import DraftCounts, EndEvent, FinishReason, PrefillEvent, StepEvent
from mtp_cli.meters.energy import EnergyMeter
from mtp_cli.meters.estimate import constants_for
from mtp_cli.meters.time import RunMeter
from mtp_cli.tasks.job import Part, Plan, Reading
from mtp_cli.view.live import LiveLine
from mtp_cli.view.progress import Progress
from mtp_cli.view.terminal import char_width, fit, use_colour
from mtp_cli.view.timing import duration
from mtp_cli.work import Work


class Terminal(io.StringIO):
    """A small terminal: cursor movement as the live line uses it, on a screen of fixed size."""

    def __init__(self, width: int = 40, height: int = 6) -> None:
        super().__init__()
        self.width, self.height = width, height
        self.rows = [""] * height
        self.row = self.column = 0
        self.saved = (0, 0)
        self.longest = 0

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                at = self._escape(text, at + 1)
            else:
                self._char(text[at])
                at += 1
        return len(text)

    def _escape(self, text: str, at: int) -> int:
        if text[at] == "[":
            end = at + 1
            while not text[end].isalpha():
                end += 1
            code, at = text[at + 1 : end + 1], end + 1
        else:
            code, at = text[at], at + 1
        if code == "D":
            self._down()
        elif code == "A":
            self.row -= 1
        elif code == "B":
            self.row = min(self.row + 1, self.height - 1)
        elif code == "7":
            self.saved = (self.row, self.column)
        elif code == "8":
            self.row, self.column = self.saved
        elif code in ("K", "J"):
            self.rows[self.row] = self.rows[self.row][: self.column]
            if code == "J":
                self.rows[self.row + 1 :] = [""] * (self.height - self.row - 1)
        else:
            assert code.endswith("m"), code
        return at

    def _down(self) -> None:
        if self.row == self.height - 1:
            self.rows = [*self.rows[1:], ""]
        else:
            self.row += 1

    def _char(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self._down()
            self.column = 0
        else:
            if self.column == self.width:
                self._down()
                self.column = 0
            row = self.rows[self.row].ljust(self.column)
            self.rows[self.row] = row[: self.column] + char + row[self.column + 1 :]
            self.column += 1

    @property
    def shown(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows).rstrip()


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")


def test_the_longest_variant_that_fits_is_drawn_and_cleared() -> None:
    screen = Terminal()
    line = LiveLine(screen)
    line.show(["x" * 40, "y" * 39, "z"])
    assert screen.shown == "y" * 39
    line.show(["w" * 60])
    assert screen.shown == "w" * 38 + "…"
    line.clear()
    assert screen.shown == ""


@pytest.mark.parametrize("height", [3, 6])
@pytest.mark.parametrize("size", [1, 3, 7])
def test_text_on_the_same_terminal_stays_whole(height: int, size: int) -> None:
    """The text is longer than the screen, wraps and has line breaks; the line is drawn after each piece."""
    text = "".join(f"word{n} and some more.{chr(10) if n % 4 == 3 else ' '}" for n in range(12))
    plain, screen = Terminal(height=height), Terminal(height=height)
    plain.write(text)
    line = LiveLine(screen, below=True)
    line.show(["reading"])
    for at in range(0, len(text), size):
        piece = text[at : at + size]
        line.before_text(piece)
        screen.write(piece)
        line.after_text(piece)
        line.show([f"writing {at} tokens"])
    seen = screen.shown.splitlines()
    assert any("writing" in row for row in seen[-2:])
    line.clear()
    screen.write("\n")
    line.after_text("\n")  # the end of the result: nothing may come back
    assert "writing" not in screen.shown
    lines = plain.shown.splitlines()
    assert (
        screen.shown.splitlines()[-(height - 1) :]
        == lines[-len(screen.shown.splitlines()[-(height - 1) :]) :]
    )


def test_after_a_character_of_unknown_width_the_line_stays_away_until_the_next_line() -> None:
    screen = Terminal()
    line = LiveLine(screen, below=True)
    for piece in ("ab", "🦙", "cd"):
        line.before_text(piece)
        screen.write(piece)
        line.after_text(piece)
        line.show(["status"])
    assert screen.shown == "ab🦙cd"
    line.before_text("\nef")
    screen.write("\nef")
    line.after_text("\nef")
    line.show(["status"])
    assert screen.shown == "ab🦙cd\nef\nstatus"


@pytest.mark.parametrize("width", [20, 40, 80])
def test_every_stage_fits(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    screen, meter = Terminal(width), RunMeter()
    progress = Progress(meter, quiet=False, colour="auto", streaming=False, stream=screen)
    monkeypatch.setattr("mtp_cli.view.live._INTERVAL", -1)
    progress.loading(62, 100)
    assert screen.shown == "loading 62 %"
    progress.hear(Part(3, 12, "part"))
    progress.hear(Reading(412, 1830))
    assert screen.shown.startswith("reading part 3/12"[: width - 2])
    for event in (PrefillEvent(1830, 0, 2.0), StepEvent(5, "a", "backbone", 1, 0.1)):
        meter.feed(event)
        progress.hear(event)
    assert len(screen.shown) < width
    assert "\n" not in screen.shown
    if width >= 40:
        assert "10.0 tok/s" in screen.shown
    progress.clear()
    assert screen.shown == ""


@pytest.mark.parametrize(
    ("width", "shown"), [(40, "part 3/46  8 min left"), (80, "reading part 3/46 1,412/2,048 tokens")]
)
def test_time_left_is_shown_at_any_width(width: int, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 1000, 5))
    monkeypatch.setattr("mtp_cli.meters.remaining.clock", lambda: float(next(now)))
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("mtp_cli.view.live._INTERVAL", -1)
    screen = Terminal(width)
    progress = Progress(RunMeter(), quiet=False, colour="auto", streaming=False, stream=screen)
    progress.hear(Plan(92330, 46))
    for number, done in ((1, 0.0), (2, 0.02), (3, 0.04)):
        progress.hear(Part(number, 46, "part", done))
    progress.hear(Reading(1412, 2048))
    assert screen.shown.startswith(shown)
    assert "8 min left" in screen.shown


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_no_live_line_on_a_dumb_terminal(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", term)
    screen = Terminal()
    progress = Progress(RunMeter(), quiet=False, colour="auto", streaming=False, stream=screen)
    progress.loading(1, 2)
    progress.note("hello")
    assert screen.shown == "mtp: hello"


def test_quiet_and_pipes_have_no_live_line() -> None:
    for stream, quiet in ((Terminal(), True), (io.StringIO(), False)):
        progress = Progress(RunMeter(), quiet=quiet, colour="always", streaming=False, stream=stream)
        progress.loading(1, 2)
        assert (stream.shown if isinstance(stream, Terminal) else stream.getvalue()) == ""


def test_colour_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    assert use_colour("auto", screen)
    assert not use_colour("never", screen)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not use_colour("auto", screen)
    assert use_colour("always", io.StringIO())


def test_widths() -> None:
    assert [char_width(char) for char in "aé中\u0301🦙\n"] == [1, 1, 2, None, None, None]
    assert fit("abcdef", 4) == "abc…"
    assert fit("abc", 0) == ""


def test_meter_adds_up_calls() -> None:
    meter = RunMeter()
    for _ in range(2):
        meter.feed(PrefillEvent(100, 60, 0.5))
        meter.feed(StepEvent(1, "a", "backbone", 0, 0.0))
        meter.feed(StepEvent(2, "b", "backbone", 1, 0.1))
        assert meter.tokens_so_far % 2 == 0
        meter.feed(EndEvent(FinishReason.END_TOKEN, "", 2, 2, 0, 0, 0.2))
    assert (meter.prompt_tokens, meter.reused_tokens, meter.generated_tokens) == (80, 120, 4)
    assert meter.prompt_rate == pytest.approx(80)
    assert meter.decode_rate == pytest.approx(10)
    assert RunMeter().decode_rate is None


@pytest.mark.parametrize(("seconds", "text"), [(0.0171, "17.1ms"), (1.5, "1.50s"), (75, "1m15.0s")])
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("width", "shows"),
    [
        (20, ["writing 7"]),
        (40, ["writing 7", "70.0 tok/s", "75% 3.5/pass"]),
        (100, ["writing 7 tokens", "70.0 tok/s", "75% of drafts  3.5 tok/pass", "MB"]),
    ],
)
def test_the_line_tells_acceptance_and_tokens_per_pass(
    width: int, shows: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("mtp_cli.view.live._INTERVAL", -1)
    screen, meter = Terminal(width), RunMeter()
    progress = Progress(meter, quiet=False, colour="auto", streaming=False, stream=screen)
    for number in range(7):
        event = StepEvent(5, "a", "copy" if number else "backbone", (number + 2) // 3, 0.1, 8, 6)
        meter.feed(event)
        progress.hear(event)
    assert all(words in screen.shown for words in shows), screen.shown
    meter.feed(EndEvent(FinishReason.END_TOKEN, "", 7, 2, 8, 6, 0.1, {}, {"copy": DraftCounts(8, 6)}))
    assert meter.acceptance == 0.75
    assert meter.tokens_per_pass == 3.5


def test_ratios_of_nothing_are_none() -> None:
    meter = RunMeter()
    assert meter.acceptance is None
    assert meter.tokens_per_pass is None


@pytest.mark.parametrize(("width", "shown"), [(120, True), (60, False)])
def test_the_line_tells_joules_where_there_is_room(
    width: int, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("mtp_cli.view.live._INTERVAL", -1)
    done = [Work()]
    screen = Terminal(width)
    meter = RunMeter(energy=EnergyMeter(None, lambda: done[0], constants=constants_for("x86_64")))
    progress = Progress(meter, quiet=False, colour="auto", streaming=False, stream=screen)
    meter.prompt_begins()
    done[0] = Work(core_seconds=2.0)
    for number in range(1, 5):
        event = StepEvent(5, "a", "backbone", number, 0.1 * number, 8, 6)
        meter.feed(event)
        progress.hear(event)
    assert ("about 2 J/tok" in screen.shown) == shown, screen.shown
    assert "10.0 tok/s" in screen.shown
