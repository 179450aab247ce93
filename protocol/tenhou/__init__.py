"""Tenhou: tile ids and call codes, which its records and its wire share."""
