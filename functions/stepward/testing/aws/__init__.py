"""The real handlers on moto: the same tests, where access to AWS itself matters. Needs moto and time-machine."""
