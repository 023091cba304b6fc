from tests.bench.nodes.measuring_hub import Told


def test_numbers_after_the_mark_are_kept_and_other_output_passes_through() -> None:
    heard: list[str] = []
    told = Told(heard.append)
    for line in (f"{told.mark} 41", "mounting", "", f"{told.mark} 250000"):
        told.hear(line)
    assert (told.numbers, heard) == ([41, 250000], ["mounting", ""])


def test_a_last_line_without_an_end_is_not_lost() -> None:
    heard: list[str] = []
    told = Told(heard.append)
    told.hear(f"done{told.mark} 7")
    assert (told.numbers, heard) == ([7], ["done"])
