"""The first start: what is compiled before a game begins, and what is printed meanwhile."""
