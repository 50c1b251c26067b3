"""The checks of a deployed stack and its account; none of them changes anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from stepward.cli.verify.deployed import Deployed, Finding

Check = Callable[[Deployed, int], Finding]
SWEPT_WITHIN = timedelta(minutes=15)
MOST_LISTED = 5
GONE = frozenset({"NoSuchEntity", "NotFound"})
CONFIRM = "open the mail of AWS and confirm it, or subscribe again if two days have passed"


def findings(deployed: Deployed, now: int) -> Iterator[Finding]:
    """What each check finds at `now` (epoch ms); one that may not look finds that."""
    for check in CHECKS:
        name = check.__name__.removeprefix("_").replace("_", " ")
        try:
            yield check(deployed, now)
        except (ClientError, BotoCoreError) as error:
            yield Finding(name, good=False, says=f"cannot be looked at: {error}; {_way_out(error)}, and verify again")


def _way_out(error: Exception) -> str:
    """What is gone, nobody can allow; an unchanged template does not bring it back either."""
    code = error.response["Error"].get("Code", "") if isinstance(error, ClientError) else ""
    gone = code in GONE or code.endswith("NotFoundException")
    return "somebody removed it beside the stack: make it again under its name" if gone else "allow it"


def _found(check: str, says: str, mend: str, *, good: bool) -> Finding:
    """What was found; with `mend` unless it is good."""
    return Finding(check, good=good, says=says if good else f"{says}; {mend}")


def _functions(deployed: Deployed, _: int) -> Finding:
    code = Counter(it["CodeSha256"] for it in deployed.functions)
    usual = max(code, key=lambda it: code[it], default="")
    other = [it["FunctionName"] for it in deployed.functions if it["CodeSha256"] != usual]
    bad = [it["FunctionName"] for it in deployed.functions if it.get("LastUpdateStatus", "Successful") != "Successful"]
    if bad or len(code) != 1:
        says = f"{len(code)} versions of the code, other code: {_listed(other)}, not updated: {_listed(bad)}"
        return _found("functions", says, "wait for the deployment to end, or deploy again", good=False)
    says = f"{len(deployed.functions)} run the same code: {deployed.stack.template.get('Description', '')}"
    return Finding("functions", good=True, says=says)


def _sources(deployed: Deployed, _: int) -> Finding:
    wanted = len(deployed.stack.of("AWS::Lambda::EventSourceMapping"))
    off = [it["EventSourceArn"].rpartition(":")[2] for it in deployed.sources if it["State"] != "Enabled"]
    says = f"functions take from {len(deployed.sources)} of {wanted} queues, disabled: {_listed(off)}"
    mend = "enable them with `aws lambda update-event-source-mapping --enabled`, or make again what is gone"
    return _found("sources", says, mend, good=not off and len(deployed.sources) == wanted)


def _concurrency(deployed: Deployed, _: int) -> Finding:
    client, names = deployed.account.client("lambda"), [it["FunctionName"] for it in deployed.functions]
    reserved = {name: client.get_function_concurrency(FunctionName=name) for name in names}
    if stopped := [name for name, it in reserved.items() if it.get("ReservedConcurrentExecutions") == 0]:
        mend = "let them run with `aws lambda delete-function-concurrency`"
        return _found("concurrency", f"none may run of {_listed(stopped)}", mend, good=False)
    limits = client.get_account_settings()["AccountLimit"]
    return room(limits["UnreservedConcurrentExecutions"], deployed.sources)


def room(limit: int, sources: Sequence[Mapping[str, Any]]) -> Finding:
    """Whether `limit`, which no function reserves, holds all that the stack may run at once, and the Supervisor."""
    takes = 1 + sum(it.get("ScalingConfig", {}).get("MaximumConcurrency", limit) for it in sources)
    mend = "raise the account's limit, or lower engine_concurrency and max_concurrency"
    return _found("concurrency", f"the stack may run {takes} at once of {limit}", mend, good=takes <= limit)


def _rights(deployed: Deployed, _: int) -> Finding:
    iam, denied, asked = deployed.account.client("iam"), set(), 0
    arns = {it["Role"].rpartition("/")[2]: it["Role"] for it in deployed.functions}
    for policy in deployed.stack.of("AWS::IAM::Policy").values():
        for role in {deployed.ids[it["Ref"]] for it in policy["Properties"]["Roles"]} & set(arns):
            found = iam.get_role_policy(RoleName=role, PolicyName=policy["Properties"]["PolicyName"])["PolicyDocument"]
            gone = Counter(_actions(policy["Properties"]["PolicyDocument"])) - Counter(_actions(found))
            denied |= {f"{role}: {action}, taken away" for action in gone}
            for statement in found["Statement"]:
                asked += 1
                denied |= {f"{role}: {it}" for it in _denied(iam, arns[role], statement)}
    says = f"{asked} statements asked, denied: {_listed(sorted(denied))}"
    mend = "give back what was taken away; look for who denies the rest: another policy, a boundary, the organisation"
    return _found("rights", says, mend, good=not denied)


def _actions(document: Mapping[str, Any]) -> Iterator[str]:
    for statement in document["Statement"]:
        yield from _several(statement["Action"])


def _several(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _denied(iam: Any, role: str, statement: Mapping[str, Any]) -> Iterator[str]:
    actions, resources = _several(statement["Action"]), _several(statement["Resource"])
    answer = iam.simulate_principal_policy(PolicySourceArn=role, ActionNames=actions, ResourceArns=resources)
    for result in answer["EvaluationResults"]:
        if result["EvalDecision"] != "allowed":
            yield f"{result['EvalActionName']} on {result.get('EvalResourceName', '*')}"


def _schedule(deployed: Deployed, _: int) -> Finding:
    events = deployed.account.client("events")
    names = [deployed.ids[it].rpartition("|")[2] for it in deployed.stack.of("AWS::Events::Rule")]
    rules = [events.describe_rule(Name=name) for name in names]
    off = [it["Name"] for it in rules if it["State"] != "ENABLED"]
    idle = [name for name in names if not events.list_targets_by_rule(Rule=name)["Targets"]]
    at = _listed(it.get("ScheduleExpression", "") for it in rules)
    says = f"the Supervisor is woken at {at}, off: {_listed(off)}, without a target: {_listed(idle)}"
    mend = "enable it with `aws events enable-rule --name`, or give it its target: the Supervisor's function"
    return _found("schedule", says, mend, good=bool(rules) and not (off or idle))


def _alarms(deployed: Deployed, _: int) -> Finding:
    pages = deployed.account.client("cloudwatch").get_paginator("describe_alarms")
    found = [it for page in pages.paginate(AlarmNamePrefix=f"{deployed.name}/") for it in page["MetricAlarms"]]
    raised = [it["AlarmName"] for it in found if it["StateValue"] == "ALARM"]
    silent = [it["AlarmName"] for it in found if not (it.get("ActionsEnabled", True) and it.get("AlarmActions"))]
    wanted = len(deployed.stack.of("AWS::CloudWatch::Alarm"))
    says = f"{len(found)} of {wanted} are there, raised: {_listed(raised)}, silenced: {_listed(silent)}"
    mend = "what is raised says what to do; let a silent one speak: `enable-alarm-actions`; make again what is gone"
    return _found("alarms", says, mend, good=not (raised or silent) and len(found) == wanted)


def _subscriptions(deployed: Deployed, _: int) -> Finding:
    sns = deployed.account.client("sns")
    pages = sns.get_paginator("list_subscriptions_by_topic")
    heard = {
        name: [
            it
            for page in pages.paginate(TopicArn=deployed.outputs[name])
            for it in page["Subscriptions"]
            if it["SubscriptionArn"] != "Deleted"  # it has ended, and may be listed still
        ]
        for name in ("AlertsTopicArn", "PagesTopicArn")
    }
    found = [it for each in heard.values() for it in each]
    waiting = [it["Endpoint"] for it in found if _waits(sns, it["SubscriptionArn"])]
    unheard = [name for name, each in heard.items() if not each]
    needed = deployed.stack.settings.get("environment") == "prod"
    says = f"{len(found)}, not confirmed: {_listed(waiting)}, nobody hears: {_listed(unheard)}"
    mend = CONFIRM if waiting else "name alert_email in the file of settings and deploy, or subscribe somebody"
    return _found("subscriptions", says, mend, good=not (waiting or (needed and unheard)))


def _waits(sns: Any, arn: str) -> bool:
    """Whether nobody has confirmed it: on AWS it has no ARN, an emulator says it in the attributes."""
    if not arn.startswith("arn:"):
        return True
    found = sns.get_subscription_attributes(SubscriptionArn=arn)["Attributes"]
    return bool(found.get("PendingConfirmation") == "true")


def _metrics(deployed: Deployed, now: int) -> Finding:
    if deployed.is_emulated:
        return Finding("metrics", good=None, says="no emulator makes metrics of what functions write")
    end = datetime.fromtimestamp(now / 1000, UTC)
    points = deployed.account.client("cloudwatch").get_metric_statistics(
        Namespace="Stepward",
        MetricName="Swept",
        Dimensions=[{"Name": "service", "Value": deployed.name}],
        StartTime=end - SWEPT_WITHIN,
        EndTime=end,
        Period=60,
        Statistics=["Sum"],
    )["Datapoints"]
    says = f"Swept came for {len(points)} of the last {SWEPT_WITHIN // timedelta(minutes=1)} minutes"
    return _found("metrics", says, "look at the schedule, and at the Supervisor's log", good=bool(points))


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - MOST_LISTED} more" if len(every) > MOST_LISTED else ""
    return ", ".join(every[:MOST_LISTED]) + more or "none"


CHECKS: Sequence[Check] = (
    _functions,
    _sources,
    _concurrency,
    _rights,
    _schedule,
    _alarms,
    _subscriptions,
    _metrics,
)
