"""Lock files and listings become packages with their URLs."""

from supply import parts
from supply.parts import Part


def test_python_requirements_are_named_as_the_index_names_them():
    text = (
        "annotated-types==0.7.0 \\\n    --hash=sha256:1f\n    # via pydantic\nPyYAML==6.0.3\n"
        "prometheus_client==0.22 \\\n"
    )
    assert [part.purl for part in parts.python(text)] == [
        "pkg:pypi/annotated-types@0.7.0",
        "pkg:pypi/prometheus-client@0.22",
        "pkg:pypi/pyyaml@6.0.3",
    ]


def test_crates_have_the_checksums_of_their_archives():
    lock = (
        'version = 4\n[[package]]\nname = "adler2"\nversion = "2.0.1"\nchecksum = "3205"\n'
        '[[package]]\nname = "dbbench-driver"\nversion = "0.1.0"\n'
    )
    assert parts.rust(lock) == [
        Part("pkg:cargo/adler2@2.0.1", "adler2", "2.0.1", "3205"),
        Part("pkg:cargo/dbbench-driver@0.1.0", "dbbench-driver", "0.1.0"),
    ]


def test_a_replaced_go_module_counts_as_what_replaces_it():
    said = (
        "/bin/etcd: go1.24.4\n\tpath\tgo.etcd.io/etcd\n\tmod\tlocal\t(devel)\t\n"
        "\tdep\tgolang.org/x/net\tv0.38.0\th1:a=\n\tdep\tk8s.io/api\tv0.0.0\n"
        "\t=>\tk8s.io/api\tv0.34.4\th1:b=\n\tbuild\t-compiler=gc\n"
    )
    assert [part.purl for part in parts.go(said)] == [
        "pkg:golang/golang.org/x/net@v0.38.0",
        "pkg:golang/k8s.io/api@v0.34.4",
        "pkg:golang/stdlib@1.24.4",
    ]


def test_versions_of_debian_are_escaped():
    (part,) = parts.debian("libc6=2.36-9+deb12u14\n")
    assert part.purl == "pkg:deb/debian/libc6@2.36-9%2Bdeb12u14"
    assert part.version == "2.36-9+deb12u14"


def test_a_package_that_two_lists_have_is_there_once():
    list_ = parts.debian("a=1\nb=2\n")
    assert parts.together([list_, list_[:1]]) == list_
