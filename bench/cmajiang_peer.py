"""``cmajiang``, C++ after majiang-core, driven from Python: a reply for each turn, no record."""

from cmajiang import Game, Message, Status, set_seed

TURNS = (Status.ZIMO, Status.GANGZIMO)


def idle_games(games: int) -> int:
    """Play hanchan of players that discard what they draw; return how many."""
    set_seed(1)
    for _ in range(games):
        game = Game()
        game.kaiju()
        while game.status != Status.JIEJI:
            if game.status in TURNS:
                game.reply(game.lunban_player_id, Message.DAPAI, game.get_dapai()[-1])
            game.next()
    return games
