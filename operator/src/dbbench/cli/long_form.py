"""Reads measurements in long form, one value a row. No I/O.

The columns are `target,cell,trial,value` and, where they are wanted, `unit`, `position` and
`deployment`, in any order.
"""

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from dbbench.stats import Sample, Unit

REQUIRED = ("target", "cell", "trial", "value")
COLUMNS = (*REQUIRED, "unit")
OPTIONAL = ("unit", "position", "deployment")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Problem:
    """What is wrong with the file, and what to write instead; `line` counts from 1."""

    line: int
    column: str
    message: str

    def __str__(self) -> str:
        where = f"line {self.line}, column {self.column}" if self.column else f"line {self.line}"
        return f"{where}: {self.message}"


class InputError(ValueError):
    """All problems of a file."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


@dataclass(frozen=True)
class Row:
    """One value and the line it stands on."""

    line: int
    sample: Sample


def read(text: str) -> list[Row]:
    """The rows of a file; InputError lists everything that is wrong with it.

    Blank lines, and lines that begin with `#`, are passed over. The unit is seconds where the
    column is absent or empty.
    """
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    # Emptied rather than removed, so that the numbers of the other lines stay.
    reader = csv.reader(("\n" if line.startswith("#") else line for line in lines), strict=True)
    try:
        records = [(reader.line_num, [field.strip() for field in fields]) for fields in reader]
    except csv.Error as error:
        raise InputError(
            [Problem(reader.line_num, "", f"not readable as CSV ({error}); close every quote")]
        ) from error
    records = [(line, fields) for line, fields in records if any(fields)]
    if not records:
        raise InputError([Problem(1, "", f"the file is empty; begin with {','.join(COLUMNS)}")])
    line, header = records[0]
    names = _header(line, header)
    problems: list[Problem] = []
    rows: list[Row] = []
    for line, fields in records[1:]:
        if len(fields) != len(names):
            message = f"has {len(fields)} fields, but the header names {len(names)}"
            problems.append(Problem(line, "", message))
            continue
        found = _Row(line, dict(zip(names, fields, strict=True)))
        if found.problems:
            problems += found.problems
        else:
            rows.append(Row(line, found.sample()))
    problems += _contradictions(rows) + _unnamed_deployments(rows)
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.line))
    if not rows:
        raise InputError([Problem(line, "", "there is no value below the header")])
    return rows


def _header(line: int, header: Sequence[str]) -> list[str]:
    names = [name.lower() for name in header]
    expected = (
        f"the first line must be {','.join(REQUIRED)} or {','.join(COLUMNS)}; "
        "position and deployment may be added"
    )
    if len(names) == 1:
        for separator in (";", "\t"):
            if separator in header[0]:
                message = f"fields are separated by {separator!r}; write commas"
                raise InputError([Problem(line, "", f"{message}: {expected}")])
    problems = []
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        message = f"there is no column {' and no column '.join(missing)}; {expected}"
        problems.append(Problem(line, "", message))
    else:
        problems += [
            Problem(line, name, f"{name!r} is not a column; {expected}")
            for name in names
            if name not in (*REQUIRED, *OPTIONAL)
        ]
    problems += [
        Problem(line, name, f"{name!r} is there twice; remove one")
        for name in (*REQUIRED, *OPTIONAL)
        if names.count(name) > 1
    ]
    if problems:
        raise InputError(problems)
    return names


class _Row:
    """Checks one row's fields."""

    def __init__(self, line: int, fields: dict[str, str]) -> None:
        self._line = line
        self._fields = fields
        self.problems: list[Problem] = []
        for name in ("target", "cell", "trial"):
            if not fields[name]:
                self._refuse(name, f"{name} is empty; write a name")
        self._value = self._number(fields["value"])
        self._unit = self._known_unit(fields.get("unit", ""))
        self._position = self._optional_number("position")

    def sample(self) -> Sample:
        """The sample of a row without problems."""
        fields = self._fields
        return Sample(
            fields["target"],
            fields["cell"],
            fields["trial"],
            self._value,
            self._unit,
            position=self._position,
            deployment=fields.get("deployment", ""),
        )

    def _optional_number(self, column: str) -> float | None:
        text = self._fields.get(column, "")
        if not text:
            return None
        if _NUMBER.fullmatch(text) is None or math.isinf(float(text)):
            self._refuse(
                column,
                f"{text!r} is not a number; write 1 for what was measured first in the trial, 2 "
                "for the next, or seconds",
            )
            return None
        return float(text)

    def _number(self, text: str) -> float:
        if _NUMBER.fullmatch(text) is None:
            hint = "a number such as 1.25"
            if re.fullmatch(r"[0-9]+,[0-9]+", text):
                hint = text.replace(",", ".")
            self._refuse("value", f"{text!r} is not a number; write {hint}")
            return math.nan
        value = float(text)
        if not value > 0 or math.isinf(value):
            self._refuse(
                "value",
                f"{text} is not a time or rate greater than 0; leave out trials without a value",
            )
        return value

    def _known_unit(self, text: str) -> Unit:
        try:
            return Unit(text or Unit.SECONDS)
        except ValueError:
            self._refuse(
                "unit", f"{text!r} is not a unit; convert the value and write {_either(list(Unit))}"
            )
            return Unit.SECONDS

    def _refuse(self, column: str, message: str) -> None:
        self.problems.append(Problem(self._line, column, message))


def _contradictions(rows: Sequence[Row]) -> list[Problem]:
    """Two units in one cell, and two values for one trial."""
    problems = []
    units: dict[str, Row] = {}
    trials: dict[tuple[str, str, str, str], Row] = {}
    for row in rows:
        sample = row.sample
        first = units.setdefault(sample.cell, row)
        if first.sample.unit is not sample.unit:
            problems.append(
                Problem(
                    row.line,
                    "unit",
                    f"cell {sample.cell!r} is in {sample.unit} here and in {first.sample.unit} in "
                    f"line {first.line}; write one unit for the whole cell",
                )
            )
        key = (sample.target, sample.cell, sample.deployment, sample.trial)
        before = trials.setdefault(key, row)
        if before is not row:
            problems.append(
                Problem(
                    row.line,
                    "trial",
                    f"target {sample.target!r} has a value for cell {sample.cell!r}, trial "
                    f"{sample.trial!r} in line {before.line} already; number the trials",
                )
            )
    return problems


def _unnamed_deployments(rows: Sequence[Row]) -> list[Problem]:
    """Deployments are named for all rows or for none."""
    if not any(row.sample.deployment for row in rows):
        return []
    message = "deployment is empty, but other rows name one; name it in every row or in none"
    return [Problem(row.line, "deployment", message) for row in rows if not row.sample.deployment]


def _either(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
