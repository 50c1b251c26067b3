"""The composition root: a module for each function, which chooses its adapters and no others.

Each imports its use cases, too, so that Lambda loads them before the first event comes.
"""
