"""Bots packed for mjai.app: what goes into the zip, and what runs when it is unpacked."""
