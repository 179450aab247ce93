"""Finding two players who play together, in records of games.

The results are no proof: they show which pairs of players did more for each other than independent
players do by chance, and with what certainty.

===================== ==========================================================================
hidden                a discard -> evidence that its player knew another's hand
residuals             a game's discards -> evidence on every two seats, relative to their rivals
verdicts              p-values, e-values and effects in points
games                 records -> all of that for all games, kept so that a run can be resumed
learning              the expectations for unrelated players, and how known pairs differ
live                  the same while tables are played
evidence              the positions that weigh most
report, page          what the operator reads
===================== ==========================================================================
"""
