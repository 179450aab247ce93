"""The trainings of Mizukami et al. 2013: the hand evaluator, and when to fold."""
