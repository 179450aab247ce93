"""Learning the networks: records as columns of decisions, the training, how good they are."""
