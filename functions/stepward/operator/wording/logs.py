"""Where the log lines of an order are: a query, a link that opens it, and commands that run it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import UTC, datetime

HOSTS = {"cn-": "console.amazonaws.cn", "us-gov-": "console.amazonaws-us-gov.com"}
"""The consoles of the partitions that are not AWS's own."""


@dataclass(frozen=True, slots=True)
class Logs:
    """The logs of a stack: in a region of AWS, or of an emulator at `endpoint`."""

    stack: str
    region: str
    endpoint: str = ""

    def link(self, key: str, since: int, until: int) -> str:
        """The page of CloudWatch Logs Insights with the query of an order, for a time (epoch ms); "" on an emulator."""
        if self.endpoint or not self.region:
            return ""
        beginning = next((start for start in HOSTS if self.region.startswith(start)), "")
        host = HOSTS.get(beginning, "console.aws.amazon.com")
        detail = f"~(end~'{_coded(_iso(until))}~start~'{_coded(_iso(since))}~timeType~'ABSOLUTE~tz~'UTC"
        asked = f"{detail}~editorString~'{_coded(query(key))})"
        page = f"https://{self.region}.{host}/cloudwatch/home?region={self.region}"
        return f"{page}#logsV2:logs-insights$3FqueryDetail$3D{asked}"

    def command(self, key: str, since: int, until: int) -> str:
        """The command of the AWS command line that finds the lines, in every function's log."""
        if self.endpoint:
            aws = f"aws --endpoint-url {self.endpoint} --region {self.region} logs"
            groups = f"{aws} describe-log-groups --query 'logGroups[].[logGroupName]' --output text"
            pattern = shlex.quote(f'"{_escaped(key)}"')
            return f"{groups} |\n  xargs -I% {aws} filter-log-events --log-group-name % --filter-pattern {pattern}"
        source = f"SOURCE logGroups(namePrefix: ['{self.stack}-']) | {query(key)}"
        times = f"--start-time {since // 1000} --end-time {until // 1000}"
        return f"aws logs start-query --region {self.region} {times} --query-string {shlex.quote(source)}"


def query(key: str) -> str:
    """The lines of an order, the oldest first, for CloudWatch Logs Insights."""
    return f'fields @timestamp, message, step, attempt, reason | filter task = "{_escaped(key)}" | sort @timestamp'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _iso(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _coded(text: str) -> str:
    """A text as the address of that page has it."""
    return "".join(_sign(each) for each in text)


def _sign(sign: str) -> str:
    if sign.isascii() and (sign.isalnum() or sign in "_.-"):
        return sign
    # It counts in UTF-16, as JavaScript does.
    units = sign.encode("utf-16-be", "surrogatepass")
    codes = [int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2)]
    return "".join(f"*{code:02x}" if code < 256 else f"**{code:04x}" for code in codes)
