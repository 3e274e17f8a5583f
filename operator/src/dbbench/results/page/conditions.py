"""What the figures rest on: equal conditions, the environment, and how to repeat it. No I/O."""

import yaml

from dbbench.api import API_VERSION, KIND
from dbbench.results.page.markup import Child, Safe, element
from dbbench.results.page.tables import table
from dbbench.results.wording import (
    CACHE_HEADER,
    CACHES,
    ENVIRONMENT,
    TARGET_ENVIRONMENT,
    Document,
    cache_rows,
    label,
)


def environment(document: Document) -> list[Child]:
    """Nodes, and what each target ran on; nothing where it is not known."""
    found = document["environment"]
    if not found:
        return []
    facts = [(text, found[key]) for key, text in ENVIRONMENT.items() if found.get(key)]
    targets = found.get("targets") or []
    rows: list[list[Child]] = [
        [text, *(_shown(target, key) for target in targets)]
        for key, text in TARGET_ENVIRONMENT.items()
        if any(target.get(key) for target in targets)
    ]
    compared: list[list[Child]] = [
        [name, *(_shown(target.get("properties") or {}, name) for target in targets)]
        for name in dict.fromkeys(key for one in targets for key in one.get("properties") or {})
    ]
    names = [label(target["name"], target.get("emulated", False)) for target in targets]
    texts = range(1 + len(names))
    return [
        table("Cluster", ("what", "value"), facts, texts={0, 1}),
        table("Targets", ("what", *names), rows, texts=texts) if rows else None,
        table("What is compared", ("property", *names), compared, texts=texts)
        if compared
        else None,
    ]


def caches(document: Document) -> Safe | None:
    """What proves the cache states of cells; None where there are none."""
    rows = cache_rows(document)
    return table(f"Caches. {CACHES}", CACHE_HEADER, rows, texts={0, 1, 2}) if rows else None


def _shown(values: Document, key: str) -> Child:
    text = str(values.get(key) or "-")
    return element("span", text, class_="long") if len(text) > 40 else text


def manifest(document: Document) -> Safe:
    """The benchmark as a file for kubectl, with the seed that gives the same order again."""
    spec = dict(document["spec"])
    spec["trials"] = dict(spec.get("trials") or {}) | {"seed": document["seed"]}
    body = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": document["benchmark"]["name"]},
        "spec": spec,
    }
    text = yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=88)
    return element("pre", element("code", text), tabindex=0)
