"""The function that applies order events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from stepward.adapters.lambda_groups import GroupWorker
from stepward.adapters.sqs_visibility import SqsVisibility
from stepward.app.convoy import Convoy
from stepward.app.effects import Effects
from stepward.app.lane_intake import LaneIntake
from stepward.app.trail import Trail
from stepward.config import Config
from stepward.domain.workflow import Workflow
from stepward.wire.lane import decode_for_lane
from stepward.wire.order import OrderMessage
from stepward.wire.order_event import EventMessage, Source, kept_event
from stepward.wiring.clock import now
from stepward.wiring.lanes import lanes_of, telling_of
from stepward.wiring.parts import Parts
from stepward.wiring.submitting import submit
from stepward.wiring.tasks import store_of, transition_of


def convoy(
    env: Mapping[str, str],
    workflow: Workflow,
    schema: type[OrderMessage],
    event_schema: type[EventMessage],
    sources: Sequence[Source],
) -> GroupWorker:
    """Applies order events of `event_schema`; a create submits an order message of `schema`."""
    parts = Parts(Config(env))
    config, lanes = parts.config, lanes_of(parts)
    store, queues = store_of(parts, config.orders_table), parts.queues(scheduler=config.scheduler_queue)
    transition = replace(transition_of(parts, "convoy", store, queues), claims=False)
    applied = Convoy(
        lanes=lanes,
        effects=Effects(submit(parts, store, queues, workflow, schema), transition),
        rejects=parts.rejects(),
        telling=telling_of(parts, lanes),
        trail=Trail(parts.controls()),
        telemetry=parts.telemetry,
        rules=config.lane_rules,
        decode=partial(kept_event, schema=event_schema),
        now=now,
    )
    decode = partial(decode_for_lane, schema=event_schema, sources=sources)
    intake = LaneIntake(applied, decode, parts.rejects(), parts.telemetry)
    visibility = SqsVisibility(queues.client, config.lanes_queue)
    return GroupWorker(intake.take, parts.telemetry, visibility, together=True)
