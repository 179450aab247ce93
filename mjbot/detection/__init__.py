"""Finding two players who play together, in records of games.

Nothing here proves anything: it says which pairs of players did more for each other than players
who play for themselves do by chance, and how sure that is.

===================== ==========================================================================
hidden                a discard -> what it says of whether its player knew another's hand
residuals             a game's discards -> what they say of every two seats, beside their rivals
verdicts              p-values, e-values and effects in points
games                 records -> all of that for all games, kept so that a long run goes on
learning              what is to be expected of strangers, and how known pairs depart from it
live                  the same while tables are played
evidence              the positions that weigh most
report, page          what the operator reads
===================== ==========================================================================
"""
