"""What a partner can do for its ally, weighed in points.

Source: Hamabe 2017, section 2.2, which names seven techniques and builds two, and chapter 6,
which leaves to the future what is done here: each is weighed in points against the danger from
both rivals and against what it does to both allies' placements.
"""
