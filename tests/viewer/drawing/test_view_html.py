"""What a notebook shows of a view: its board, with nothing that the seat does not see."""

import base64
import re
from xml.etree import ElementTree

from mjbot import View, recorded_view, view_svg
from mjbot.game.table.view import Sealed
from mjbot.protocol.tiles import TILE_NAMES
from mjbot.runtime.languages import using_language
from mjbot.viewer.drawing.board_data import board_of
from mjbot.viewer.drawing.picture import picture

LOG = "logs/hanchan-thirteen-kyoku.mjson"


def test_a_view_shows_its_own_hand_below_and_backs_elsewhere(request):
    view = recorded_view(request.config.rootpath / LOG, "S2-0:2", 2)
    drawing = ElementTree.fromstring(view_svg(view, ["a", "b", "c", "d"]))
    shown = {
        side: [
            use.get("href").removeprefix("#t")
            for use in drawing.iterfind(f".//*[@id='hand{side}']//")
            if use.get("href")
        ]
        for side in range(4)
    }
    assert sorted(shown[0]) == sorted(TILE_NAMES[tile] for tile in view.tiles)
    assert all(set(shown[side]) == {"?"} for side in (1, 2, 3))
    names = [element.text for element in drawing.iter() if element.get("class") == "name"]
    assert names == ["c", "d", "a", "b"]


def test_the_picture_is_that_of_the_board(request):
    view = recorded_view(request.config.rootpath / LOG, "E2-0:3", 1)
    board = board_of(view.state, [1])
    assert view_svg(view, "abcd", index=True) == picture(board, "abcd", 1, [1], index=True)


def test_a_notebook_gets_an_image_that_needs_nothing_else(request):
    view = recorded_view(request.config.rootpath / LOG, "E2-0:3", 1)
    html = view._repr_html_()
    data = re.fullmatch(r'<img [^>]*src="data:image/svg\+xml;base64,([\w+/=]+)">', html)[1]
    assert base64.b64decode(data).decode() == view_svg(view)
    sealed = Sealed().view(View(view.state, 1))
    assert sealed._repr_html_() == html


def test_its_text_names_seat_and_moment(request):
    view = recorded_view(request.config.rootpath / LOG, "S2-0:2", 2)
    assert repr(view) == f"<View of seat 2 in S2-0, {view.wall_left} tiles left>"


def test_an_image_names_its_language_by_which_browsers_choose_the_forms_of_han(request):
    view = recorded_view(request.config.rootpath / LOG, "E2-0:3", 1)
    for name, title in (("en", "board"), ("ja", "\u5353"), ("zh-Hant", "\u724c\u684c")):
        with using_language(name):
            html = view._repr_html_()
        data = base64.b64decode(re.search('base64,([^"]+)', html)[1])
        lang = ElementTree.fromstring(data).get("{http://www.w3.org/XML/1998/namespace}lang")
        assert (lang, re.search('alt="([^"]+)"', html)[1]) == (name, title)
