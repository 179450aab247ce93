"""Progress of a command: see :mod:`mjbot.progress`, which rooms below the commands import."""

from mjbot.progress import Step, progress

__all__ = ["Step", "progress"]
