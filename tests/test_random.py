"""Generators are derived by name: one more consumer changes nobody else's numbers."""

from leastwise.random import generator


def test_the_same_name_and_seed_give_the_same_numbers() -> None:
    assert (
        generator(1, "A1", "sex").integers(0, 1 << 30, 5).tolist()
        == generator(1, "A1", "sex").integers(0, 1 << 30, 5).tolist()
    )


def test_names_and_seeds_are_independent() -> None:
    drawn = {
        tuple(generator(seed, *names).random(3)) for seed in (0, 1) for names in (("A1",), ("A2",), ("A1", "x"))
    }
    assert len(drawn) == 6
