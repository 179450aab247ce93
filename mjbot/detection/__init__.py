"""Finding two players who play together, in records of games.

Nothing here proves anything: it says which pairs of players did more for each other than players
who play for themselves do by chance, and how sure that is.

===================== ==========================================================================
detectors             what is counted, and what each count says in words
counting              one game -> counts of each detector by who acts and for whom
games                 records -> counts of all games, kept so that a long run goes on
pairs                 counts -> what each pair did beyond what its players do with everybody
hidden                the test against the partner's real concealed hand
verdicts              weights, p-values and effects in points
learning              weights from known pairs
report, page          what the operator reads
===================== ==========================================================================
"""
