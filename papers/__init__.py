"""The papers that mjbot's strategies come from: their experiments, networks, trainings and players.

``python -m papers`` lists the experiments (:mod:`papers.experiments`) and the trainings
(:mod:`papers.trainings`).  Nothing that is installed imports from here; a player is named by
module and class, as ``papers.matsuda2021.supervised_paper:SupervisedPaper``.
"""

from typing import Final

PROGRAM: Final = "python -m papers"
"""How commands of the papers begin."""
