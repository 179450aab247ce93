"""A game in the form of the page: one board per kyoku, folded by the table, and its changes.

The page receives, in this order::

    {"type": "game", "names": [...], "pairs": {"0": 2, ...}}
    {"type": "kyoku", "n": 2, "board": {...}}
    {"type": "step", "n": 3, "by": 0, "kind": "tsumo", "text": "draws 3p", "change": {...},
     "choices": {"0": 1}, "did": {"0": "discard 3p"}, "feed": "", "talk": [[1, "..."]]}

``n`` is the number of the event in its game, from 1, ``start_game`` being the first; a step's
``change`` is that of :func:`mjbot.viewer.drawing.board_data.difference`.  ``choices`` has the seats
with a choice after the event and that choice's number in the kyoku, ``did`` the recorded actions;
both only of the seats whose hands are shown.  So is ``talk``, the remarks of players on the event:
it may reveal their hands, and a pair's shared hands.  ``feed`` describes a feed of one of a pair to
the other: from its own remark, or as seen at the table.  Empty fields are left out.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from mjbot.game.records.choices import Numbering, ReplayStep
from mjbot.game.records.game import Talk
from mjbot.game.table.settle import ranks_of
from mjbot.game.table.state import State
from mjbot.game.table.view import View
from mjbot.protocol import messages as m
from mjbot.protocol.messages import wire_name
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import RANKED
from mjbot.protocol.seats import players_after
from mjbot.protocol.tiles import TILE_BY_NAME, WIND_NAMES
from mjbot.runtime.languages import translate
from mjbot.strategy.pair.remarks import PairRemark, parse_remark
from mjbot.viewer import descriptions
from mjbot.viewer.drawing.board_data import Board, board_of, board_title, difference

ALL_SEATS: Final = frozenset(range(4))
NO_NAMES: Final = ("East 1", "South 1", "West 1", "North 1")
"""What players without a name are called: by their seats at the start."""

MOST_LETTERS: Final = 60
"""Of a name; what cannot be seen is written out before."""

PageMessage = dict[str, Any]


class Fold:
    """Turns the steps of a game into the messages of the page.

    ``seen`` are the seats whose hands are open all the time; the hands of others appear only where
    all players see them.
    """

    def __init__(self, seen: Collection[int] = ALL_SEATS) -> None:
        self._seen: Final = frozenset(seen)
        self._names: Sequence[str] = NO_NAMES
        self._called: Sequence[str] = NO_NAMES
        self._pairs: dict[int, int] = {}
        self._claims: dict[int, int | None] = {}
        self._shown: set[int] = set()
        self._added: list[tuple[int, int]] = []
        self._result: dict[str, Any] | None = None
        self._board: Board | None = None
        self._scores = [0, 0, 0, 0]
        self._numbering = Numbering()

    def add(self, step: ReplayStep, talk: Talk = ()) -> Iterator[PageMessage]:
        """Yield the page's messages of a step; before the first kyoku only those of the game."""
        event, state = step.event, step.table.state
        choosers = self._numbering.choosers(step)
        if isinstance(event, m.StartGame):
            yield self._begin(event)
        elif isinstance(event, m.StartKyoku):
            self._shown, self._added, self._result = set(), [], None
            view = View(state, 0)
            self._names = self._names[: view.players]
            self._called = _unique_names(self._names, view)
            self._board = self._fold(state)
            title = board_title(self._board, self._names)
            yield {"type": "kyoku", "n": step.number, "board": self._board, "title": title}
        elif self._board is not None:
            yield self._step(step, choosers, talk)
        self._scores = state["scores"].tolist()

    def _begin(self, event: m.StartGame) -> PageMessage:
        names = tuple([one_line(name, MOST_LETTERS) for name in event.names or ()])
        players = players_after(event, RANKED.players)
        self._names = (*names, *NO_NAMES[len(names) :])[:players]
        self._pairs, self._claims = descriptions.pairs_of(self._names), {}
        self._board = None
        pairs = {str(seat): ally for seat, ally in self._pairs.items()}
        return {"type": "game", "names": list(self._names), "pairs": pairs}

    def _step(self, step: ReplayStep, choosers: dict[int, int], talk: Talk) -> PageMessage:
        event, state = step.event, step.table.state
        self._shown.update(descriptions.revealed(event))
        if isinstance(event, m.Kakan):
            self._added.append((event.actor, TILE_BY_NAME[event.pai]))
        self._settle(event, state)
        before, self._board = self._board, self._fold(state)
        actor = getattr(event, "actor", None)
        talk = [(seat, text) for seat, text in talk if seat in self._seen]
        remarks = {seat: remark for seat, text in talk if (remark := parse_remark(text))}
        self._pair_up(remarks)
        message = {
            "choices": {str(seat): n for seat, n in choosers.items() if seat in self._seen},
            "did": self._recorded(step, choosers),
            "feed": translate("; ").join([*self._fed(remarks), *self._given(event)]),
            "talk": [
                [seat, remarks[seat].parts() if seat in remarks else one_line(text)]
                for seat, text in talk
            ],
        }
        return {
            "type": "step",
            "n": step.number,
            "by": -1 if actor is None else actor,
            "kind": wire_name(event),
            "text": descriptions.event_text(event, self._called, actor in self._seen),
            "change": difference(before, self._board),
            **{key: value for key, value in message.items() if value},
        }

    def _pair_up(self, remarks: Mapping[int, PairRemark]) -> None:
        """Treat players that name each other as allies as a pair, whatever their names."""
        for seat, remark in remarks.items():
            ally = self._claims[seat] = remark.ally
            if ally is not None and ally != seat and self._claims.get(ally) == seat:
                self._pairs |= {seat: ally, ally: seat}

    def _fed(self, remarks: Mapping[int, PairRemark]) -> Iterator[str]:
        """Yield the feeds in remarks, as text."""
        for seat, remark in remarks.items():
            if feed := remark.feed:
                names = self._called[seat], self._called[feed.seat]
                what = f"{descriptions.named(feed.tile)} {one_line(feed.purpose)}"
                yield f"{names[0]} feeds {names[1]}: {what}"

    def _given(self, event: m.Event) -> list[str]:
        text = descriptions.feed_text(event, self._called, self._pairs)
        return [text] if text else []

    def _recorded(self, step: ReplayStep, choosers: Iterable[int]) -> dict[str, str]:
        actions = {seat: step.recorded(seat) for seat in choosers if seat in self._seen}
        return {str(seat): str(action) for seat, action in actions.items() if action}

    def _fold(self, state: State) -> Board:
        return board_of(state, self._seen | self._shown, self._result, self._added)

    def _settle(self, event: m.Event, state: State) -> None:
        """Note what an event pays, and what was won."""
        if not isinstance(event, m.Hora | m.Ryukyoku | m.EndGame):
            return
        result = descriptions.no_result() if self._result is None else dict(self._result)
        players = View(state, 0).players
        scores = state["scores"].tolist()
        paid = [after - before for after, before in zip(scores, self._scores, strict=True)]
        result["deltas"] = [a + b for a, b in zip(result["deltas"], paid, strict=True)]
        if isinstance(event, m.Hora):
            result["wins"] = [*result["wins"], descriptions.win_of(state, event)]
            result["title"] = "win"
        elif isinstance(event, m.Ryukyoku):
            result["title"] = descriptions.draw_text(event)
            result["tenpai"] = [seat for seat in range(4) if event.tenpais and event.tenpais[seat]]
        else:
            result["ranks"] = ranks_of(scores[:players])
        self._result = result


def _unique_names(names: Sequence[str], view: View) -> Sequence[str]:
    """Return the names of players in texts: equal names are followed by the wind."""
    winds = [WIND_NAMES[view.seat_wind(seat)] for seat in range(view.players)]
    return [
        f"{name} ({wind})" if names.count(name) > 1 else name
        for name, wind in zip(names, winds, strict=True)
    ]


def fold_steps(
    steps: Iterable[ReplayStep],
    seen: Collection[int] = ALL_SEATS,
    talk: Iterable[Talk] | None = None,
) -> dict[str, Any]:
    """Return a whole game: ``{"names", "pairs", "kyoku": [{"n", "board", "title", "steps": []}]}``.

    ``talk`` has what was remarked on each event.
    """
    fold = Fold(seen)
    game: dict[str, Any] = {"names": list(NO_NAMES), "pairs": {}, "kyoku": []}
    text = iter(talk if talk is not None else ())
    for step in steps:
        for message in fold.add(step, next(text, ())):
            add_message(game, message)
    return game


def add_message(game: dict[str, Any], message: PageMessage) -> None:
    """Add a message of the page to its game."""
    what = {key: value for key, value in message.items() if key != "type"}
    if message["type"] == "game":
        game.update(what)
    elif message["type"] == "kyoku":
        game["kyoku"].append({**what, "steps": []})
    else:
        game["kyoku"][-1]["steps"].append(what)
