"""What ``make release`` runs: the artifacts of a release, and a check of each of them.

It is not installed; ``PYTHONPATH=.ci python -m release --help`` in a checkout.
"""
