"""Brings OCI archives onto nodes; what a node already has is left alone."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from localcluster.nodes import Node
from localcluster.oci import ImageReference, references
from localcluster.progress import Progress


def parse_listing(listing: str) -> set[tuple[str, str]]:
    """Names and manifest digests in the output of ``ctr images list``."""
    rows = [line.split() for line in listing.splitlines()[1:]]
    return {(row[0], row[2]) for row in rows if len(row) > 2}


def is_present(image: ImageReference, present: set[tuple[str, str]]) -> bool:
    """Whether a node has the image under its name and under its digest."""
    return {(image.name, image.digest), (image.by_digest, image.digest)} <= present


def import_archives(
    archives: Iterable[Path], nodes: Sequence[Node], progress: Progress
) -> dict[str, int]:
    """Imports archives into all nodes at once; returns how many images each node took."""
    contents = [(archive, references(archive)) for archive in archives]

    def into(node: Node) -> int:
        present = _present(node)
        missing = [
            (archive, images)
            for archive, images in contents
            if not all(is_present(image, present) for image in images)
        ]
        if not missing:
            return 0
        with progress.task(f"import into {node.address.name}", total=len(missing)) as task:
            for archive, images in missing:
                task.note = archive.name
                _import(node, archive, images)
                task.advance()
            task.note = f"{len(missing)} images"
        return len(missing)

    with ThreadPoolExecutor(max_workers=max(len(nodes), 1)) as pool:
        counts = list(pool.map(into, nodes))
    return {node.address.name: count for node, count in zip(nodes, counts, strict=True)}


def _present(node: Node) -> set[tuple[str, str]]:
    return parse_listing(node.ctr("images", "list") or "")


def _import(node: Node, archive: Path, images: list[ImageReference]) -> None:
    # Unpacked by the first pod that runs it: most images run on one node, some on none.
    node.ctr("images", "import", "--no-unpack", str(archive))
    for image in images:
        # Kubernetes reports an image's digest only from such a name: without one, imageID is
        # the digest of the configuration, which no manifest names.
        node.ctr("images", "tag", "--force", image.name, image.by_digest)
