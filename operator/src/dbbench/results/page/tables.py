"""Tables that keep their meaning when a narrow screen stacks their cells. No I/O."""

from collections.abc import Collection, Sequence

from dbbench.results.page.markup import Child, Safe, element


def table(
    caption: str,
    header: Sequence[str],
    rows: Sequence[Sequence[Child]],
    *,
    texts: Collection[int] = (0,),
    wide: Collection[int] = (),
    axis: Safe | None = None,
    kind: str | None = None,
) -> Safe:
    """A table whose first column names the row.

    Columns in `texts` are texts, the others figures; columns in `wide` hold plots, below which
    `axis` stands. The roles
    say again what the elements say: stacking cells by CSS would take that from screen readers.
    """

    def style(column: int) -> str | None:
        if column in wide:
            return "plot"
        return None if column in texts else "figure"

    head = element(
        "tr",
        (
            element("th", name, scope="col", role="columnheader", class_=style(column))
            for column, name in enumerate(header)
        ),
        role="row",
    )
    body = (
        element(
            "tr",
            element("th", row[0], scope="row", role="rowheader"),
            (
                element(
                    "td",
                    cell,
                    role="cell",
                    class_=style(column),
                    data_label=None if column in wide else header[column],
                )
                for column, cell in enumerate(row)
                if column
            ),
            role="row",
        )
        for row in rows
    )
    foot = element(
        "tfoot",
        element(
            "tr",
            (element("td", axis if column in wide else None, class_=style(column))
             for column in range(len(header))),
        ),
        aria_hidden="true",
    )  # fmt: skip
    return element(
        "table",
        element("caption", caption),
        element("thead", head, role="rowgroup"),
        element("tbody", body, role="rowgroup"),
        foot if axis else None,
        role="table",
        class_=kind,
    )
