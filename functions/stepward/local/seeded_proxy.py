"""Starts microburst with chances that a seed decides; its own interpreter runs this as a script."""

import random
import sys

from microburst.cli import main

random.seed(int(sys.argv.pop(1)))
sys.exit(main())
