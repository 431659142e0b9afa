"""Notifications to one, two or three lines: one for each sender, the rest counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mtp_cli.engine import AUTO, GREEDY, Drafting, Engine, Sampling
from mtp_cli.events import FinishReason
from mtp_cli.readers.document import Message, chat_text, counted, notification_text, one_line
from mtp_cli.tasks.asking import Asker, Kept, Question
from mtp_cli.tasks.facts import unsupported
from mtp_cli.tasks.job import JobEvent, Part, Plan, Text
from mtp_cli.tasks.keylines import key_sentences
from mtp_cli.tasks.prompts import Prompt
from mtp_cli.tasks.split import beginning
from mtp_cli.tasks.summarize import Summary
from mtp_cli.tasks.summary_prompts import Asks
from mtp_cli.tasks.summary_wish import Length, Wish
from mtp_cli.tasks.wording import shortened, unquoted, word_count

_MOST_LINES = 3
_LINE_WORDS = 20
_MOST_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Group:
    """What one sender has sent through one app."""

    app: str
    sender: str
    messages: tuple[Message, ...]

    @property
    def title(self) -> str:
        """ "Anna (Chat, 3 messages)"."""
        many = len(self.messages)
        aside = [self.app] * bool(self.app and self.sender) + [counted(many, "message")] * (many > 1)
        name = self.sender or self.app
        return f"{name} ({', '.join(aside)})" if name and aside else name or ", ".join(aside)


def groups_of(messages: Sequence[Message]) -> list[Group]:
    """By app and sender, those with the most messages first; what comes twice counts once."""
    found: dict[tuple[str, str], dict[str, Message]] = {}
    for message in messages:
        if message.text.strip():
            found.setdefault((message.app, message.sender), {})[one_line(message.text)] = message
    groups = [Group(app, sender, tuple(said.values())) for (app, sender), said in found.items()]
    return sorted(groups, key=lambda group: -len(group.messages))


class Digester:
    """Digests with one model. Short messages are shown as they are; the model is asked about the others."""

    def __init__(
        self,
        engine: Engine,
        asks: Asks,
        *,
        wish: Wish,
        sampling: Sampling = GREEDY,
        drafting: Drafting = AUTO,
        kept: Kept | None = None,
        listen: Callable[[JobEvent], None] = lambda event: None,
    ) -> None:
        self._engine = engine
        self._asker = Asker(engine, sampling=sampling, drafting=drafting, kept=kept, listen=listen)
        self._prompt = Prompt(engine, asks.whole)
        self._wish = wish
        self._listen = listen

    def prompts(self, messages: Sequence[Message]) -> list[str]:
        """The prompts for the groups that the model is asked about."""
        shown = self._shown(groups_of(messages))
        return [self._prompt.text(chat_text(group.messages)) for group in shown if not self._verbatim(group)]

    def run(self, messages: Sequence[Message]) -> Summary:
        """Text events carry the lines. Raises EngineError, KeyboardInterrupt."""
        groups = groups_of(messages)
        shown = self._shown(groups)
        rest = groups[len(shown) :]
        counts = [self._asker.count(notification_text(group.messages)) for group in groups]
        self._listen(Plan(sum(counts), len(shown)))
        lines: list[str] = []
        gists: list[str] = []
        extracted = asked = 0
        for number, group in enumerate(shown, 1):
            self._listen(Part(number, len(shown), "line"))
            said = self._verbatim(group)
            if not said:
                said, own = self._gist(group)
                asked += 1
                gists.append(said)
                extracted += own
            self._add(lines, f"{group.title}: {said}" if group.title else said)
        if rest:
            names = (f"{group.sender or group.app} ({len(group.messages)})" for group in rest)
            more = sum(len(group.messages) for group in rest)
            self._add(lines, f"{more} more: {', '.join(names)}")
        return Summary(
            "\n".join(lines),
            sum(counts),
            sum(counts[: len(shown)]),
            asked,
            FinishReason.STOP_TEXT,
            tuple(lines),
            extracted,
            unsupported=unsupported("\n".join(gists), notification_text(messages)),
            left_out=(f"the text of {counted(more, 'message')}, which the last line counts",) if rest else (),
        )

    def _add(self, lines: list[str], line: str) -> None:
        self._listen(Text("\n" * bool(lines) + line))
        lines.append(line)

    def _shown(self, groups: list[Group]) -> list[Group]:
        return groups if len(groups) <= _MOST_LINES else groups[: _MOST_LINES - 1]

    @property
    def _most_words(self) -> int:
        words = self._wish.length.words
        return max(6, words // _MOST_LINES) if words else _LINE_WORDS

    def _verbatim(self, group: Group) -> str:
        """The messages themselves where they are short."""
        text = " · ".join(one_line(message.text) for message in group.messages)
        return text if word_count(text) <= self._most_words else ""

    def _gist(self, group: Group) -> tuple[str, bool]:
        """(one sentence, whether it is the messages' own). A sentence with names or numbers that the messages
        do not hold is not taken, nor one that only quotes."""
        text = chat_text(group.messages)
        room = self._engine.n_ctx - self._prompt.overhead - _MOST_TOKENS - 1
        source = beginning(text, room, self._asker.count)
        length = Length("", self._most_words)
        answer = self._asker.ask(self._prompt, Question(source, _MOST_TOKENS, 1, length))
        for sentence in answer.sentences:
            bare = unquoted(sentence.removeprefix(f"{group.sender}: "))
            quotes = bool(group.sender) and f"{group.sender}: " in bare
            if not quotes and bare.count('"') % 2 == 0 and not unsupported(bare, text).count:
                return shortened(bare, length.most), False
        bare = "\n\n".join(one_line(message.text) for message in group.messages)
        found = key_sentences(bare, 1) or [group.messages[-1].text]
        words = found[0].split()
        most = length.most
        return (" ".join(words) if len(words) <= most else " ".join(words[:most]) + " …"), True
