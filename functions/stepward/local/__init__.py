"""Runs a deployment on this machine; never part of a Lambda bundle."""
