"""Thin adapters that store and deliver: each port on AWS."""
