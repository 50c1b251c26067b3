"""The pages that people follow in an emergency name every setting that they need."""

from __future__ import annotations

import re
from dataclasses import fields

from stepward_cdk.settings.settings import Settings
from tests.infra.sample import PROJECT

PAGE = (PROJECT.root / "docs" / "operations.md").read_text(encoding="utf-8")
TABLES = {each.name for each in fields(Settings) if each.name.endswith("_table")}


def section(title: str) -> str:
    """The text of a section, up to the next one."""
    (found,) = re.findall(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def test_another_region_goes_on_with_every_table_that_has_a_copy_there() -> None:
    """S23, D4: a table that the page forgets begins empty, and what it held is lost."""
    text = section("Replicas in other regions")
    assert {name for name in TABLES if f"`{name}`" in text} == TABLES == {f"{name}_table" for name in COPIED}
    assert "makes orders, tasks, lanes and rejects global tables" in text


COPIED = Settings(orders_table="o-1", tasks_table="t-1", rejects_table="r-1", lanes_table="l-1").restored


def test_the_restore_drill_restores_and_deploys_every_table_with_work_in_it() -> None:
    """S23, D4."""
    text = section("The restore drill")
    for name in TABLES - {"rejects_table"}:
        kind = name.removesuffix("_table")
        assert f"restore <{kind.title()}TableName> {kind}-again" in text
        assert f'`{name} = "{kind}-again"`' in text
    assert text.count("for table in orders-again tasks-again lanes-again; do") == 2
    assert "`rejects_table`" in text
