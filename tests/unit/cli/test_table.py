"""Tables for people."""

from cli.table import table


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert table(("GROUP", "NODES"), [("compute-nodes", "4 of 4"), ("login", "1 of 1")]) == (
        "GROUP          NODES\ncompute-nodes  4 of 4\nlogin          1 of 1"
    )


def test_a_table_without_rows_is_its_head() -> None:
    assert table(("A", "B"), []) == "A  B"
