"""How near a hand is to each of eight yaku: yaku-evaluation, and the partners that read it."""
