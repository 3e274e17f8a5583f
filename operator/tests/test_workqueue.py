"""The queue of benchmarks to look at."""

import asyncio

from dbbench.workqueue import Workqueue


async def test_key_added_many_times_is_handed_out_once():
    queue: Workqueue[str] = Workqueue()
    for _ in range(3):
        queue.add("a")
    assert await queue.get() == "a"
    queue.done("a")
    assert len(queue) == 0


async def test_key_added_while_worked_on_comes_again_but_not_before():
    queue: Workqueue[str] = Workqueue()
    queue.add("a")
    assert await queue.get() == "a"
    queue.add("a")
    assert len(queue) == 0
    queue.done("a")
    assert await queue.get() == "a"


async def test_earlier_time_wins():
    queue: Workqueue[str] = Workqueue()
    queue.add("a", delay=3600)
    queue.add("a")
    queue.add("a", delay=3600)
    assert await queue.get() == "a"
    queue.done("a")
    assert len(queue) == 0


async def test_keys_come_in_the_order_of_their_time():
    queue: Workqueue[str] = Workqueue()
    queue.add("late", delay=0.05)
    queue.add("early")
    assert await queue.get() == "early"
    assert await queue.get() == "late"


async def test_waiting_worker_is_woken():
    queue: Workqueue[str] = Workqueue()
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add("a")
    assert await waiting == "a"
