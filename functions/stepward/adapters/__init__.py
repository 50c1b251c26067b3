"""Thin adapters that remember and deliver: each port on AWS, and its in-memory twin."""
