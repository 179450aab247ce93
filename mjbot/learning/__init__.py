"""Models, their training, the environment and the playouts."""
