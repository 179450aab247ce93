"""Plans compared in the same worlds, where others may help a cheap hand to win.

As :mod:`mjbot.learning.playouts.worlds`: the fast policy plays all four seats.  It has seen strong
players, who fold before two hands that look ready; it does not feed the cheaper one to end the
kyoku, as the opponents of Takada and Sato 2022 do.  So where two seats or more seem to be tenpai
after the plan (:data:`THREAT`, each to those who do not see its hand), every opponent of the
own seat that is not in riichi discards as in the paper (section 4.4): what it expects to lose the
least by, by a risk list of its own (:mod:`mjbot.strategies.evaluation.playouts.risk_lists`,
``JOINT``), and if it is tenpai, of what keeps it so.  Of equal risks the fast policy's likeliest
discard is taken, where the paper takes any.  Calls, riichi, kans and the own seat are left to the
fast policy.  With fewer than two such seats nothing differs, to the last digit.

A list is made at the first discard of its seat in a playout and stays as it is, as in the paper
(section 4.2.3).  What is sampled for it has random numbers of its own, the same for all plans of a
world.
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee.flow import advance
from mjbot.game.rules.shanten import shanten
from mjbot.game.table.actions import DISCARD_DRAWN, is_discard_code
from mjbot.game.table.hands import kind_of
from mjbot.game.table.state import NO_RIICHI, State
from mjbot.learning.models.fast_policy.candidates import DISCARD
from mjbot.learning.models.fast_policy.choice import FastPolicy, code_of
from mjbot.learning.models.fast_policy.games import (
    MOST_GIVEN,
    NO_CODE,
    choose_offered,
    given_choice,
    start_plan,
)
from mjbot.learning.models.networks.rank import RankWeights
from mjbot.learning.models.tenpai import HandReader, Reading, tenpai_chance
from mjbot.learning.playouts.worlds import (
    Playouts,
    PlayoutWorkspace,
    Values,
    deal_world,
    world_random,
    write_values,
)
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float64s, Int8s, Int16s, Record, UInt8s, UInt64s
from mjbot.runtime.compiler.splitmix import GOLDEN, mix
from mjbot.strategies.evaluation.hidden_hands.pricing import PricingWorkspace
from mjbot.strategies.evaluation.playouts.candidates import THREAT
from mjbot.strategies.evaluation.playouts.playouts import stays_tenpai
from mjbot.strategies.evaluation.playouts.risk_lists import JOINT, risk_list

COMPETING: Final = 2
"""So many seats must seem tenpai: with one there is none to be helped against another."""
TIME_BY_LISTS: Final = 1.35
"""How much longer a playout takes in which lists are made (figure 6, 2,000 worlds)."""

NOT_YET: Final = 0
BY_POLICY: Final = 1
BY_LIST: Final = 2


class HelpedWorkspace(Record):
    """What a comparison works with."""

    plain: PlayoutWorkspace
    pricing: PricingWorkspace
    tenpai: Annotated[Float64s, 4]  # chance of each seat; 0 of those that do not seem tenpai
    lists: Annotated[Float64s, 4, 34]  # [viewer, kind] points that it expects to lose
    discarding: Annotated[Int8s, 4]  # NOT_YET discarded in this playout, BY_POLICY or BY_LIST
    key: Annotated[UInt64s, 1]  # of the world's risk lists
    random: Annotated[UInt64s, 1]


@compiled
def compare_helped(
    workspace: HelpedWorkspace,
    policy: FastPolicy,
    reader: HandReader,
    weights: RankWeights,
    plans: NDArray[np.int16],
    worlds: tuple[int, int],
    seed: int,
    values: Values,
) -> None:
    """Do the same as :func:`mjbot.learning.playouts.worlds.compare_plans`, with risk lists."""
    plain, random = workspace.plain, np.empty(1, np.uint64)
    for number in range(worlds[0], worlds[1]):
        random[0] = world_random(seed, number)
        deal_world(plain, reader, random)
        workspace.key[0] = random[0]
        for index in range(len(plans)):
            plain.playing = plain.world
            play_helped(policy, workspace, reader, plans[index])
            row = number - worlds[0]
            write_values(plain, weights, values.points[row, index], values.chances[row, index])


@compiled
def play_helped(
    policy: FastPolicy, workspace: HelpedWorkspace, reader: HandReader, plan: Int16s
) -> None:
    """Play ``plain.playing`` on to the end of the kyoku, the plan's choices first."""
    plain = workspace.plain
    state, buffer = plain.playing, plain.buffer
    for seat in range(4):
        workspace.discarding[seat] = NOT_YET
    start_plan(state, buffer)
    given = 0
    while buffer.asked:
        for seat in range(4):
            if not buffer.asked >> seat & 1:
                continue
            code = NO_CODE
            if seat == plain.seat:
                code = given_choice(buffer, seat, plan, given)
                given = given + 1 if code != NO_CODE else MOST_GIVEN
            if code == NO_CODE:
                code = choose_offered(policy, state, seat, buffer)
                if seat != plain.seat and is_discard_code(code):
                    code = choose_discard(policy, workspace, reader, seat, code)
            buffer.choices[seat] = code
        advance(state, buffer)


@compiled
def choose_discard(
    policy: FastPolicy, workspace: HelpedWorkspace, reader: HandReader, seat: int, code: int
) -> int:
    """Return what an opponent discards for which the policy would choose ``code``."""
    state, n_codes = workspace.plain.playing, int(workspace.plain.buffer.n_codes[seat])
    if n_codes == 1 or state.riichi[seat] != NO_RIICHI:
        return code
    if workspace.discarding[seat] == NOT_YET:
        workspace.discarding[seat] = BY_LIST if make_list(workspace, reader, seat) else BY_POLICY
    if workspace.discarding[seat] == BY_POLICY:
        return code
    is_tenpai = shanten(state.hand[seat], state.n_melds[seat]) <= 0
    kind = _least_feared(policy, state, seat, n_codes, workspace.lists[seat], is_tenpai)
    if kind < 0:
        kind = _least_feared(policy, state, seat, n_codes, workspace.lists[seat], False)
    return int(code_of(DISCARD, kind, policy.codes, n_codes))


@compiled
def make_list(workspace: HelpedWorkspace, reader: HandReader, viewer: int) -> bool:
    """Write a viewer's risk list if two seats or more seem to be tenpai, else return False."""
    state = workspace.plain.playing
    if not is_competition(state, reader, workspace.tenpai):
        return False
    workspace.random[0] = mix(workspace.key[0] + np.uint64(viewer + 1) * GOLDEN)
    risk_list(
        state, viewer, workspace.tenpai, JOINT, workspace.random,
        workspace.lists[viewer], workspace.pricing,
    )  # fmt: skip
    return True


@compiled
def is_competition(state: State, reader: HandReader, tenpai: Float64s) -> bool:
    """Return whether :data:`COMPETING` seats seem to be tenpai.

    Writes how likely each seat is, 0 if less than :data:`THREAT`: float64[4].
    """
    n = 0
    for seat in range(4):
        chance = tenpai_chance(state, seat, reader)
        tenpai[seat] = chance if chance >= THREAT else 0.0
        n += chance >= THREAT
    return bool(n >= COMPETING)


@compiled
def _least_feared(
    policy: FastPolicy, state: State, seat: int, n_codes: int, risks: Float64s, keeps_tenpai: bool
) -> int:
    """Return the kind of least risk, of equals the likeliest of those that the policy has rated."""
    chances, choices = policy.layers.chances, policy.reading.choices
    best, hand = -1, state.hand[seat].copy()
    for index in range(_n_kinds(policy.codes, n_codes)):
        kind = choices[index]
        if keeps_tenpai and not stays_tenpai(hand, state.n_melds[seat], kind):
            continue
        is_least = best < 0 or risks[kind] < risks[choices[best]]
        if is_least or (risks[kind] == risks[choices[best]] and chances[index] > chances[best]):
            best = index
    return int(choices[best]) if best >= 0 else -1


@compiled
def _n_kinds(codes: UInt8s, n_codes: int) -> int:
    """Return how many kinds the discards among the first ``n_codes`` codes are of."""
    seen, n = 0, 0
    for index in range(n_codes):
        code = codes[index]
        if is_discard_code(code):
            bit = 1 << kind_of(code - DISCARD_DRAWN if code >= DISCARD_DRAWN else code)
            n += seen & bit == 0
            seen |= bit
    return n


class HelpedPlayouts(Playouts):
    """Compares plans at a table of four; holds the models and memory of one thread."""

    def __init__(self, reading: Reading = "learned") -> None:
        super().__init__(reading)
        self._helped: Final = HelpedWorkspace.new()

    def _play_all(self, plans: Int16s, worlds: tuple[int, int], seed: int, values: Values) -> None:
        self._helped["plain"]["position"] = self._workspace["position"]
        self._helped["plain"]["seat"] = self._workspace["seat"]
        compare_helped(
            self._helped, self.policy, self._reader, self._weights, plans, worlds, seed, values
        )

    def time_of_one(self, state: State) -> float:
        """Return how much longer a playout of a position takes than one without lists."""
        by_lists = is_competition(state, self._reader, self._helped["tenpai"])
        return TIME_BY_LISTS if by_lists else 1.0
