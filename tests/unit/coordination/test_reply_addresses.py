"""S19: the Scheduler posts only to queues that the settings of the deployment allow; field case 76."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepward.config import Config
from stepward.domain.errors import Misconfigured, Rejected
from stepward.domain.messages.reply_queues import Allowed, ReplyAddress, check

ACCOUNT = "111122223333"
ENDPOINT = "http://127.0.0.1:4566"
ALLOWED = Allowed(
    accounts=frozenset({ACCOUNT}),
    regions=frozenset({"us-east-1", "cn-north-1", "us-gov-west-1"}),
    prefixes=("replies-", "shop"),
    own_prefix="replies-to-us-",
)
AT_EMULATOR = replace(ALLOWED, endpoint=ENDPOINT)
URL = f"https://sqs.us-east-1.amazonaws.com/{ACCOUNT}/replies-shop-a"
ARN = f"arn:aws:sqs:us-east-1:{ACCOUNT}:replies-shop-a"


def test_a_url_and_an_arn_of_one_queue_are_one_address() -> None:
    assert check(URL, ALLOWED) == check(ARN, ALLOWED) == ReplyAddress(URL, fifo=False, region="us-east-1")


def test_a_fifo_queue_is_known_by_its_name() -> None:
    assert check(f"{URL}.fifo", ALLOWED) == ReplyAddress(f"{URL}.fifo", fifo=True, region="us-east-1")


@pytest.mark.parametrize(
    ("arn", "url"),
    [
        (f"arn:aws-cn:sqs:cn-north-1:{ACCOUNT}:shop", f"https://sqs.cn-north-1.amazonaws.com.cn/{ACCOUNT}/shop"),
        (f"arn:aws-us-gov:sqs:us-gov-west-1:{ACCOUNT}:shop", f"https://sqs.us-gov-west-1.amazonaws.com/{ACCOUNT}/shop"),
    ],
)
def test_the_other_partitions_have_names_of_their_own(arn: str, url: str) -> None:
    assert check(arn, ALLOWED) == check(url, ALLOWED) == ReplyAddress(url, fifo=False, region=url.split(".")[1])


FULLWIDTH_ONE = "\N{FULLWIDTH DIGIT ONE}"
IN_URL = {
    "https://": ["http://", "HTTPS://", "//", "https:/"],
    "/replies": ["//replies", "/../replies", "\\replies", "/%72eplies"],
    "/1111": ["\\@evil.example/1111"],
    "sqs.": ["user@sqs.", "sqs.us-east-1.amazonaws.com:pw@evil.example/sqs.", "evil.sqs.", "sqs-fips.", "sqsx", ""],
    ".com": [".com:443", ".com:", ".com.", ".com.evil.example", ".com.cn", ".co", ".com@evil.example"],
    "amazonaws": ["amaz0naws", "Amazonaws", "amazonaws\N{CYRILLIC SMALL LETTER ES}"],
    "sqs.us": ["xn--sqs-.us"],
    "sqs.us-east-1.": ["evil.example/sqs.us-east-1.", "sqs.", "queue.", "us-east-1.queue."],
    "sqs.us-east-1.amazonaws.com": ["127.0.0.1", "169.254.169.254"],
    "us-east-1": [f"us-east-{FULLWIDTH_ONE}"],
    ACCOUNT: [FULLWIDTH_ONE * 12, "11112222333\N{ARABIC-INDIC DIGIT THREE}", "1111-2222-3333", f"{ACCOUNT}0"],
}
IN_ARN = {"arn:": "ARN:", "aws": "aws-cn", "sqs": "sns", "us-east-1": "", ":replies": "::replies", "replies-": "*"}
BEHIND_URL = " ", "\n", "/", "/more", "?Action=SendMessage", "#part", ";x", "%2e", ".FIFO", ".fifo.fifo", ".other"


@pytest.mark.parametrize(
    "text",
    [
        *("", "replies-shop-a", f" {URL}", f"{ARN}:more", f"{ARN}\n", f"{ENDPOINT}/{ACCOUNT}/replies-shop-a"),
        *(f"{URL}{more}" for more in BEHIND_URL),
        *(URL.replace(part, wrong) for part, found in IN_URL.items() for wrong in found),
        *(ARN.replace(part, wrong) for part, wrong in IN_ARN.items()),
    ],
)
def test_what_is_not_exactly_the_address_of_a_queue_is_refused(text: str) -> None:
    with pytest.raises(Rejected, match=r"neither the URL .* nor the ARN") as caught:
        check(text, ALLOWED)
    assert caught.value.field == "replyTo"


@pytest.mark.parametrize("form", [URL, ARN])
@pytest.mark.parametrize(
    ("part", "other", "reason"),
    [
        ("us-east-1", "us-east-2", "us-east-2, which is not an allowed region"),
        (ACCOUNT, "111122223334", "account 111122223334, which is not allowed"),
        ("replies-shop-a", "orders", "'orders', which begins with none of the allowed prefixes"),
        ("replies-shop-a", "Replies-shop-a", "'Replies-shop-a', which begins with none"),
        ("replies-shop-a", "my-replies-shop-a", "'my-replies-shop-a', which begins with none"),
        ("replies-shop-a", "replies-to-us-Scheduler-X1", "a queue of this deployment itself"),
        ("replies-shop-a", "replies-" + "a" * 68 + ".fifo", "a queue of 81 characters; SQS allows 80"),
    ],
)
def test_a_queue_that_is_not_allowed_is_refused_with_the_part_that_is_wrong(
    form: str, part: str, other: str, reason: str
) -> None:
    with pytest.raises(Rejected, match=reason):
        check(form.replace(part, other), ALLOWED)


@pytest.mark.parametrize(
    "nothing",
    [Allowed(), Allowed(endpoint=ENDPOINT)]
    + [replace(ALLOWED, **{part: type(getattr(ALLOWED, part))()}) for part in ("accounts", "regions", "prefixes")],
)
@pytest.mark.parametrize("text", [URL, f"{ENDPOINT}/{ACCOUNT}/replies-shop-a"])
def test_a_deployment_that_leaves_a_part_open_allows_no_queue(nothing: Allowed, text: str) -> None:
    with pytest.raises(Rejected, match="allows no reply queues"):
        check(text, nothing)


def test_an_emulator_is_one_more_address_and_takes_the_arns() -> None:
    url = f"{ENDPOINT}/{ACCOUNT}/replies-shop-a.fifo"
    assert check(url, AT_EMULATOR) == ReplyAddress(url, fifo=True, region="")
    assert check(f"{ARN}.fifo", AT_EMULATOR) == ReplyAddress(url, fifo=True, region="us-east-1")
    assert check(URL, AT_EMULATOR) == check(URL, ALLOWED)


OTHER_HOSTS = [
    *(f"http://127.0.0.1:{port}" for port in ("45667", "456", "4566@evil.example", "4566.evil.example", "4566/queue")),
    "http://localhost:4566",
    "https://127.0.0.1:4566",
]


@pytest.mark.parametrize(
    "text",
    [
        *(f"{host}/{ACCOUNT}/replies-shop-a" for host in OTHER_HOSTS),
        f"{ENDPOINT}/000000000000/replies-shop-a",
        f"{ENDPOINT}/{ACCOUNT}/orders",
        f"{ENDPOINT}/{ACCOUNT}/replies-to-us-1",
    ],
)
def test_at_an_emulator_the_rest_is_as_strict(text: str) -> None:
    with pytest.raises(Rejected):
        check(text, AT_EMULATOR)


NO_ENDPOINTS = "http://127.0.0.1", f"{ENDPOINT}/", "http://me@127.0.0.1:4566", "127.0.0.1:4566"
WRONG: list[dict[str, Any]] = [{"prefixes": ("replies-", "")}, {"accounts": frozenset({"1111-2222-3333"})}]


@pytest.mark.parametrize("wrong", [*({"endpoint": each} for each in NO_ENDPOINTS), *WRONG])
def test_a_setting_that_would_allow_the_wrong_thing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Misconfigured, match="STEPWARD_REPLY_"):
        Allowed(**wrong)


ENV = {
    "STEPWARD_REPLY_ACCOUNTS": "111122223333, 444455556666",
    "STEPWARD_REPLY_REGIONS": "us-east-1",
    "STEPWARD_REPLY_PREFIXES": "replies-,,shop-",
    "STEPWARD_OWN_PREFIX": "stepward-",
}


def test_accounts_regions_and_prefixes_are_lists_with_commas() -> None:
    """S19."""
    assert Config(ENV).reply_queues == Allowed(
        frozenset({"111122223333", "444455556666"}), frozenset({"us-east-1"}), ("replies-", "shop-"), "stepward-"
    )


@pytest.mark.parametrize("env", [{}, ENV | {"STEPWARD_REPLY_ACCOUNTS": " , "}])
def test_without_accounts_no_reply_queue_is_allowed(env: dict[str, str]) -> None:
    """S19."""
    assert Config(env).reply_queues == Allowed()


def test_a_deployment_that_does_not_know_its_own_queues_allows_none() -> None:
    """It could not know its own queues from a submitter's."""
    with pytest.raises(Misconfigured, match="STEPWARD_OWN_PREFIX is not set"):
        _ = Config({**ENV, "STEPWARD_OWN_PREFIX": ""}).reply_queues


def test_no_agent_has_a_priority_queue_unless_the_deployment_says_so() -> None:
    """S21."""
    assert Config({}).agent_priority_queues == {}
    given = {"STEPWARD_SCHEDULER_QUEUE": "http://sqs/1/scheduler-X", "STEPWARD_AGENT_PREFIX": "shop-agent-"}
    config = Config({**given, "STEPWARD_AGENTS": "bank,payments", "STEPWARD_PRIORITY_AGENTS": "payments"})
    assert config.agent_queues == {name: f"http://sqs/1/shop-agent-{name}" for name in ("bank", "payments")}
    assert config.agent_priority_queues == {"payments": "http://sqs/1/shop-agent-payments-high"}


def test_a_function_that_is_not_told_its_agents_does_not_take_them_for_gone() -> None:
    """D1: between an update of its code and one of its variables, it waits."""
    with pytest.raises(Misconfigured, match="STEPWARD_AGENTS is not set"):
        _ = Config({"STEPWARD_SCHEDULER_QUEUE": "http://sqs/1/x", "STEPWARD_AGENT_PREFIX": "a-"}).agent_queues


PIECES = st.sampled_from(
    [
        "https://", "http://", "sqs.", "us-east-1", "us-east-2", "cn-north-1", ".", ".amazonaws.com", ".cn", "queue",
        "/", "//", "\\", ":", "@", "?", "#", "%2f", "..", ACCOUNT, "999999999999", "replies-", "replies-to-us-", "shop",
        "a", ".fifo", "arn:", "aws", "aws-cn", ":sqs:", "evil.example", ENDPOINT, "\n", " ", "\u0131", "\u3002",
    ]
)  # fmt: skip
VALID = st.sampled_from(
    [URL, ARN, f"{URL}.fifo", f"{ENDPOINT}/{ACCOUNT}/shop", f"arn:aws-cn:sqs:cn-north-1:{ACCOUNT}:shop"]
)


@st.composite
def almost_addresses(draw: st.DrawFn) -> str:
    """An address with a few pieces put in, taken out, or in place of others."""
    text = draw(VALID)
    for _ in range(draw(st.integers(0, 3))):
        begin = draw(st.integers(0, len(text)))
        end = draw(st.integers(begin, min(len(text), begin + 12)))
        text = text[:begin] + draw(st.one_of(st.just(""), PIECES, st.text(max_size=3))) + text[end:]
    return text


@given(st.one_of(almost_addresses(), st.lists(PIECES, max_size=8).map("".join)))
def test_whatever_is_accepted_is_a_queue_of_an_allowed_host_account_and_name(text: str) -> None:
    """S19: read again by another parser."""
    try:
        address = check(text, AT_EMULATOR)
    except Rejected:
        return
    parts = urlsplit(address.url)
    hosts = "us-east-1.amazonaws.com", "cn-north-1.amazonaws.com.cn", "us-gov-west-1.amazonaws.com"
    assert f"{parts.scheme}://{parts.netloc}" in {ENDPOINT, *(f"https://sqs.{host}" for host in hosts)}
    root, account, name = parts.path.split("/")
    assert (root, account, parts.query, parts.fragment) == ("", ACCOUNT, "", "")
    assert name.startswith(ALLOWED.prefixes)
    assert not name.startswith(ALLOWED.own_prefix)
    assert set(name.removesuffix(".fifo")) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    assert address.fifo is name.endswith(".fifo")
    assert text == address.url or text.split(":")[3:] == [text.split(":")[3], account, name]


@given(VALID)
def test_an_accepted_address_is_accepted_again_as_it_was_stored(text: str) -> None:
    """It is checked at submission, and again right before each call."""
    url = check(text, AT_EMULATOR).url
    assert check(url, AT_EMULATOR).url == url
