"""The rules of riichi mahjong as pure, compiled functions."""
