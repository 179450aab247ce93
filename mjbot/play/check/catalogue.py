"""The checks by id: what each requires, of which side, and by which document.

Each requirement rests on a document.  Where the families of mjai differ, ``families`` are those to
which a check applies: ``A`` the original server's lock-step lines, ``B`` Mortal's
lines, ``C`` mjai.app's arrays, ``D`` RiichiLab's requests.
"""

import enum
from dataclasses import dataclass
from typing import Final, Literal

from mjbot.protocol.dialects import ARRAYS, LINES, LOCKSTEP, REQUESTS, Dialect

Level = Literal["MUST", "SHOULD", "INFO"]

FAMILIES: Final = {LOCKSTEP: "A", LINES: "B", ARRAYS: "C", REQUESTS: "D"}

ORIGINAL: Final = "the original server's checks of a reply"
TURNS: Final = "turns of client and server: the original server, Mortal, mjai.app, RiichiLab"
RULES: Final = "Tenhou's ranked rules"
JSON: Final = "RFC 8259; the original server's JSON errors"
ORDERS: Final = "order of events: the original server, Mortal, RiichiEnv"
LIMITS: Final = "time limits: original 60 s, mjai.app 3 s, RiichiLab grace and bank"


class CheckVerdict(enum.Enum):
    """The verdict on one check."""

    OK = "OK"
    NON_STRICT = "NON-STRICT"
    """Some receivers take it, others need not; a failure under ``--strict``."""
    INFO = "INFO"
    FAILED = "FAILED"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True)
class Check:
    """One demand; ``document`` is what it rests on."""

    id: str
    level: Level
    families: str
    title: str
    document: str

    def applies_to(self, dialect: Dialect) -> bool:
        """Whether it has a meaning in a dialect."""
        return FAMILIES[dialect] in self.families


def _bot(number: int, level: Level, families: str, title: str, document: str) -> Check:
    return Check(f"B{number:02}", level, families, title, document)


def _server(number: int, level: Level, families: str, title: str, document: str) -> Check:
    return Check(f"S{number:02}", level, families, title, document)


_PIPES: Final = "Mortal's guide; mjai.app: standard output is the protocol"
_CALLS: Final = "the original server: a call equals one that is offered"

BOT_CHECKS: Final = (
    _bot(1, "MUST", "ABCD", "starts and takes its seat: join (A), argument (B, C), connection (D)",
         "the original server's handshake; Mortal and mjai.app: the seat"),
    _bot(2, "MUST", "ABCD", "sends its first line in time (a limit in C, else reported)",
         "mjai.app: 20 s for an array that starts a game"),
    _bot(3, "MUST", "A", "exactly one line for each line, none extra", TURNS),
    _bot(4, "MUST", "BCD", "a line where one is due (decision, array, request) and nowhere else",
         TURNS),
    _bot(5, "MUST", "ABCD", "each line is one JSON object in UTF-8, with its line end, below 64 kB",
         JSON),
    _bot(6, "MUST", "BC", "nothing but the protocol on standard output", _PIPES),
    _bot(7, "MUST", "AC", "answers none to events without a choice", ORIGINAL),
    _bot(8, "MUST", "ABCD", "discards what it holds, red fives exactly, in its own name", ORIGINAL),
    _bot(9, "MUST", "ABCD", "tsumogiri is true for the tile just drawn alone, never after a call",
         ORIGINAL),
    _bot(10, "MUST", "ABCD", "its own draw is answered by an action of a turn, not by none",
         ORIGINAL),
    _bot(11, "MUST", "ABCD", "its own chi or pon is followed by a discard that is no kuikae",
         f"{ORIGINAL}; {RULES}"),
    _bot(12, "MUST", "ABCD", "riichi: reach first, after its echo a discard that keeps tenpai",
         f"{ORIGINAL}; {RULES}"),
    _bot(13, "MUST", "ABCD", "no riichi below 1,000 points or with fewer tiles left than players",
         RULES),
    _bot(14, "MUST", "ABCD", "after riichi the drawn tile is discarded; ankan if all waits stay",
         RULES),
    _bot(15, "MUST", "ABCD", "chi from the left, pon, none of the last tile, tiles it holds",
         _CALLS),
    _bot(16, "MUST", "ABCD", "calls no tile of a kan", _CALLS),
    _bot(17, "MUST", "ABCD", "kakan, ankan, daiminkan with the fields of the dialect", ORIGINAL),
    _bot(18, "MUST", "ABCD", "continues after a robbed kan, two kans in a row, a rinshan win",
         ORDERS),
    _bot(19, "SHOULD", "ABCD", "accepts a dora marker on either side of the discard", ORDERS),
    _bot(20, "MUST", "ABCD", "wins with a yaku, not in furiten, with the fields of the dialect",
         f"{ORIGINAL}; {RULES}"),
    _bot(21, "MUST", "ABCD", "nine terminals only where allowed; continues after another's",
         f"{ORIGINAL}; {RULES}"),
    _bot(22, "MUST", "ABCD", "continues after four winds, four riichi, four kans", ORDERS),
    _bot(23, "MUST", "ABCD", "continues after two wins of one tile (A, D: after three)", ORDERS),
    _bot(24, "MUST", "ABCD", "continues with ten honba, negative points at the end, into West",
         f"{ORDERS}; {RULES}"),
    _bot(25, "SHOULD", "ABCD", "ignores unknown fields (D: and types)",
         "the original server and Mortal: unknown fields; RiichiLab: unknown types, too"),
    _bot(26, "SHOULD", "ABCD", "does not need fields that some servers leave out",
         "differences of the servers: names, end_game's scores, possible_actions"),
    _bot(27, "MUST", "BC", "starts in mid-game (B: reported)", "mjai.app: a restart at any kyoku"),
    _bot(28, "MUST", "ABCD", "answers within the limit, also after a stop (B: only reported)",
         LIMITS),
    _bot(29, "MUST", "ABCD", "disconnects after the game, or reconnects for the next",
         "one connection, one game; Mortal: end of input ends it"),
    _bot(30, "INFO", "ABCD", "repeats its replies in the same game; memory over several games",
         "no document: for its author"),
    _bot(31, "SHOULD", "ABCD", "plays as many games at once as claimed (--at-once)",
         "the author's own claim"),
    _bot(32, "MUST", "ABCD", "a short game before a long one, each as long as it is", RULES),
    _bot(33, "MUST", "ABCD", "plays on in a long game: some 300 replies of one process", RULES),
    _bot(34, "MUST", "ABCD", "three players: kita of a north it holds, others' kita, a robbed one",
         f"{ORDERS}; {RULES}"),
)  # fmt: skip

_HANDSHAKE: Final = "the original server's handshake"
_MASKS: Final = "the original server: what each seat sees"
_HINTS: Final = "the original server: possible_actions, cannot_dahai"
_LINES: Final = "the original server: a closed line; the error to all"

SERVER_CHECKS: Final = (
    _server(1, "MUST", "A", "greets first, by hello of mjsonp with its version", _HANDSHAKE),
    _server(2, "MUST", "A", "refuses an invalid join with an error, and continues", _HANDSHAKE),
    _server(3, "MUST", "A", "starts with four, reports to a fifth that it is busy", _HANDSHAKE),
    _server(4, "MUST", "AD", "sends no seat what only another may see", _MASKS),
    _server(5, "MUST", "AD", "sends all four the same, once and in order, but for masks", _MASKS),
    _server(6, "MUST", "AD", "sends only possible events, in order",
            ORDERS),
    _server(7, "MUST", "AD", "offers all legal actions and forbids kuikae", _HINTS),
    _server(8, "MUST", "AD", "does not carry out a win without a hand; blames that seat alone",
            ORIGINAL),
    _server(9, "MUST", "AD", "does not carry out a riichi without tenpai", f"{ORIGINAL}; {RULES}"),
    _server(10, "MUST", "AD", "of several claims takes the win, then pon or kan, then chi",
            "the original server: priority of claims"),
    _server(11, "MUST", "AD", "pays by the rules; scores carry over from kyoku to kyoku", RULES),
    _server(12, "MUST", "AD", "deals 136 tiles once, at most 70 of them drawn", RULES),
    _server(13, "MUST", "AD", "a silent client does not block the others for ever",
            LIMITS),
    _server(14, "MUST", "AD", "a line that never joins (A), or is reset, costs others no more",
            _LINES),
    _server(15, "MUST", "AD", "accepts any JSON spelling: blanks, escapes, CRLF", JSON),
    _server(16, "SHOULD", "AD", "two lines for one end at worst the game, by naming the seat",
            "the original server: replies are matched by position; RiichiLab: by request_id"),
    _server(17, "MUST", "D", "a reply to an older request does not answer the open one",
            "RiichiLab: request_id"),
    _server(18, "MUST", "AD", "after a client disconnects, the others receive an error",
            _LINES),
    _server(19, "MUST", "AD", "ends with the same end_game for all four", "the original server"),
    _server(20, "SHOULD", "AD", "plays as many tables at once as claimed (--at-once)",
            "the author's own claim"),
    _server(21, "MUST", "AD", "deals games from new seeds, and sends none before the end", _MASKS),
    _server(22, "SHOULD", "AD", "accepts clients after SIGTERM and a restart (--start)",
            "no document: for its operator"),
)  # fmt: skip

CHECKS: Final = {check.id: check for check in BOT_CHECKS + SERVER_CHECKS}
