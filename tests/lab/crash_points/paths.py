"""All paths that are tried; a part of the system that has paths of its own adds them here."""

from tests.lab.crash_points.convoy_paths import CONVOY_PATHS
from tests.lab.crash_points.order_paths import ORDER_PATHS

PATHS = {path.name: path for path in (*ORDER_PATHS, *CONVOY_PATHS)}
