"""The page of faults, and the tests that carry its rows' numbers, agree."""

from tests.faults_table.rows import marked, rows


def test_the_page_numbers_its_rows_without_a_gap() -> None:
    assert [row.number for row in rows()] == list(range(1, 96))


def test_every_row_has_a_test_that_carries_its_number() -> None:
    covered = marked()
    assert [row.number for row in rows() if row.number not in covered] == []


def test_every_number_that_a_test_carries_is_a_row_of_the_page() -> None:
    numbers = {row.number for row in rows()}
    assert {number: files for number, files in marked().items() if number not in numbers} == {}
