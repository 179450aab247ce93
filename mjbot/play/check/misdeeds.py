"""Games in which one of four clients does what it should not, and what must not come of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from mjbot.play.check.four_clients import ClientReport, Decide, Deed, Spell
from mjbot.protocol.messages import Dahai, Event, Hora, PlayerAction, Reach, Skip, Tsumo

CULPRIT: Final = 1
"""Which client misbehaves."""

Act = Callable[[Tsumo, Spell], PlayerAction | tuple[bytes, ...] | Deed]


@dataclass(frozen=True)
class Misdeed:
    """What a client does at an own draw, and the check that it is for.

    ``problem(culprit, other)`` describes what is wrong with the lines that another client received.
    """

    id: str
    name: str
    act: Act
    problem: Callable[[ClientReport, ClientReport], str] = lambda culprit, other: ""
    turn: int = 1

    def decider(self) -> Decide:
        """Return a new client's behaviour."""
        turns = 0

        def decide(
            event: Event, legal: list[PlayerAction], spell: Spell
        ) -> PlayerAction | tuple[bytes, ...] | Deed:
            nonlocal turns
            if isinstance(event, Tsumo) and event.pai != "?" and legal:
                turns += 1
                if turns == self.turn:
                    return self.act(event, spell)
            return _usual(event, legal)

        return decide


def _usual(event: Event, legal: list[PlayerAction]) -> PlayerAction:
    for action in legal:
        if isinstance(action, Dahai):
            return next((one for one in legal if isinstance(one, Dahai) and one.tsumogiri), action)
    return Skip()


def odd_speller() -> Decide:
    """Encodes a reply as legal but unusual JSON."""

    def decide(event: Event, legal: list[PlayerAction], spell: Spell) -> tuple[bytes, ...]:
        line: bytes = spell(_usual(event, legal))
        oddly = line.replace(b'":', b'" : ').replace(b'"type"', b'"\\u0074ype"')
        return (b" " + oddly + b" \r",)

    return decide


def _win(event: Tsumo, spell: Spell) -> PlayerAction:
    return Hora(actor=event.actor, target=event.actor, pai=event.pai)


def _riichi(event: Tsumo, spell: Spell) -> PlayerAction:
    return Reach(actor=event.actor)


def _twice(event: Tsumo, spell: Spell) -> tuple[bytes, ...]:
    line = spell(_drawn(event))
    return line, line


def _old_then_right(event: Tsumo, spell: Spell) -> tuple[bytes, ...]:
    """Answer the request before this one by a riichi, then this one."""
    return spell(Reach(actor=event.actor), age=1), spell(_drawn(event))


def _drawn(event: Tsumo) -> Dahai:
    return Dahai(actor=event.actor, pai=event.pai, tsumogiri=True)


def _always(deed: Deed) -> Act:
    return lambda event, spell: deed


# --- what must not come of it ----------------------------------------------------------------


def _events_of(kind: type[Event], seat: int, events: Sequence[Event]) -> bool:
    return any(isinstance(one, kind) and getattr(one, "actor", None) == seat for one in events)


def _carried_out(kind: type[Event]) -> Callable[[ClientReport, ClientReport], str]:
    def problem(culprit: ClientReport, other: ClientReport) -> str:
        return "it was carried out" if _events_of(kind, culprit.seat, other.events) else ""

    return problem


def _another_named(culprit: ClientReport, other: ClientReport) -> str:
    names = "player " in other.error and f"player {culprit.seat}'s" not in other.error
    return f"another is blamed: {other.error}" if names else ""


def _either(
    *problems: Callable[[ClientReport, ClientReport], str],
) -> Callable[[ClientReport, ClientReport], str]:
    def problem(culprit: ClientReport, other: ClientReport) -> str:
        return next((text for one in problems if (text := one(culprit, other))), "")

    return problem


def _no_end(culprit: ClientReport, other: ClientReport) -> str:
    """Return what is wrong where the game had to continue undisturbed."""
    return "" if other.ended else f"the game does not continue: {other.error or 'it just ends'}"


MISDEEDS: Final = (
    Misdeed("S08", "a win without a hand", _win, _either(_carried_out(Hora), _another_named)),
    Misdeed("S09", "a riichi without tenpai", _riichi, _carried_out(Reach)),
    Misdeed("S13", "a client sends nothing", _always(Deed.KEEPS_SILENT), _another_named),
    Misdeed("S14", "a client resets its line", _always(Deed.RESETS), _another_named),
    Misdeed("S16", "two lines for one", _twice, _another_named),
    Misdeed("S17", "a reply to an older request", _old_then_right,
            _either(_carried_out(Reach), _no_end), turn=2),
    Misdeed("S18", "a client closes its line", _always(Deed.CLOSES), _another_named),
)  # fmt: skip
