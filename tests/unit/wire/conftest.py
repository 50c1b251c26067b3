"""Hypothesis without a limit on time: a busy machine is not a failure."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
