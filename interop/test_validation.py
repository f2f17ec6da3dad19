"""What CI runs of `make validation`: the schedulers that differ by factors, in virtual and in real time."""

from pathlib import Path

from validation import schedulers


def test_the_order_of_schedulers_is_that_of_the_simulation(tmp_path: Path) -> None:
    """One seed of three schedulers without losses: the places come from the simulation, the delays from sockets."""
    virtual, wall = {}, {}
    for name in ("fifo", "rr", "rfc9218"):
        transfer = schedulers.transfer(name, "0 %")
        virtual[name] = schedulers.delay_ms(transfer.simulated(1).delays_s)
        (outcome,) = transfer.real(tmp_path, [1])
        wall[name] = schedulers.delay_ms(outcome.delays_s)
    groups = schedulers.places(virtual)
    assert groups == [["rfc9218"], ["rr"], ["fifo"]]
    assert schedulers.same_order(groups, wall), wall


def test_places_have_ties_and_orders_can_differ() -> None:
    """Judged by hand: 5 % is a tie, 20 % is not, and one that is too slow breaks the order."""
    assert schedulers.places({"c": 200.0, "a": 100.0, "b": 105.0}) == [["a", "b"], ["c"]]
    groups = [["a", "b"], ["c"]]
    assert schedulers.same_order(groups, {"a": 130.0, "b": 90.0, "c": 131.0})
    assert not schedulers.same_order(groups, {"a": 132.0, "b": 90.0, "c": 131.0})
