"""What a review states, counted again from the messages of its own JSON.

:class:`Count` follows ``mjai_log`` with dictionaries and strings; shanten, waits and points are
those of the package ``mahjong``.  Nothing of mjbot's rules, table or drawing takes part.
"""

import json
import re
from collections import Counter
from functools import cache
from itertools import chain

import pytest
from mahjong.agari import Agari
from mahjong.constants import EAST
from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig, OptionalRules
from mahjong.meld import Meld
from mahjong.shanten import Shanten

from mjbot.analysis.review.mjai_json import review_json
from mjbot.analysis.review.summary import Review

WINDS = "ESWN"
MISSING = [f"{rank}m" for rank in range(2, 9)]
"""The kinds that three players leave out."""
DRAGONS = "PFC"
KINDS = [f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)] + list(WINDS + DRAGONS)
NAMES = dict(zip(("East", "South", "West", "North"), WINDS, strict=True))
NAMES |= {
    f"the {colour} dragon": c for colour, c in zip(("white", "green", "red"), "PFC", strict=True)
}
LEAST = 20
"""Kinds of statements that must occur, each at least once."""


def plain(tile):
    """Return the kind of a tile: a red five is a five."""
    return tile.removesuffix("r")


def named(text):
    """Return the tile that a sentence names."""
    return NAMES.get(text) or text.removeprefix("red ")


def by_kind(tiles):
    """Return how many of each of the 34 kinds there are."""
    counts = Counter(map(plain, tiles))
    return [counts[kind] for kind in KINDS]


def away(tiles, n_melds):
    """Return how far a hand is from tenpai; open hands have neither pairs nor orphans."""
    return shanten_of(tuple(by_kind(tiles)), n_melds == 0)


@cache  # discards of one position leave the hands of others, and both reviews have the same
def shanten_of(counts, is_closed):
    return Shanten().calculate_shanten([*counts], is_closed, is_closed)


def next_of(marker, players):
    """Return the dora of a marker."""
    if players == 3 and marker in ("1m", "9m"):
        return "9m" if marker == "1m" else "1m"
    if plain(marker) in WINDS:
        return WINDS[(WINDS.index(marker) + 1) % 4]
    if marker in DRAGONS:
        return DRAGONS[(DRAGONS.index(marker) + 1) % 3]
    return f"{int(marker[0]) % 9 + 1}{marker[1]}"


class Count:
    """A kyoku as its messages have it."""

    def __init__(self, start):
        self.hands = [list(hand) for hand in start["tehais"]]
        self.players = len(self.hands)
        self.norths = [0] * self.players
        self.melds = [[], [], [], []]
        self.rivers = [[], [], [], []]
        self.markers = [start["dora_marker"]]
        self.dealer, self.wind = start["oya"], start["bakaze"]
        self.scores, self.honba, self.sticks = start["scores"], start["honba"], start["kyotaku"]
        self.turns, self.wall = [0] * 4, {3: 55, 4: 70}[self.players]
        self.riichi = [None] * 4
        self.safe = [set(), set(), set(), set()]
        self.shown, self.passing, self.offers = [], "", None

    def take(self, message):
        kind, actor = message["type"], message.get("actor")
        if self.passing and kind not in ("hora", "reach_accepted", "dora"):
            for seat in range(self.players):
                if self.riichi[seat] and seat != self.offers:
                    self.safe[seat].add(self.passing)
            self.passing = ""
        if kind == "tsumo":
            self.wall -= 1
            self.turns[actor] += 1
            self.hands[actor].append(message["pai"])
        elif kind == "dahai":
            self.hands[actor].remove(message["pai"])
            self.rivers[actor].append(message["pai"])
            self.safe[actor].add(plain(message["pai"]))
            self.passing, self.offers = plain(message["pai"]), actor
        elif kind in ("chi", "pon", "daiminkan", "ankan", "kakan"):
            used = [message["pai"]] if kind == "kakan" else message["consumed"]
            for tile in used:
                self.hands[actor].remove(tile)
            self.shown += used
            self.turns[actor] += kind in ("chi", "pon")
            if kind != "kakan":
                self.melds[actor].append(
                    (kind, [*used, *([message["pai"]] if "pai" in message else [])])
                )
        elif kind == "kita":
            self.hands[actor].remove("N")
            self.shown.append("N")
            self.norths[actor] += 1
            self.passing, self.offers = "N", actor
        elif kind == "reach":
            self.riichi[actor] = tuple(self.turns)
        elif kind == "dora":
            self.markers.append(message["dora_marker"])

    def live(self, seat):
        """Return how many of each kind the seat does not see."""
        seen = by_kind([*self.hands[seat], *chain(*self.rivers), *self.markers, *self.shown])
        left = {kind: 4 - n for kind, n in zip(KINDS, seen, strict=True)}
        return left | (dict.fromkeys(MISSING, 0) if self.players == 3 else {})

    def accepted(self, seat, discard):
        """Return what a hand accepts after a discard, by kind with the tiles that are left."""
        hand, n = [*self.hands[seat]], len(self.melds[seat])
        hand.remove(next(tile for tile in hand if plain(tile) == plain(discard)))
        before, held = away(hand, n), Counter(map(plain, hand))
        return {
            kind: left
            for kind, left in self.live(seat).items()
            if left and held[kind] < 4 and away([*hand, kind], n) < before
        }

    def seat_wind(self, seat):
        return WINDS[(seat - self.dealer) % self.players]

    def seat_of(self, wind):
        """Return the seat that a sentence names by its wind."""
        return next(s for s in range(self.players) if self.seat_wind(s) == NAMES[wind])


@pytest.fixture(scope="module", params=["by_points", "by_shares", "of_three"])
def found(request):
    """Return the statements of reviews of all seats, counted: {kind: number}."""
    held = request.getfixturevalue(request.param)
    counts = Counter()
    for seat in range(held.judged.players):
        review = Review("a game", seat, held.by, held.judged)
        for kind in statements(json.loads(json.dumps(review_json(review)))):
            counts[kind] += 1
    return counts


def statements(review):
    """Check each statement; yield its kind."""
    seat, log = review["player_id"], review["mjai_log"]
    entries = {}
    for kyoku in review["review"]["kyokus"]:
        for entry in kyoku["entries"]:
            entries.setdefault(entry["event"], []).append((kyoku, entry))
    yield from of_the_whole(review)
    count = None
    for number, message in enumerate(log, 1):
        if message["type"] == "start_kyoku":
            count = Count(message)
        elif count:
            count.take(message)
        for kyoku, entry in entries.get(number, ()):
            yield from of_position(kyoku, entry, count, seat)
            yield from of_size(entry)
            yield from of_choices(entry, count, seat)
            yield from of_opponents(entry, count, seat)
            yield from of_sentence(entry, count, seat)
            yield from of_kita(entry, count, seat)


def of_the_whole(review):
    seat, summary = review["player_id"], review["review"]["summary"]
    final = next(
        message["scores"] for message in reversed(review["mjai_log"]) if "scores" in message
    )
    for line in summary["by_seat"]:
        assert line["score"] == final[line["seat"]]
        yield "final score"
        assert line["place"] == 1 + sum(score > line["score"] for score in final)
        yield "place"
    entries = [entry for kyoku in review["review"]["kyokus"] for entry in kyoku["entries"]]
    different = sum(not entry["is_equal"] for entry in entries)
    parts = (summary["by_kyoku"], summary["by_kind"].values(), [summary["all"]])
    assert [sum(loss["differing"] for loss in losses) for losses in parts] == [different] * 3
    yield "differences by kyoku and by kind"
    own = next(line for line in summary["by_seat"] if line["seat"] == seat)
    totals = [review["review"][key] for key in ("total_reviewed", "total_matches")]
    assert totals == [own["decisions"], own["agreed"]] == [len(entries), len(entries) - different]
    yield "different choices"
    counted = {entry["event"] for entry in entries if entry["counts"]}
    assert counted <= {*summary["costliest"]}
    yield "what counts is among the costliest"
    yield from of_deal_ins(review, summary["deal_ins"])


def of_deal_ins(review, deal_ins):
    """Check deal-ins by the wins in the log: who, what it cost, and what else would have won."""
    seat, left = review["player_id"], list(deal_ins)
    count = None
    for message in review["mjai_log"]:
        if message["type"] == "start_kyoku":
            count = Count(message)
        if message["type"] == "hora" and message["target"] == seat != message["actor"]:
            winner, each = message["actor"], left.pop(0)
            assert (each["winner"], each["tile"]) == (winner, message["pai"])
            assert each["paid"] == -message["deltas"][seat]
            points = message["hora_points"]
            if not count.norths[winner]:  # the package counts no norths set aside
                assert points == points_of(count, winner, message)
                yield "points of a deal-in"
            assert each["paid"] == points + 100 * (count.players - 1) * count.honba
            yield "what a deal-in paid"
            hand = [*count.hands[seat], message["pai"]]
            n = len(count.melds[winner])
            deadly = {
                kind for kind in map(plain, hand)
                if Agari().is_agari(with_melds([*count.hands[winner], kind], count.melds[winner]))
                and n <= 4
            }  # fmt: skip
            assert set(each["deadly"]) == deadly
            assert set(each["held"]) == set(map(plain, hand))
            yield "kinds in hand that deal in"
        if count:
            count.take(message)
    assert not left


def with_melds(hand, melds):
    """Return the counts of hand and melds, of kans three tiles."""
    return by_kind([*hand, *[tile for _, tiles in melds for tile in tiles[:3]]])


def points_of(count, winner, message):
    """Return the value of a win on another's tile, by the package ``mahjong``."""
    used = Counter()

    def id_of(tile):
        kind = KINDS.index(plain(tile))
        if tile.endswith("r"):
            return 4 * kind
        used[kind] += 1
        return 4 * kind + used[kind] - (plain(tile)[0] != "5" or plain(tile)[-1] not in "mps")

    types = {"chi": Meld.CHI, "pon": Meld.PON, "daiminkan": Meld.KAN, "ankan": Meld.KAN}
    win = id_of(message["pai"])
    melds = [
        Meld(types[kind], sorted(map(id_of, tiles)), opened=kind != "ankan")
        for kind, tiles in count.melds[winner]
    ]
    hand = [*map(id_of, count.hands[winner]), win, *[t for meld in melds for t in meld.tiles]]
    yaku = {name for name, _ in message["yakus"]}
    config = HandConfig(
        is_riichi="reach" in yaku, is_ippatsu="ippatsu" in yaku,
        player_wind=EAST + WINDS.index(count.seat_wind(winner)),
        round_wind=EAST + WINDS.index(count.wind),
        options=OptionalRules(has_open_tanyao=True, has_aka_dora=True),
    )  # fmt: skip
    ura = [id_of(tile) // 4 * 4 for tile in message["uradora_markers"]]
    markers = [KINDS.index(plain(tile)) * 4 for tile in count.markers]
    answer = HandCalculator.estimate_hand_value(
        hand, win, melds=melds, dora_indicators=markers, ura_dora_indicators=ura, config=config
    )
    assert not answer.error
    return answer.cost["main"]


def of_position(kyoku, entry, count, seat):
    hand, n_melds = count.hands[seat], len(count.melds[seat])
    assert sorted(entry["state"]["tehai"]) == sorted(hand)
    yield "hand"
    assert len(entry["state"]["fuuros"]) == n_melds
    yield "melds"
    assert entry["shanten"] == away(hand, n_melds)
    yield "shanten"
    assert entry["tiles_left"] == count.wall
    yield "tiles left"
    assert entry["junme"] == count.turns[seat]
    yield "turn"
    assert kyoku["relative_scores"] == [*count.scores[seat:], *count.scores[:seat]]
    yield "scores"
    round_ = 4 * WINDS.index(count.wind) + count.dealer
    assert (kyoku["kyoku"], kyoku["honba"]) == (round_, count.honba)
    assert entry["position"].startswith(f"{count.wind}{count.dealer + 1}-{count.honba}:")
    yield "round and honba"
    if entry["tile"] != "?" and entry["last_actor"] != seat:
        assert count.rivers[entry["last_actor"]][-1] == entry["tile"]
        yield "tile on offer"
    discards = {
        each.removesuffix(" (drawn)") for each in entry["legal"] if each.startswith("discard")
    }
    if discards and count.riichi[seat] is None and entry["last_actor"] == seat and not n_melds:
        assert {plain(each.removeprefix("discard ")) for each in discards} == set(map(plain, hand))
        yield "tiles that can be discarded"


def of_size(entry):
    """Check what counts as a mistake without playouts, and its size."""
    done, better = (entry[key]["type"] for key in ("actual", "expected"))
    is_let_go = better == "hora" != done
    is_lost = bool(entry["loss"]) and not entry["about_equal"]
    assert entry["counts"] == (not entry["is_equal"] and (is_let_go or is_lost))
    yield "a mistake that counts" if entry["counts"] else "no mistake"
    assert entry["size"] == entry["loss"]
    yield "size without playouts"


def of_choices(entry, count, seat):
    n_melds = len(count.melds[seat])
    for detail in entry["details"]:
        if detail["action"]["type"] != "dahai":
            continue
        tile = detail["action"]["pai"]
        accepted = count.accepted(seat, tile)
        hand = [*count.hands[seat]]
        hand.remove(tile)
        assert set(detail["accepted"]) == set(accepted)
        yield "waits" if away(hand, n_melds) == 0 else "accepted kinds"
        terms = {term["name"]: term["value"] for term in detail["terms"]}
        if "tiles accepted" in terms and "shanten" in terms:
            assert terms["shanten"] == away(hand, n_melds)
            yield "shanten after a discard"
            assert terms["tiles accepted"] == sum(accepted.values())
            yield "live tiles"
        sums = [term["value"] for term in detail["terms"] if term["adds_to"]]
        if "in points" in terms:
            assert sum(sums) == pytest.approx(terms["in points"], abs=0.001)
            yield "points as a sum of terms"


def of_opponents(entry, count, seat):
    for each in entry["opponents"]:
        other = each["seat"]
        if count.riichi[other]:
            assert each["tenpai"] == 100
            yield "tenpai of a riichi"
        for kind, chance in zip(KINDS, each["deal_in"], strict=True):
            if kind in count.safe[other]:
                assert chance == 0
                yield "genbutsu"


TILE = r"((?:red )?[1-9][mps]|East|South|West|North|the \w+ dragon)"


def of_sentence(entry, count, seat):
    text, index = entry["sentence"], entry["actual_index"]
    if not text:
        return
    chosen = next((d for d in entry["details"] if d["is_chosen"]), None)
    done = entry["details"][index] if index < len(entry["details"]) else None
    for match in re.finditer(
        rf"(?:: |, ){TILE} is (a dora|dora|yakuhai|your seat wind|the round wind)", text
    ):
        yield from of_reason(named(match[1]), match[2], count, seat)
    for match in re.finditer(
        r"(\w+) has been in riichi since (?:before your first|your) turn ?(\d*)", text
    ):
        other = count.seat_of(match[1])
        assert count.riichi[other][seat] == int(match[2] or 0)
        yield "riichi since a turn"
    for match in re.finditer(rf"discarding {TILE} deals into (\w+)(, in riichi,)? ([\d.]+)%", text):
        other = count.seat_of(match[2])
        assert bool(match[3]) == bool(count.riichi[other])
        yield "deals into a player in riichi" if match[3] else "deals into a player"
        if plain(named(match[1])) in count.safe[other]:
            assert float(match[4]) == 0
    for match in re.finditer(r"accepts (\d+) tiles instead of (\d+)", text):
        pair = [
            sum(count.accepted(seat, d["then"] or d["action"]["pai"]).values())
            for d in (chosen, done)
        ]
        assert pair == [int(match[1]), int(match[2])]
        yield "accepts tiles instead of"
    for match in re.finditer(r"(?:keeps|(?<!hand )goes back to) (tenpai|\d-shanten)", text):
        hand = [*count.hands[seat]]
        hand.remove(chosen["then"] or chosen["action"]["pai"])
        assert away(hand, len(count.melds[seat])) == int(match[1][0].replace("t", "0"))
        yield "keeps tenpai"
    if match := re.search(r"The network gives .+? ([\d.]+)% \(.*: ([\d.]+)%\)", text):
        for shown, detail in zip(match.groups(), (chosen, done), strict=True):
            assert float(shown) == pytest.approx(100 * detail["prob"], abs=0.051)
        yield "shares of the network"
    if match := re.search(r"was better by ([\d,]+) points", text):
        totals = [_points(detail) for detail in (chosen, done)]
        assert int(match[1].replace(",", "")) == pytest.approx(totals[0] - totals[1], abs=0.51)
        yield "better by points"


def of_kita(entry, count, seat):
    """Check why a north is set aside or kept, by the hand without it."""
    text, rest = entry["sentence"], [*count.hands[seat]]
    match = re.search(
        r"(without North the hand goes back to|the hand is) (tenpai|\d-shanten)", text
    )
    if match:
        rest.remove("N")
        without = away(rest, len(count.melds[seat]))
        assert without == int(match[2][0].replace("t", "0"))
        assert (without > entry["shanten"]) == match[1].startswith("without")
        yield "a north that is kept" if "without" in match[1] else "a north that is of no use"
    for match in re.finditer(r"North is safe against (\w+), in riichi", text):
        other = count.seat_of(match[1])
        assert count.riichi[other] and "N" in count.safe[other]
        yield "a north that is safe"


def _points(detail):
    terms = {term["name"]: term["value"] for term in detail["terms"]}
    return terms.get("in points", detail["q_value"])


def of_reason(tile, reason, count, seat):
    dora = [next_of(marker, count.players) for marker in count.markers]
    if reason == "dora":
        assert plain(tile) in dora
        yield "dora"
    elif reason == "a dora":
        assert f"{tile}r" in count.hands[seat] or plain(tile) in dora
        yield "a red five is a dora"
    elif reason == "yakuhai":
        assert tile in DRAGONS
        yield "a dragon is yakuhai"
    else:
        assert tile == (count.seat_wind(seat) if "seat" in reason else count.wind)
        yield "seat wind" if "seat" in reason else "round wind"


def test_what_a_review_states_is_so(found):
    assert len(found) >= LEAST, sorted(found)


def first(review, key):
    """Return the first entry that has a field."""
    kyokus = review["review"]["kyokus"]
    return next(entry for kyoku in kyokus for entry in kyoku["entries"] if entry[key])


def one_tile_less(review):
    kyokus = review["review"]["kyokus"]
    details = [each for kyoku in kyokus for entry in kyoku["entries"] for each in entry["details"]]
    next(each for each in details if each["accepted"])["accepted"].pop()


def all_dangerous(review):
    last = review["review"]["kyokus"][-1]["entries"][-1]
    last["opponents"][0]["deal_in"] = [1.0] * 34


def one_more_counted(review):
    kyokus = review["review"]["kyokus"]
    entries = [entry for kyoku in kyokus for entry in kyoku["entries"]]
    next(each for each in entries if each["is_equal"])["counts"] = True


def one_more_paid(review):
    review["review"]["summary"]["deal_ins"][0]["paid"] += 100


@pytest.mark.parametrize(
    "change",
    [
        lambda review: first(review, "shanten").update(shanten=6),
        lambda review: first(review, "tiles_left").update(tiles_left=71),
        one_tile_less,
        all_dangerous,
        lambda review: review["review"]["summary"]["by_seat"][0].update(place=0),
        lambda review: review["review"]["summary"]["by_seat"][0].update(agreed=0),
        one_more_counted,
        one_more_paid,
    ],
)
def test_a_changed_statement_is_found(by_points, change):
    review = json.loads(
        json.dumps(review_json(Review("a game", 1, by_points.by, by_points.judged)))
    )
    change(review)
    with pytest.raises(AssertionError):
        list(statements(review))
