"""DBBenchmarks in a file that a user wrote: read, checked as far as no cluster is needed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import yaml
from pydantic import ValidationError

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.cli.failure import CommandFailed


@dataclass(frozen=True)
class Document:
    """One DBBenchmark as it stands in the file, and its spec."""

    title: str
    body: dict[str, Any]
    spec: DBBenchmarkSpec


def documents(file: str) -> list[Document]:
    """All DBBenchmarks of a YAML file, `-` for standard input; other objects are passed over.

    CommandFailed names every field that is wrong, and a file without any.
    """
    name = "standard input" if file == "-" else file
    found = list(_benchmarks(name, _read(file)))
    if not found:
        raise CommandFailed(f"{name}: there is no DBBenchmark in it")
    return found


def only_document(file: str) -> Document:
    """The one DBBenchmark of the file; CommandFailed where there are several."""
    found = documents(file)
    if len(found) > 1:
        names = ", ".join(document.title for document in found)
        raise CommandFailed(f"{file}: {len(found)} DBBenchmarks are in it ({names}); give one")
    return found[0]


def _read(file: str) -> str:
    try:
        with click.open_file(file, encoding="utf-8") if file == "-" else Path(file).open(
            encoding="utf-8"
        ) as stream:  # fmt: skip
            return stream.read()
    except OSError as error:
        raise CommandFailed(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CommandFailed(f"{file}: not UTF-8 text; convert the file") from error


def _benchmarks(name: str, text: str) -> Iterator[Document]:
    try:
        bodies = list(yaml.safe_load_all(text))
    except yaml.YAMLError as error:
        raise CommandFailed(f"{name}: not YAML: {error}") from error
    for body in bodies:
        if not isinstance(body, Mapping) or body.get("kind") != "DBBenchmark":
            continue
        title = str((body.get("metadata") or {}).get("name") or "unnamed")
        try:
            spec = DBBenchmarkSpec.model_validate(body.get("spec") or {})
        except ValidationError as error:
            problems = "\n".join(
                f"{name}: {title}: spec.{'.'.join(str(part) for part in item['loc'])}: "
                f"{item['msg']}"
                for item in error.errors(include_url=False, include_input=False)
            )
            raise CommandFailed(problems) from error
        names = [target.name for target in spec.targets]
        if spec.baseline not in names:
            raise CommandFailed(
                f"{name}: {title}: spec.baseline is {spec.baseline!r}; it must be the name of a "
                f"target: {', '.join(names)}"
            )
        yield Document(title, dict(body), spec)
