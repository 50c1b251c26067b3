"""O3: from an order to its lines in the logs."""

import re
import shlex

from stepward.operator.wording.logs import Logs, query

KEY = 'ord-1~"äöü"😀'


def unescaped(text: str) -> str:
    """What the page of CloudWatch reads: the reverse of its own escapes, in UTF-16."""
    sign = re.compile(r"\*\*([0-9a-f]{4})|\*([0-9a-f]{2})")
    found = sign.sub(lambda match: chr(int(match[1] or match[2], 16)), text)
    return found.encode("utf-16", "surrogatepass").decode("utf-16")


def test_the_link_opens_the_query_for_the_time_of_the_order() -> None:
    link = Logs("shop-prod", "eu-west-1").link(KEY, 1_764_320_400_000, 1_764_324_000_000)
    page, _, detail = link.partition("#logsV2:logs-insights$3FqueryDetail$3D")
    assert page == "https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1"
    texts = dict(re.findall(r"[~(]([a-zA-Z]+)~'([^~)]*)", detail))
    assert unescaped(texts["editorString"]) == query(KEY)
    assert unescaped(texts["start"]) == "2025-11-28T09:00:00.000Z"
    assert unescaped(texts["end"]) == "2025-11-28T10:00:00.000Z"
    assert re.fullmatch(r"[ -~]*", link)


def test_an_emulator_has_a_command_and_no_link() -> None:
    logs = Logs("shop", "us-east-1", "http://127.0.0.1:4566")
    assert logs.link(KEY, 0, 1) == ""
    command = logs.command(KEY, 0, 1)
    assert shlex.split(command)[-1] == '"ord-1~\\"äöü\\"😀"'
    assert "--endpoint-url http://127.0.0.1:4566" in command


def test_the_command_looks_in_the_groups_of_the_stack() -> None:
    words = shlex.split(Logs("shop", "eu-west-1").command("ord-1", 60_000, 120_000))
    assert words[-1] == f"SOURCE logGroups(namePrefix: ['shop-']) | {query('ord-1')}"
    assert words[5:9] == ["--start-time", "60", "--end-time", "120"]
