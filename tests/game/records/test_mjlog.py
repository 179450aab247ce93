import pytest

from mjbot.game.records.mjlog import read_mjlog
from mjbot.protocol.messages import (
    Ankan,
    Chi,
    Dahai,
    Daiminkan,
    Dora,
    EndGame,
    Hora,
    Kakan,
    Message,
    Pon,
    Reach,
    ReachAccepted,
    Ryukyoku,
    StartGame,
    StartKyoku,
    Tsumo,
)


def events_of(document: bytes) -> list[Message]:
    return [entry.event for entry in read_mjlog(document, "game")]


def shape(document: bytes) -> str:
    """Return the message names between the deal and the result."""
    names = [event.__struct_config__.tag for event in events_of(document)]
    first = names.index("start_kyoku") + 1
    return " ".join(names[first : names.index("end_kyoku")])


def only(kind: type, document: bytes) -> list:
    return [event for event in events_of(document) if isinstance(event, kind)]


def riichi(seat: int) -> tuple[str, str]:
    ten = ",".join("240" if other == seat else "250" for other in range(4))
    step2 = f'<REACH who="{seat}" ten="{ten}" step="2"/>'
    return f'<REACH who="{seat}" step="1"/>', step2


# --- the frame -------------------------------------------------------------------------------


def test_game_from_start_to_end(tenhou) -> None:
    second = tenhou.deal("5,2,1,3,4,16", "240,250,260,240", oya=1)
    document = tenhou.mjlog(tenhou.deal(), "T60", "D60", tenhou.DRAWN, second, tenhou.OVER)
    events = events_of(document)
    plain = ("1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "1p", "2p", "3p", "4p")
    hands = (tuple("5mr" if tile == "5m" else tile for tile in plain), plain, plain, plain)
    assert events[:4] == [
        StartGame(names=("東", "b", "c", "d")),
        StartKyoku(
            bakaze="E", kyoku=1, honba=0, kyotaku=0, oya=0, dora_marker="C", tehais=hands,
            scores=(25000, 25000, 25000, 25000),
        ),
        Tsumo(actor=0, pai="7p"),
        Dahai(actor=0, pai="7p", tsumogiri=True),
    ]  # fmt: skip
    assert events[6] == StartKyoku(
        bakaze="S", kyoku=2, honba=2, kyotaku=1, oya=1, dora_marker="5mr", tehais=hands,
        scores=(24000, 25000, 26000, 24000),
    )  # fmt: skip
    names = [event.__struct_config__.tag for event in events]
    rest = "ryukyoku end_kyoku start_kyoku ryukyoku end_kyoku end_game"
    assert " ".join(names[4:]) == rest
    assert events[-1] == EndGame(scores=(25000, 25000, 25000, 25000))


def test_entries_carry_tag_numbers(tenhou) -> None:
    document = tenhou.mjlog(tenhou.deal(), "T60", "D60", tenhou.OVER)
    # GO UN TAIKYOKU are tags 1 to 3.
    assert [entry.number for entry in read_mjlog(document, "game")] == [4, 4, 5, 6, 7, 7, 7]


def test_final_scores_hold_the_leftover_sticks(tenhou) -> None:
    over = (
        '<RYUUKYOKU ba="0,2" sc="240,0,240,0,250,0,250,0" '
        'owari="240,-6.0,240,-16.0,270,47.0,250,-5.0"/>'
    )
    events = events_of(tenhou.mjlog(tenhou.deal(), over))
    assert events[-3].scores == (24000, 24000, 25000, 25000)
    assert events[-1].scores == (24000, 24000, 27000, 25000)


def test_red_fives_only_where_the_rules_have_them(tenhou) -> None:
    tags = (tenhou.deal(), "T52", "D52", "U88", "E88", "V53", "F53", tenhou.OVER)
    with_reds = [event.pai for event in only(Dahai, tenhou.mjlog(*tags))]
    without = [event.pai for event in only(Dahai, tenhou.mjlog(*tags, rules=169 | 2))]
    assert with_reds == ["5pr", "5sr", "5p"]
    assert without == ["5p", "5s", "5p"]


def test_tsumogiri_follows_from_the_id(tenhou) -> None:
    # Seat 2 calls a 6m: the copy that it discards then is no tsumogiri, whatever its case.
    pon = tenhou.call(2, tenhou.pon_code(23, 20, 2))
    document = tenhou.mjlog(
        tenhou.deal(), "T60", "D20", pon, "F2", "W61", "G3", "T62", "d62", "U1", "E1", tenhou.OVER
    )
    assert [event.tsumogiri for event in only(Dahai, document)] == [
        False, False, False, True, True,
    ]  # fmt: skip


def test_what_other_years_write_beside_changes_nothing(tenhou) -> None:
    plain = tenhou.small_game()
    shuffled = plain.replace(
        b"<GO ", b'<SHUFFLE seed="mt19937ar-sha512-n288-base64,AA==" ref=""/><GO '
    )
    newer = plain.replace(b"<GO ", b'<GO new="1" ').replace(b"<UN ", b'<UN rc="1" gold="2" ')
    older = plain.replace(b"<INIT ", b'<INIT shuffle="mt19937ar,1,2,3" ')
    assert shuffled != plain != newer != older != plain
    for document in (shuffled, newer, older):
        assert events_of(document) == events_of(plain)


def test_players_who_leave_and_return_change_nothing(tenhou) -> None:
    plain = tenhou.mjlog(tenhou.deal(), "T60", "D60", "U64", "E64", tenhou.OVER)
    disturbed = tenhou.mjlog(
        tenhou.deal(), "T60", '<BYE who="1"/>', "D60", "U64", "E64",
        '<UN n1="somebody"/>', "<FUTURE a='1'/>", tenhou.OVER,
    )  # fmt: skip
    assert events_of(disturbed) == events_of(plain)


# --- calls -----------------------------------------------------------------------------------


def test_chi_with_a_red_five(tenhou) -> None:
    code = tenhou.chi_code((13, 16, 20), 20)
    document = tenhou.mjlog(tenhou.deal(), "W60", "G20", tenhou.call(0, code), "D0", tenhou.OVER)
    assert only(Chi, document) == [Chi(actor=0, target=3, pai="6m", consumed=("4m", "5mr"))]


def test_pon_from_each_side(tenhou) -> None:
    for source in (1, 2, 3):
        target = (1 + source) % 4
        letters = "TUVW"[target], "DEFG"[target]
        code = tenhou.pon_code(19, 16 + (target > 1), source)
        document = tenhou.mjlog(
            tenhou.deal(), f"{letters[0]}60", f"{letters[1]}60", tenhou.call(1, code), tenhou.OVER
        )
        (pon,) = only(Pon, document)
        assert (pon.actor, pon.target) == (1, target)
        assert sorted((pon.pai, *pon.consumed)) == ["5m", "5m", "5mr"]


def test_kans_name_the_right_tiles(tenhou) -> None:
    daiminkan = tenhou.call(0, tenhou.kan_code(18, 1))
    pon = tenhou.call(3, tenhou.pon_code(52, 54, 1))
    kakan = tenhou.call(3, tenhou.pon_code(52, 54, 1, kakan=True))
    ankan = tenhou.call(2, tenhou.kan_code(88, 0))
    document = tenhou.mjlog(
        tenhou.deal(), "U60", "E18", daiminkan, "T54", "<DORA hai='61'/>", "D54", pon, "G3",
        "T62", "D62", "W52", kakan, "W63", "G63", "V91", ankan, "<DORA hai='62'/>", "V66", "F66",
        tenhou.OVER,
    )  # fmt: skip
    assert only(Daiminkan, document) == [
        Daiminkan(actor=0, target=1, pai="5m", consumed=("5mr", "5m", "5m"))
    ]
    assert only(Kakan, document) == [Kakan(actor=3, pai="5pr", consumed=("5p", "5p", "5p"))]
    assert only(Ankan, document) == [Ankan(actor=2, consumed=("5sr", "5s", "5s", "5s"))]


def test_order_around_each_kan_is_kept(tenhou) -> None:
    ankan = tenhou.call(0, tenhou.kan_code(124, 0))
    document = tenhou.mjlog(
        tenhou.deal(), "T60", ankan, "<DORA hai='1'/>", "T70", "D70", tenhou.OVER
    )
    assert shape(document) == "tsumo ankan dora tsumo dahai ryukyoku"
    open_kan = tenhou.call(1, tenhou.kan_code(0, 3))
    document = tenhou.mjlog(
        tenhou.deal(), "T60", "D0", open_kan, "U70", "<DORA hai='61'/>", "E70", tenhou.OVER
    )
    assert shape(document) == "tsumo dahai daiminkan tsumo dora dahai ryukyoku"
    assert [event.dora_marker for event in only(Dora, document)] == ["7p"]


def test_accepted_riichi_comes_before_the_call_of_its_tile(tenhou) -> None:
    step1, step2 = riichi(0)
    pon = tenhou.call(2, tenhou.pon_code(3, 0, 2))
    document = tenhou.mjlog(tenhou.deal(), "T60", step1, "D0", step2, pon, "F7", "W61", tenhou.OVER)
    assert shape(document) == "tsumo reach dahai reach_accepted pon dahai tsumo ryukyoku"
    assert only(ReachAccepted, document) == [
        ReachAccepted(actor=0, deltas=(-1000, 0, 0, 0), scores=(24000, 25000, 25000, 25000))
    ]


def test_riichi_of_a_record_without_scores(tenhou) -> None:
    tags = ('<REACH who="3" step="1"/>', "G60", '<REACH who="3" step="2"/>')
    (accepted,) = only(ReachAccepted, tenhou.mjlog(tenhou.deal(), "W60", *tags, tenhou.OVER))
    assert accepted == ReachAccepted(actor=3, deltas=(0, 0, 0, -1000))


# --- wins ------------------------------------------------------------------------------------


def test_ron_in_riichi_with_ura(tenhou) -> None:
    win = (
        '<AGARI ba="1,1" hai="1,5,9,13,17,21,36,40,44,88,92,96,100,101" machi="88" '
        'ten="30,7700,0" yaku="1,1,7,1,52,1,54,1,53,0" doraHai="2" doraHaiUra="61" '
        'who="1" fromWho="3" sc="250,0,240,90,250,0,250,-80"/>'
    )
    document = tenhou.mjlog(tenhou.deal(ten="250,240,250,250"), "W88", "G88", win)
    (hora,) = only(Hora, document)
    tiles = "1m 2m 3m 4m 5m 6m 1p 2p 3p 6s 7s 8s 8s"
    assert hora == Hora(
        actor=1, target=3, pai="5sr", uradora_markers=("7p",), hora_tehais=tuple(tiles.split()),
        yakus=(("dora", 1), ("akadora", 1), ("reach", 1), ("pinfu", 1)), fu=30, fan=4,
        hora_points=7700, deltas=(0, 9000, 0, -8000), scores=(25000, 33000, 25000, 17000),
    )  # fmt: skip


def test_draw_win_puts_the_drawn_tile_last_and_joins_the_dragons(tenhou) -> None:
    win = (
        '<AGARI ba="0,0" hai="8,36,40,44,124,125,126,128,129,130,9" machi="8" m="0" '
        'ten="40,8000,1" yaku="18,1,19,1,13,1,34,2" doraHai="2" who="3" fromWho="3" '
        'sc="250,-40,250,-20,250,-20,250,80"/>'
    )
    document = tenhou.mjlog(tenhou.deal(), "W8", win)
    (entry,) = [entry for entry in read_mjlog(document, "game") if entry.win]
    hora = entry.event
    assert isinstance(hora, Hora)
    assert hora.hora_tehais is not None
    assert hora.hora_tehais[-2:] == ("3m", "3m")
    assert len(hora.hora_tehais) == 11
    assert hora.yakus == (("sangenpai", 2), ("jikaze", 1), ("honiso", 2))
    assert (hora.fan, hora.uradora_markers) == (5, ())
    assert entry.win.yaku == ((18, 1), (19, 1), (13, 1), (34, 2))
    assert (entry.win.fu, entry.win.hand_points, entry.win.limit) == (40, 8000, 1)


def test_yakuman_with_a_liable_player(tenhou) -> None:
    win = (
        '<AGARI ba="2,0" hai="0,1,60,61,62" machi="62" m="47723" ten="30,64000,5" '
        'yakuman="39,42" doraHai="2" who="2" fromWho="0" paoWho="1" '
        'sc="250,-320,250,-326,250,646,250,0"/>'
    )
    (entry,) = [e for e in read_mjlog(tenhou.mjlog(tenhou.deal(), win), "game") if e.win]
    assert isinstance(entry.event, Hora)
    assert (entry.event.pao, entry.event.fan) == (1, 200)
    assert entry.event.yakus == (("daisangen", 100), ("tsuiso", 100))
    assert (entry.win.yakuman, entry.win.liable, entry.win.honba) == ((39, 42), 1, 2)


def test_double_ron_ends_the_kyoku_once(tenhou) -> None:
    rest = 'machi="60" ten="30,1000,0" yaku="8,1" doraHai="2" fromWho="0"'
    first = f'<AGARI ba="0,0" hai="60,61" {rest} who="1" sc="250,-10,250,10,250,0,250,0"/>'
    second = (
        f'<AGARI ba="0,0" hai="60,62" {rest} who="3" sc="240,-10,260,0,250,0,250,10" '
        'owari="230,-17.0,260,46.0,250,5.0,260,-4.0"/>'
    )
    document = tenhou.mjlog(tenhou.deal(), "T60", "D60", first, '<PROF who="0"/>', second)
    names = [event.__struct_config__.tag for event in events_of(document)]
    assert names[4:] == ["hora", "hora", "end_kyoku", "end_game"]
    assert [event.scores for event in only(Hora, document)] == [
        (24000, 26000, 25000, 25000),
        (23000, 26000, 25000, 26000),
    ]


# --- draws -----------------------------------------------------------------------------------

SCORES = 'ba="0,0" sc="250,0,250,0,250,0,250,0"'


def drawn(tenhou, attributes: str, *before: str) -> Ryukyoku:
    tags = (tenhou.deal(), *before, f"<RYUUKYOKU {attributes}/>")
    (event,) = only(Ryukyoku, tenhou.mjlog(*tags))
    return event


@pytest.mark.parametrize(("kind", "reason"), [("kaze4", "sufonrenta"), ("kan4", "sukaikan")])
def test_draws_that_show_nothing(tenhou, kind: str, reason: str) -> None:
    event = drawn(tenhou, f'type="{kind}" {SCORES}')
    assert event.reason == reason
    assert event.tehais == (("?",) * 13,) * 4
    assert (event.tenpais, event.actor) == ((False,) * 4, None)


def test_exhaustive_draw_shows_tenpai_and_counts_melds(tenhou) -> None:
    pon = tenhou.call(1, tenhou.pon_code(3, 0, 3))
    scores = 'ba="0,0" sc="250,30,250,-10,250,-10,250,-10"'
    event = drawn(tenhou, f'{scores} hai0="4,8,12"', "T60", "D0", pon)
    assert event.reason == "fanpai"
    assert event.tehais == (("2m", "3m", "4m"), ("?",) * 10, ("?",) * 13, ("?",) * 13)
    assert event.tenpais == (True, False, False, False)
    assert event.deltas == (3000, -1000, -1000, -1000)
    assert event.scores == (28000, 24000, 24000, 24000)


def test_nagashi_mangan_shows_tenpai_too(tenhou) -> None:
    scores = 'ba="4,2" sc="250,-40,250,-20,250,80,250,-20"'
    event = drawn(tenhou, f'type="nm" {scores} hai3="4,8"')
    assert (event.reason, event.tenpais) == ("nagashimangan", (False, False, False, True))
    assert event.scores == (21000, 23000, 33000, 23000)


def test_nine_terminals_shows_the_drawer_who_is_not_tenpai(tenhou) -> None:
    event = drawn(tenhou, f'type="yao9" {SCORES} hai1="0,4,8"', "T60", "D60", "U8")
    assert (event.reason, event.actor) == ("kyushukyuhai", 1)
    assert event.tenpais == (False,) * 4
    assert event.tehais is not None
    assert event.tehais[1] == ("1m", "2m", "3m")


def test_four_riichi_and_triple_ron_show_hands(tenhou) -> None:
    shown = " ".join(f'hai{seat}="{4 * seat}"' for seat in range(4))
    four = drawn(tenhou, f'type="reach4" {SCORES} {shown}')
    assert (four.reason, four.tenpais) == ("suchareach", (True,) * 4)
    three = drawn(tenhou, f'type="ron3" {SCORES} hai0="0" hai2="4" hai3="8"')
    assert (three.reason, three.tenpais) == ("sanchaho", (True, False, True, True))


def test_riichi_without_its_second_step_is_not_accepted(tenhou) -> None:
    document = tenhou.mjlog(tenhou.deal(), "T60", *riichi(0)[:1], "D60", tenhou.OVER)
    assert only(Reach, document) == [Reach(actor=0)]
    assert not only(ReachAccepted, document)
