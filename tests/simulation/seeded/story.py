"""A finding as people read it: what broke, which accidents it takes, what happened, and how to see it again."""

from collections.abc import Iterator

from tests.simulation.seeded.finding import Finding, live

LONGEST = 120


def story(finding: Finding) -> Iterator[str]:
    """The lines of it; the timeline is that of the order concerned."""
    yield f"seed {finding.seed}: {finding.what}"
    yield f"  order {finding.order_id or '(none in particular)'}, {len(finding.accidents)} accidents:"
    yield from (f"    {accident}" for accident in finding.accidents)
    world, _ = live(finding.seed, frozenset(finding.accidents), told=True)
    lines = world.diary.of(finding.order_id)
    left_out = len(lines) - LONGEST
    yield f"  what happened, without the first {left_out} lines:" if left_out > 0 else "  what happened:"
    yield from (f"    {line}" for line in lines[-LONGEST:])
    yield f"  again: make simulate SEED={finding.seed}"
