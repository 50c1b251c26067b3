"""The console: pages for operators, served on this machine only; never part of a Lambda bundle."""
