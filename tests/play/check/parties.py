"""Bots in memory: one that keeps to the documents, and one mutation of it for each check.

A bot is a function of a line and returns the lines that it sends at once, each with the seconds
that it pretends to have taken.
"""

import asyncio
import json

from mjbot.play.check.lines import BotLine, CheckedBot, GoneError, SilentError, TimedLine
from mjbot.protocol.dialects import ARRAYS, LINES, LOCKSTEP, REQUESTS


class Player:
    """Takes what it is offered, else discards what it drew; knows its own hand, and no more.

    ``eager`` lists the offers that it takes, in order.
    """

    eager = ("hora", "kita", "reach", "ankan", "kakan", "daiminkan", "pon", "chi")
    stays = None

    def __init__(self, dialect, seat, game=0):
        self.dialect = dialect
        self.assigned_seat = seat
        self.game = game
        self.seat = seat
        self.hand = []
        self.drawn = None
        self.forbidden = ()
        self.in_riichi = False
        self.turns = 0
        self.kyoku = 0
        self.offers = []
        self.declared_riichi = False

    # --- what it receives --------------------------------------------------------------------

    def receive(self, line):
        output = json.loads(line)
        events = output if isinstance(output, list) else [output]
        for event in events:
            self.note(event)
        reply = self.reply(events[-1])
        return [] if reply is None else self.send(reply)

    def send(self, reply):
        return [TimedLine(json.dumps(reply).encode(), 0.001)]

    def note(self, event):
        kind, own = event["type"], event.get("actor") == self.seat
        if kind == "start_game":
            self.seat = event.get("id", self.assigned_seat)
        elif kind == "start_kyoku":
            self.kyoku += 1
            self.hand = list(event["tehais"][self.seat])
            self.in_riichi = False
            self.drawn = None
        elif kind == "tsumo" and own:
            self.turns += 1
            self.drawn = event["pai"]
            self.hand.append(self.drawn)
        elif kind == "dahai" and own:
            self.hand.remove(event["pai"])
            self.drawn = None
        elif kind in ("chi", "pon", "daiminkan", "ankan", "kakan") and own:
            for tile in [event["pai"]] if kind == "kakan" else event["consumed"]:
                self.hand.remove(tile)
            self.drawn = None
        elif kind == "kita" and own:
            self.hand.remove("N")
            self.drawn = None
        elif kind == "reach_accepted" and own:
            self.in_riichi = True
        self.forbidden = event.get("cannot_dahai", ()) if own else ()

    def leave(self):
        """The line is closed."""

    # --- what it sends -----------------------------------------------------------------------

    def reply(self, event):
        """The reply to an event; None: nothing is to be sent."""
        kind = event["type"]
        if self.dialect is LOCKSTEP:
            if kind == "hello":
                return {"type": "join", "name": "bot", "room": "default"}
            if kind in ("end_game", "error"):
                return None
            self.offers = event.get("possible_actions", [])
            return self.act(event)
        if self.dialect is REQUESTS:
            if kind != "request_action":
                return None
            return self.requested(event) | {"request_id": event["request_id"]}
        if self.dialect is LINES and not self.is_asked(event):
            return None
        return self.act(event)

    def is_asked(self, event):
        if not event.get("can_act", True):
            return False
        own = event.get("actor") == self.seat
        return event["type"] in (
            ("tsumo", "chi", "pon", "reach") if own else ("dahai", "kakan", "kita")
        )

    def requested(self, event):
        offers = event["possible_actions"]
        for offer in offers:
            if offer["type"] == "none" or offer.get("tsumogiri"):
                return {**offer, "actor": self.seat}
        return {**offers[0], "actor": self.seat}

    def act(self, event):
        kind, own = event["type"], event.get("actor") == self.seat
        if kind == "tsumo" and own:
            return self.turn(event)
        if kind in ("chi", "pon", "reach") and own:
            self.declared_riichi = kind == "reach"
            return self.discard()
        if not own and self.offers:
            return self.claim(event)
        return self.passing(event)

    def passing(self, event):
        return {"type": "none"}

    def turn(self, event):
        return self.taken(self.offers) or self.discard()

    def claim(self, event):
        return self.taken(self.offers) or {"type": "none"}

    def taken(self, offers):
        for kind in self.eager:
            for offer in offers:
                if offer["type"] == kind:
                    return offer
        return None

    def discard(self):
        if self.drawn is not None and self.drawn not in self.forbidden:
            return self.dahai(self.drawn, True)
        return self.dahai(next(t for t in self.hand[::-1] if t not in self.forbidden), False)

    def dahai(self, tile, tsumogiri):
        return {"type": "dahai", "actor": self.seat, "pai": tile, "tsumogiri": tsumogiri}


class AnswersTheEnd(Player):
    """Answers the last line, too, which needs no answer."""

    def reply(self, event):
        if event["type"] in ("end_game", "error"):
            return {"type": "none"}
        return super().reply(event)


class AnswersAll(Player):
    """Answers every line but the last."""

    def is_asked(self, event):
        return event["type"] != "end_game"


class MemoryLine(BotLine):
    """A conversation with a player that answers at once, or not at all."""

    def __init__(self, player):
        self.player = player
        self.waiting = []
        self.gone = ""

    async def send(self, line):
        await asyncio.sleep(0)  # other games go on, too
        if self.gone:
            raise GoneError(self.gone)
        try:
            self.waiting += self.player.receive(line)
        except SystemExit as end:
            self.gone = f"the bot ended: {end}"

    async def receive(self, limit_s):
        if self.waiting:
            return self.waiting.pop(0)
        if self.gone:
            raise GoneError(self.gone)
        raise SilentError

    async def overhear(self, *, wait):
        return self.waiting.pop(0).line if self.waiting else None

    async def part(self):
        self.player.leave()
        return self.player.stays


class MemoryBot(CheckedBot):
    """Seats a new player of a kind for each game."""

    def __init__(self, kind, dialect=LOCKSTEP):
        super().__init__(dialect, kind.__name__)
        self.kind = kind
        self.games = 0

    async def sit_down(self, seat):
        self.games += 1
        return MemoryLine(self.kind(self.dialect, seat, self.games))


# --- one fault each --------------------------------------------------------------------------


class Nameless(Player):
    def reply(self, event):
        if event["type"] == "hello":
            return {"type": "join", "room": "default"}
        return super().reply(event)


class SlowStarter(Player):
    """Takes half a minute for its first array."""

    def send(self, reply):
        first = not self.kyoku
        return [
            TimedLine(received.line, 25.0 if first else 0.001) for received in super().send(reply)
        ]


class TalksTwice(Player):
    def send(self, reply):
        return super().send(reply) * (2 if self.turns == 2 and reply["type"] == "dahai" else 1)


class Chatterbox(Player):
    """Discards again when it receives its own discard."""

    def reply(self, event):
        own = event["type"] == "dahai" and event["actor"] == self.seat
        return self.dahai(event["pai"], True) if own else super().reply(event)


class BrokenJson(Player):
    def send(self, reply):
        received = super().send(reply)
        return [TimedLine(received[0].line[:-1], 0.001)] if self.turns == 2 else received


class Prints(Player):
    def send(self, reply):
        loading = [] if self.turns else [TimedLine(b"loading weights: 100%", 0.001)]
        return loading + super().send(reply)


class AnswersOthers(Player):
    """Discards when others draw."""

    def passing(self, event):
        if event["type"] == "tsumo" and self.turns == 1:
            return self.dahai(self.hand[0], False)
        return super().passing(event)


class RedBlind(Player):
    def dahai(self, tile, tsumogiri):
        return super().dahai(tile.rstrip("r"), tsumogiri)


class AlwaysTsumogiri(Player):
    """Says true after a call, too."""

    def dahai(self, tile, tsumogiri):
        return super().dahai(tile, True)


class PassesItsTurn(Player):
    def turn(self, event):
        return {"type": "none"} if self.turns == 3 else super().turn(event)


class Kuikae(Player):
    """Discards what it may not after a chi."""

    def discard(self):
        forbidden = [tile for tile in self.forbidden if tile in self.hand]
        if forbidden and not self.declared_riichi:
            return self.dahai(forbidden[0], False)
        return super().discard()


class BreaksTenpai(Player):
    def discard(self):
        if self.declared_riichi and not self.in_riichi:
            self.declared_riichi = False
            return self.dahai(next(t for t in self.hand if t in self.forbidden), False)
        return super().discard()


class PoorRiichi(Player):
    """Declares riichi with 900 points, in the fourth kyoku."""

    eager = ()

    def turn(self, event):
        if self.kyoku == 4 and self.poor_hand() and not self.in_riichi:
            return {"type": "reach", "actor": self.seat}
        return super().turn(event)

    def poor_hand(self):
        return self.drawn == "9m" and self.hand.count("5p") == 2 and "6s" in self.hand


class DiscardsInRiichi(Player):
    def turn(self, event):
        if self.in_riichi:
            tile = next(tile for tile in self.hand if tile != self.drawn)
            return self.dahai(tile, False)
        return super().turn(event)


class LiesInRiichi(Player):
    """Discards another tile after riichi, and declares it as the drawn one."""

    def turn(self, event):
        if self.in_riichi:
            tile = next(tile for tile in self.hand if tile[:2] != self.drawn[:2])
            return self.dahai(tile, True)
        return super().turn(event)


class ChiFromAnywhere(Player):
    def claim(self, event):
        offer = super().claim(event)
        if offer["type"] == "chi":
            return offer | {"target": (offer["target"] + 1) % 4}
        return offer


class CallsKans(Player):
    """Wants the tile of another's kan."""

    def passing(self, event):
        if event["type"] in ("kakan", "ankan"):
            tile = event["consumed"][0]
            return {"type": "pon", "actor": self.seat, "target": event["actor"], "pai": tile,
                    "consumed": [tile, tile]}  # fmt: skip
        return super().passing(event)


class AnkanWithPai(Player):
    def taken(self, offers):
        offer = super().taken(offers)
        if offer and offer["type"] == "ankan":
            return offer | {"pai": offer["consumed"][0]}
        return offer


class DiesAtRobbedKan(Player):
    last = None

    def note(self, event):
        super().note(event)
        if event["type"] == "hora" and self.last == "kakan":
            raise SystemExit("a win before the draw")
        self.last = event["type"]


class DiesAtLateDora(Player):
    last = None

    def note(self, event):
        if event["type"] == "dora" and self.last == "dahai":
            raise SystemExit("a marker here?")
        self.last = event["type"]
        super().note(event)


class WinsWithoutYaku(Player):
    def claim(self, event):
        return self.passing(event)

    def passing(self, event):
        own = event.get("actor") == self.seat
        if event["type"] == "dahai" and event["pai"] == "2m" and not own and self.low() == "13m":
            return {"type": "hora", "actor": self.seat, "target": event["actor"], "pai": "2m"}
        return super().passing(event)

    def low(self):
        return "".join(tile[0] for tile in sorted(self.hand) if tile in ("1m", "3m")) + "m"


class DeclaresEightTerminals(Player):
    """Declares nine terminals at any first turn that looks nearly so."""

    def turn(self, event):
        if self.turns == 1 and "1z" not in self.hand and self.hand.count("6z") == 0:
            honours = {tile for tile in self.hand if len(tile) == 1 or tile[0] in "19"}
            if len(honours) == 6:
                return {"type": "ryukyoku", "actor": self.seat, "reason": "kyushukyuhai"}
        return super().turn(event)


class DiesAtFourKans(Player):
    def note(self, event):
        super().note(event)
        if event.get("reason") == "sukaikan":
            raise SystemExit("no such reason")


class DiesAtSecondWin(Player):
    wins = 0

    def note(self, event):
        super().note(event)
        self.wins = self.wins + 1 if event["type"] == "hora" else 0
        if self.wins == 2:
            raise SystemExit("somebody has won already")


class DiesInWest(Player):
    def note(self, event):
        super().note(event)
        if event.get("bakaze") == "W":
            raise SystemExit("no such wind")


class DiesAtReply201(Player):
    replies = 0

    def send(self, reply):
        self.replies += 1
        if self.replies > 200:
            raise SystemExit("out of range")
        return super().send(reply)


class DiesAtUnknownField(Player):
    def note(self, event):
        if "x_note" in event:
            raise SystemExit("unexpected keyword argument")
        super().note(event)


class NeedsNames(Player):
    def note(self, event):
        if event["type"] == "start_game" and "names" not in event:
            raise SystemExit("KeyError: names")
        super().note(event)


class BeginsInEast(Player):
    def note(self, event):
        if event["type"] == "start_kyoku" and not self.kyoku and event["bakaze"] != "E":
            raise SystemExit("a game begins in East")
        super().note(event)


class Late(Player):
    def send(self, reply):
        late = self.turns == 2 and reply["type"] == "dahai"
        return [TimedLine(super().send(reply)[0].line, 61.0 if late else 0.001)]


class Stays(Player):
    stays = "it did not end within 15 s of the end of its line"


class Moody(Player):
    """Plays its first game otherwise than later ones."""

    def turn(self, event):
        if self.game == 1 and self.hand:
            return self.dahai(self.hand[0], self.hand.count(self.drawn) == 0 and False)
        return super().turn(event)


class OneAtATime(Player):
    playing = 0

    def note(self, event):
        if event["type"] == "start_game":
            type(self).playing += 1
            if type(self).playing > 1:
                raise SystemExit("the graphics card is in use")
        super().note(event)

    def leave(self):
        type(self).playing -= 1


class AlwaysTonpu(Player):
    """Believes that after East 4 it is over, wherever somebody has 30,000 points."""

    rounds = 0

    def note(self, event):
        if event["type"] == "start_kyoku":
            self.rounds += 1
            if event["bakaze"] == "S" and self.rounds == 5:
                raise SystemExit("the game was over")
        super().note(event)


class NorthFromNowhere(Player):
    """Sets norths aside that it does not hold."""

    def turn(self, event):
        if "N" not in self.hand and not self.in_riichi:
            return {"type": "kita", "actor": self.seat, "pai": "N"}
        return super().turn(event)


BROKEN = {
    "B01": (Nameless, LOCKSTEP),
    "B02": (SlowStarter, ARRAYS),
    "B03": (TalksTwice, LOCKSTEP),
    "B04": (Chatterbox, LINES),
    "B05": (BrokenJson, LOCKSTEP),
    "B06": (Prints, LINES),
    "B07": (AnswersOthers, LOCKSTEP),
    "B08": (RedBlind, LOCKSTEP),
    "B09": (AlwaysTsumogiri, LOCKSTEP),
    "B10": (PassesItsTurn, LOCKSTEP),
    "B11": (Kuikae, LOCKSTEP),
    "B12": (BreaksTenpai, LOCKSTEP),
    "B13": (PoorRiichi, LOCKSTEP),
    "B14": (DiscardsInRiichi, LOCKSTEP),
    "B15": (ChiFromAnywhere, LOCKSTEP),
    "B16": (CallsKans, LOCKSTEP),
    "B17": (AnkanWithPai, LOCKSTEP),
    "B18": (DiesAtRobbedKan, LOCKSTEP),
    "B19": (DiesAtLateDora, LOCKSTEP),
    "B20": (WinsWithoutYaku, LOCKSTEP),
    "B21": (DeclaresEightTerminals, LOCKSTEP),
    "B22": (DiesAtFourKans, LOCKSTEP),
    "B23": (DiesAtSecondWin, LOCKSTEP),
    "B24": (DiesInWest, LOCKSTEP),
    "B25": (DiesAtUnknownField, LOCKSTEP),
    "B26": (NeedsNames, LOCKSTEP),
    "B27": (BeginsInEast, ARRAYS),
    "B28": (Late, LOCKSTEP),
    "B29": (Stays, LOCKSTEP),
    "B30": (Moody, LOCKSTEP),
    "B31": (OneAtATime, LOCKSTEP),
    "B32": (AlwaysTonpu, LOCKSTEP),
    "B33": (DiesAtReply201, ARRAYS),
}
"""Check -> the bot that fails it and no other MUST, and what it speaks."""
