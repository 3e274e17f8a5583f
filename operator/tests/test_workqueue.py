"""The queue of benchmarks to look at."""

import asyncio

from dbbench.workqueue import Workqueue


async def test_key_added_many_times_is_handed_out_once():
    queue: Workqueue[str] = Workqueue()
    for _ in range(3):
        queue.add("a")
    assert (await queue.get())[0] == "a"
    queue.done("a")
    assert len(queue) == 0


async def test_key_added_while_worked_on_comes_again_but_not_before():
    queue: Workqueue[str] = Workqueue()
    queue.add("a")
    assert (await queue.get())[0] == "a"
    queue.add("a")
    assert len(queue) == 0
    queue.done("a")
    assert (await queue.get())[0] == "a"


async def test_earlier_time_wins():
    queue: Workqueue[str] = Workqueue()
    queue.add("a", delay=3600)
    queue.add("a")
    queue.add("a", delay=3600)
    assert (await queue.get())[0] == "a"
    queue.done("a")
    assert len(queue) == 0


async def test_keys_come_in_the_order_of_their_time():
    queue: Workqueue[str] = Workqueue()
    queue.add("late", delay=0.05)
    queue.add("early")
    assert (await queue.get())[0] == "early"
    assert (await queue.get())[0] == "late"


async def test_waiting_worker_is_woken():
    queue: Workqueue[str] = Workqueue()
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add("a")
    assert (await waiting)[0] == "a"


async def test_a_key_tells_how_long_it_has_been_due():
    queue: Workqueue[str] = Workqueue()
    queue.add("a", delay=-2.0)
    _, late = await queue.get()
    assert late >= 2.0


async def test_a_key_that_is_added_first_comes_before_those_that_wait_longer():
    queue: Workqueue[str] = Workqueue()
    queue.add("old", delay=-2.0)
    queue.add("free", delay=3600)
    queue.add_first("free")
    queue.add_first("free too")
    queue.add("free")
    assert [(await queue.get())[0] for _ in range(3)] == ["free", "free too", "old"]


async def test_a_key_that_is_added_first_while_worked_on_comes_again_first():
    queue: Workqueue[str] = Workqueue()
    queue.add("a")
    assert (await queue.get())[0] == "a"
    queue.add("a", delay=3600)
    queue.add_first("a")
    queue.add("old", delay=-2.0)
    queue.done("a")
    assert (await queue.get())[0] == "a"
