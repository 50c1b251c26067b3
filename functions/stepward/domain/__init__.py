"""The core that decides: frozen values and pure functions, standard library only."""
