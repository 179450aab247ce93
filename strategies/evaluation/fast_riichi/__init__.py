"""What fast-riichi-a .. -d are put together from."""
