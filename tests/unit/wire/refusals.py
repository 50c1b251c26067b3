"""What is refused, and why."""

from collections.abc import Callable

import pytest

from stepward.domain.errors import Rejected


def refused(read: Callable[..., object], *given: object) -> Rejected:
    """The refusal with which a call ends."""
    with pytest.raises(Rejected) as caught:
        read(*given)
    return caught.value
