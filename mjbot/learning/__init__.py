"""What is learned from records: positions, features, training, and the weights that ship."""
