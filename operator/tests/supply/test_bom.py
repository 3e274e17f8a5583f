"""Bills of materials follow CycloneDX, and are the same for the same parts."""

import io
import json
import tarfile

from supply import bom, images, parts


def test_a_bill_has_every_part_by_its_url():
    found = parts.rust('[[package]]\nname = "a"\nversion = "1"\nchecksum = "ff"\n')
    document = json.loads(bom.document("dbbench-driver", "0.1.0", "application", found))
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert document["metadata"]["component"]["name"] == "dbbench-driver"
    (component,) = document["components"]
    assert component["purl"] == component["bom-ref"] == "pkg:cargo/a@1"
    assert component["hashes"] == [{"alg": "SHA-256", "content": "ff"}]
    assert document["dependencies"] == [{"ref": "dbbench-driver", "dependsOn": ["pkg:cargo/a@1"]}]


def test_its_serial_number_follows_from_its_parts():
    one, two = parts.debian("a=1\n"), parts.debian("a=2\n")
    first = bom.document("x", "1", "container", one)
    assert first == bom.document("x", "1", "container", one)
    serial = [
        json.loads(bom.document("x", "1", "container", p))["serialNumber"] for p in (one, two)
    ]
    assert serial[0] != serial[1]


def packed(files):
    """A tar archive of files by their paths."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def test_a_file_of_an_image_is_that_of_its_last_layer(tmp_path):
    layers = [packed({"./etc/list": b"old"}), packed({"etc/list": b"new"}), packed({"etc/x": b"-"})]
    manifest = {"layers": [{"digest": f"sha256:{n}"} for n in range(3)]}
    index = {"manifests": [{"digest": "sha256:m"}]}
    blobs = {f"blobs/sha256/{n}": layer for n, layer in enumerate(layers)}
    archive = tmp_path / "image.tar"
    archive.write_bytes(
        packed(
            {
                "index.json": json.dumps(index).encode(),
                "blobs/sha256/m": json.dumps(manifest).encode(),
                **blobs,
            }
        )
    )
    assert images.text_of(archive, "etc/list") == "new"
    assert images.text_of(archive, "etc/other") is None
