"""Starts microburst with seeded random numbers; microburst's own interpreter runs this file as a script."""

import random
import sys

from microburst.cli import main

random.seed(int(sys.argv.pop(1)))
sys.exit(main())
