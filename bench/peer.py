"""``riichienv`` at its best: actions made beforehand and, unless asked for, no event log."""

from riichienv import Action, ActionType, GameRule, RiichiEnv

PASS = Action(ActionType.Pass)
DISCARDS = [Action(ActionType.Discard, tile) for tile in range(136)]
RULE = GameRule.default_tenhou()


def idle_games(games: int, players: int = 4) -> int:
    """Play hanchan of players that discard what they draw; return how many."""
    for seed in range(games):
        env = new_game(seed, players=players)
        play_on(env, 1 << 30)
    return games


def new_game(seed: int, log: bool = False, players: int = 4) -> RiichiEnv:
    """Return a fresh hanchan under Tenhou's rules."""
    mode = f"{players}p-red-half"
    return RiichiEnv(game_mode=mode, rule=RULE, seed=seed, skip_mjai_logging=not log)


def play_on(env: RiichiEnv, steps: int) -> None:
    """Let them play from the first deal for at most so many steps."""
    observations = env.reset()
    for _ in range(steps):
        if env.done():
            return
        seat, drawn = env.current_player, env.drawn_tile
        if drawn is not None and seat in observations and len(observations) == 1:
            observations = env.step({seat: DISCARDS[drawn]})
        else:
            observations = env.step(dict.fromkeys(observations, PASS))
