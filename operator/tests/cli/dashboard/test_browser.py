"""The dashboard as a reader has it: in a real Chromium, while benchmarks run and when it fails."""

import pytest

from dbbench.cli.dashboard.connection import Connection
from dbbench.cli.dashboard.server import Server
from dbbench.cli.where import Where
from tests.cli.dashboard.chromium import REBOUND
from tests.cli.dashboard.conftest import GROUP, HOSTILE

# WCAG 2, 1.4.3: 4.5 to 1 for text of this size, measured on what is shown, text by text.
TOO_FAINT = """
(() => {
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([red, green, blue]) => [red, green, blue]
    .map(one => one / 255)
    .map(one => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, place) => sum + one * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = element => {
    for (let one = element; one; one = one.parentElement) {
      const found = channels(getComputedStyle(one).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const faint = [];
  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.getClientRects().length) continue;
    if (element.closest("script, style, noscript")) continue;
    const style = getComputedStyle(element);
    const ink = channels(element.closest("svg") ? style.fill : style.color);
    const [one, other] = [light(ink), light(behind(element))].sort((a, b) => b - a);
    texts += 1;
    if ((one + 0.05) / (other + 0.05) < 4.5) faint.push(walker.currentNode.textContent);
  }
  return {texts, faint};
})()
"""
PAGES = ["", "benchmarks/db/running", "benchmarks/db/late", "benchmarks/db/absent"]


async def test_what_changes_is_shown_without_loading_the_page_again(tab, dashboard, put, running):
    put(running)
    await tab.open(f"{dashboard}benchmarks/db/running")
    await tab.evaluate("window.mark = 'the same page'")
    assert "3/6 trials, 50 %" in await tab.text()
    running["status"]["progress"] |= {"trialsDone": 4, "percent": 66, "current": "loading vm"}
    await tab.until("document.body.innerText.includes('4/6 trials, 66 %')")
    assert await tab.evaluate("document.querySelector('progress').value") == 4
    assert await tab.evaluate("document.getElementById('news').textContent") == (
        "4/6 trials, 66 % loading vm"
    )
    assert (await tab.evaluate("document.title")).startswith("running: 4/6 trials, 66 % loading")
    assert await tab.evaluate("window.mark") == "the same page"
    assert tab.complaints() == []


async def test_the_list_follows_a_benchmark_from_the_queue_to_its_end(tab, dashboard, put, named):
    queue = {"position": 1, "node": "node a", "benchmark": "db/other"}
    put(named("quick", reason="Queued", queue=queue))
    await tab.open(dashboard)
    assert "1 waiting" in await tab.text()
    assert "node a: db/other" in await tab.text()
    put(named("quick", ("Succeeded", "Unknown", "Running"), reason="Running"))
    await tab.until("document.querySelector('h1').textContent === '1 running'")
    put(named("quick", ("Succeeded", "True", "Measured", "6 trials"), reason="Measured"))
    await tab.until("document.querySelector('h1').textContent === '1 ended'")
    assert "succeeded" in await tab.text()


@pytest.mark.parametrize("page", ["", "benchmarks/db/running"])
async def test_text_from_the_cluster_is_text(tab, dashboard, put, every_state, page):
    put(*every_state)
    await tab.open(f"{dashboard}{page}")
    assert HOSTILE[:20] in await tab.text()
    # Once more by the script.
    every_state[3]["status"]["progress"]["current"] = f"loading {HOSTILE}"
    await tab.until("document.body.innerText.includes('loading <img')")
    assert await tab.evaluate("document.images.length") == 0
    assert await tab.evaluate("typeof window.hacked") == "undefined"
    assert tab.complaints() == []


async def test_the_policy_lets_no_other_script_run(tab, dashboard, put):
    put()
    await tab.open(dashboard)
    await tab.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), "
        "{textContent: 'window.hacked = 1'}))"
    )
    await tab.evaluate("document.body.insertAdjacentHTML('beforeend', "
                       "'<img src=x onerror=\"window.hacked = 1\">')")  # fmt: skip
    await tab.until("document.images.length === 1")
    assert await tab.evaluate("typeof window.hacked") == "undefined"
    assert any("Content Security Policy" in text for text in tab.complaints())


async def test_nothing_is_asked_for_elsewhere(tab, dashboard, put, every_state):
    put(*every_state)
    await tab.open(dashboard)
    await tab.open(f"{dashboard}benchmarks/db/running")
    await tab.until("performance.getEntriesByType('resource').length > 0")
    asked = [one["request"]["url"] for one in tab.told("Network.requestWillBeSent")]
    assert len(asked) > 2
    assert all(url.startswith(dashboard) for url in asked)


async def test_it_is_used_by_keyboard_and_keeps_its_place(tab, dashboard, put, running):
    put(running)
    await tab.open(dashboard)
    await tab.press("Tab")
    assert await tab.evaluate("document.activeElement.textContent") == "running"
    assert await tab.evaluate("document.activeElement.matches(':focus-visible')")
    running["status"]["progress"] |= {"trialsDone": 4, "percent": 66}
    await tab.until("document.body.innerText.includes('4/6 trials')")
    assert await tab.evaluate("document.activeElement.textContent") == "running"
    await tab.press("Enter")
    await tab.until("location.pathname === '/benchmarks/db/running' && document.body !== null")
    await tab.until("document.querySelector('#conditions table') !== null")
    await tab.press("Tab")
    assert await tab.evaluate("document.activeElement.textContent") == "All benchmarks"


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [360, 840, 980, 1600])
async def test_it_fits_the_screen(tab, dashboard, put, every_state, page, width):
    put(*every_state)
    await tab.look(width=width)
    await tab.open(f"{dashboard}{page}")
    assert await tab.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_text_stands_out_from_what_is_behind_it(
    tab, dashboard, put, every_state, page, scheme
):
    put(*every_state)
    await tab.look(width=1200, scheme=scheme)
    await tab.open(f"{dashboard}{page}")
    found = await tab.evaluate(TOO_FAINT)
    assert found["texts"] > 0
    assert found["faint"] == []


@pytest.mark.parametrize("page", PAGES[:2])
async def test_readers_of_the_screen_are_told_what_is_what(tab, dashboard, put, every_state, page):
    put(*every_state)
    await tab.look(width=360)
    await tab.open(f"{dashboard}{page}")
    nodes = (await tab.send("Accessibility.getFullAXTree"))["nodes"]
    names = {}
    for node in nodes:
        role = node.get("role", {}).get("value")
        names.setdefault(role, []).append(node.get("name", {}).get("value", ""))
    assert len(names["heading"]) > 1
    assert all(names["link"])
    assert all(names["progressbar"])
    # Cells that a narrow screen stacks are those of tables all the same.
    assert len(names["table"]) > 0
    assert {"rowheader", "cell", "columnheader"} <= set(names)


async def test_a_cluster_that_is_lost_is_told_and_found_again(tab, dashboard, api, put, running):
    put(running)
    await tab.open(dashboard)
    there = dict(api.answers)
    api.answers[f"{GROUP}/namespaces/db/dbbenchmarks"] = [(503, {"message": "shutting down"})]
    await tab.until("!document.getElementById('failure').hidden")
    text = await tab.text()
    assert "answered 503: shutting down What is shown is of " in text
    assert "3/6 trials, 50 %" in text
    api.answers |= there
    await tab.until("document.getElementById('failure').hidden")


async def test_a_benchmark_that_is_deleted_stays_readable_and_is_told(
    tab, dashboard, api, put, running
):
    put(running)
    await tab.open(f"{dashboard}benchmarks/db/running")
    put()
    api.answers[f"{GROUP}/namespaces/db/dbbenchmarks/running"] = [(404, {"message": "gone"})]
    await tab.until("document.body.innerText.includes(\"there is no benchmark 'running'\")")
    assert "3/6 trials, 50 %" in await tab.text()


async def test_a_dashboard_that_has_ended_is_told(tab, put, running):
    put(running)
    async with Connection(Where(None, None, None), everywhere=False) as connection:
        async with Server(connection, "127.0.0.1", 0) as server:
            await tab.open(server.url)
        await tab.until("document.body.innerText.includes('has it been ended?')")
    assert "3/6 trials, 50 %" in await tab.text()


async def test_a_name_that_is_rebound_to_it_gets_nothing(tab, dashboard, api, put, running):
    put(running)
    await tab.open(dashboard.replace("127.0.0.1", REBOUND))
    assert await tab.evaluate("location.hostname") == REBOUND
    assert "answers to localhost and addresses alone" in await tab.text()
    assert api.requested == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_full_report_opens_from_the_page(tab, dashboard, served, scheme):
    await tab.look(width=360, scheme=scheme)
    await tab.open(f"{dashboard}benchmarks/db/quick")
    await tab.evaluate("document.getElementById('to-report.html').click()")
    await tab.until("document.querySelector('#how-to-repeat-it') !== null")
    assert "Compared with pod" in await tab.text()
    assert await tab.evaluate("document.documentElement.scrollWidth") <= 360
    assert (await tab.evaluate(TOO_FAINT))["faint"] == []
    assert tab.complaints() == []
