"""The frame of the dashboard's pages: style, the script that keeps them live, the policy. No I/O.

A page is made on the server alone. The script asks for the page that is open once more, and
replaces the parts that are otherwise in the new one; what it gets is parsed without being run, and
the policy allows no script but this one. Without scripts, a page is as it was when it was loaded.
"""

import base64
import hashlib
from datetime import datetime

from dbbench.results.page.frame import framed
from dbbench.results.page.markup import Child, Safe, element
from dbbench.results.page.style import STYLE

_SCRIPT = Safe("""
"use strict";
const failure = document.getElementById("failure");
const parts = document.querySelectorAll("[data-live]");

function show(page) {
  for (const part of parts) {
    const fresh = page.getElementById(part.id);
    if (!fresh || fresh.innerHTML === part.innerHTML) continue;
    const active = document.activeElement;
    const focused = part.contains(active) ? active.id : "";
    part.replaceChildren(...fresh.childNodes);
    if (focused) document.getElementById(focused)?.focus({preventScroll: true});
  }
  document.title = page.title;
}

function say(text) {
  if (failure.textContent !== text) failure.textContent = text;
  failure.hidden = !text;
}

async function look() {
  const since = `What is shown is of ${document.getElementById("seen")?.textContent ?? "before"}.`;
  try {
    const answer = await fetch(location.href, {cache: "no-store"});
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (answer.ok) show(page);
    say(answer.ok ? "" : `${page.querySelector("h1")?.textContent ?? answer.status} ${since}`);
  } catch {
    say(`dbbench dashboard does not answer; has it been ended? ${since}`);
  }
}

async function follow() {
  if (!document.hidden) await look();
  setTimeout(follow, 2000);
}

if (parts.length) {
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  setTimeout(follow, 2000);
}
""")
_STYLE = Safe(
    STYLE
    + """
[hidden]{display:none!important}
progress{width:100%;min-width:6rem;height:.7rem;accent-color:var(--faster);display:block}
.state{font-weight:600}.runs .state,.whole{white-space:nowrap}.runs tbody th{min-width:9rem}
.failed{color:var(--slower)}.succeeded{color:var(--equivalent)}.running{color:var(--faster)}
.badge{border:1px solid var(--warn);color:var(--warn);border-radius:4px;padding:0 .35em;
font-size:.78rem;white-space:nowrap}
.now{font-size:1.05rem;margin:.2rem 0 .6rem}
.unseen{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
.warning{white-space:pre-line}
.runs td,.runs tbody th{vertical-align:top;overflow-wrap:anywhere}
a:focus-visible,summary:focus-visible,pre:focus-visible{outline:3px solid var(--faster);
outline-offset:2px}
"""
)


def _source(text: str) -> str:
    """The text as a policy names it."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


POLICY = (
    f"default-src 'none'; script-src {_source(_SCRIPT)}; style-src {_source(_STYLE)}; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)
"""What a page may do: run this script, have this style, and ask where it comes from."""


def page(title: str, main: Child, now: datetime) -> str:
    """A page whose live parts are those that `live` made."""
    seen = element("time", f"{now.astimezone():%H:%M:%S}", id="seen", datetime=now.isoformat())
    footer: list[Child] = [
        live("foot", "As of ", seen, ". Read-only: made on this machine with your own rights."),
        element(
            "noscript",
            " Without scripts, load the page again to see what is new.",
        ),
    ]
    failure = element("p", id="failure", class_="warning", role="alert", hidden="")
    return framed(
        f"{title} - dbbench", [failure, main], footer,
        policy=POLICY, style=_STYLE, script=_SCRIPT,
    )  # fmt: skip


def failure_page(message: str) -> str:
    """A page that says why there is no other."""
    main = element("header", element("h1", message), element("p", home()))
    return framed(message, main, "", policy=POLICY, style=_STYLE)


def live(name: str, *children: Child, **attributes: str) -> Safe:
    """A part of a page that is kept as it is now."""
    return element("div", *children, id=name, data_live="", **attributes)


def home() -> Safe:
    """The way to the list."""
    return element("a", "All benchmarks", href="/", id="home")
