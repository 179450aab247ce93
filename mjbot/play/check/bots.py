"""All checks of a bot: the scenes in order, and what takes more than one of them."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from mjbot.play.check.bot_scenes import SCENES_OF, SceneSet
from mjbot.play.check.bot_table import LIMITS_S, BotTable, Scene, SceneReplies
from mjbot.play.check.catalogue import BOT_CHECKS, FAMILIES, Check, CheckVerdict
from mjbot.play.check.lines import CheckedBot
from mjbot.play.check.report import CheckFindings
from mjbot.protocol.dialects import Dialect

_MEGABYTE: Final = 1 << 20
_MOST_SHARE: Final = 0.99


@dataclass(frozen=True, kw_only=True)
class BotSettings:
    """Selection: ``ids`` (empty: all), how long a reply may take, games at once (0: none).

    ``players`` is how many play at the tables.
    ``on_scene`` is called with the name of each scene before it is played.
    """

    ids: frozenset[str] = frozenset()
    limit_s: float | None = None
    at_once: int = 0
    players: int = 4
    on_scene: Callable[[str], None] = lambda name: None

    @property
    def stage(self) -> SceneSet:
        """The scenes at such tables."""
        return SCENES_OF[self.players]

    def includes(self, ids: Collection[str]) -> bool:
        """Whether any of these checks is selected."""
        return not self.ids or bool(self.ids & set(ids))

    def scenes(self, dialect: Dialect) -> list[Scene]:
        """Return the scenes of one game each that are played after the plain one."""
        family = FAMILIES[dialect]
        scenes, again = self.stage.scenes, self.stage.again
        chosen = [one for one in scenes if family in one.families and self.includes(one.ids)]
        return [*chosen, again] if self.includes(again.ids) else chosen

    def scene_count(self, dialect: Dialect) -> int:
        """Return how often ``on_scene`` is called if the bot is not lost in the plain game."""
        return 1 + len(self.scenes(dialect)) + self.plays_at_once

    @property
    def plays_at_once(self) -> bool:
        """Whether several games are played at once."""
        return self.at_once > 0 and self.includes(self.stage.crowd.ids)


async def check_bot(
    bot: CheckedBot, settings: BotSettings, findings: CheckFindings | None = None
) -> CheckFindings:
    """Seat a bot in every selected scene; return the findings.

    They are added to ``findings``, if given, as they come up.
    """
    return await _BotCheck(bot, settings, CheckFindings() if findings is None else findings).run()


class _BotCheck:
    def __init__(self, bot: CheckedBot, settings: BotSettings, findings: CheckFindings) -> None:
        self._bot: Final = bot
        self._settings: Final = settings
        self._limit_s: Final = settings.limit_s or LIMITS_S[bot.dialect]
        self._played: Final[list[SceneReplies]] = []
        self.findings: Final = findings

    async def run(self) -> CheckFindings:
        self._skip_foreign()
        plain = await self._play(self._settings.stage.plain)
        if plain.lost:
            self.findings.give_up(BOT_CHECKS, "it does not get through a plain game")
            return self.findings
        for scene in self._settings.scenes(self._bot.dialect):
            played = await self._play(scene)
            if scene is self._settings.stage.again:
                self._compare(plain, played)
        if self._settings.plays_at_once:
            await self._play_at_once()
        else:
            self.findings.skip("B31", "needs the number of games that it can play: --at-once N")
        self._note_times()
        return self.findings

    async def _play(self, scene: Scene) -> SceneReplies:
        self._settings.on_scene(scene.name)
        played = await BotTable(self._bot, scene, self.findings, self._limit_s).play()
        self._played.append(played)
        return played

    def _skip_foreign(self) -> None:
        family = FAMILIES[self._bot.dialect]
        for check in BOT_CHECKS:
            if family not in check.families:
                reason = f"does not apply to the dialect {self._bot.dialect.traits.word}"
                self.findings.skip(check.id, reason)
        covered = self._settings.stage.ids
        for players, other in SCENES_OF.items():
            for id_ in sorted(other.ids - covered):
                self.findings.skip(id_, f"is checked with --players {players}")

    def _compare(self, first: SceneReplies, second: SceneReplies) -> None:
        """Compare two games that were the same but for the bot."""
        self.findings.occasion("B30")
        pairs = zip(first.replies, second.replies, strict=False)
        differing = sum(one != other for one, other in pairs)
        if differing or len(first.replies) != len(second.replies):
            problem = f"{differing} of {len(first.replies)} replies differ in the same game"
            self.findings.add("B30", problem, None, CheckVerdict.INFO)
        sizes = [played.memory_bytes for played in self._played if played.memory_bytes]
        if sizes:
            then, now = (round(sizes[index] / _MEGABYTE) for index in (0, -1))
            text = f"{then} MB after the first game, {now} MB after game {len(sizes)}"
            self.findings.add("B30", text, None, CheckVerdict.INFO)

    async def _play_at_once(self) -> None:
        number, crowd = self._settings.at_once, self._settings.stage.crowd
        self._settings.on_scene(f"{number} games at once")
        tables = [BotTable(self._bot, crowd, self.findings, self._limit_s) for _ in range(number)]
        await asyncio.gather(*[table.play() for table in tables])

    def _note_times(self) -> None:
        seconds = sorted(second for played in self._played for second in played.seconds)
        if self.findings.failed("B28") or not seconds:
            return
        half, most = seconds[len(seconds) // 2], seconds[int(_MOST_SHARE * (len(seconds) - 1))]
        half_ms, most_ms, longest_ms = (1000 * time_s for time_s in (half, most, seconds[-1]))
        text = f"{len(seconds)} lines: median {half_ms:.0f} ms, 99 % within {most_ms:.0f} ms"
        self.findings.add("B28", f"{text}, longest {longest_ms:.0f} ms", None, CheckVerdict.INFO)


def included(checks: Sequence[Check], ids: Collection[str]) -> list[Check]:
    """Return the checks with these ids, all if there are none."""
    return [check for check in checks if not ids or check.id in ids]
