"""Speed against other packages: ``python -m bench NAME [--json]``, one module per NAME."""
