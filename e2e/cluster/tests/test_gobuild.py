"""Building Go programs, and not building them again."""

import re
import shutil
from pathlib import Path

import pytest
from localcluster import gobuild
from localcluster.errors import ClusterError
from localcluster.gobuild import PROGRAMS, Builder, Program, fingerprint, parse_go_version, select
from localcluster.layout import Layout
from localcluster.progress import Progress, Task

PAUSE = next(program for program in PROGRAMS if program.name == "pause")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of the smallest module, which a test may change."""
    shutil.copytree(Layout.of_project().go_sources / PAUSE.module, tmp_path / "go" / PAUSE.module)
    return tmp_path / "go"


def test_unchanged_program_is_built_once(sources: Path, tmp_path: Path) -> None:
    builder = Builder(sources, tmp_path / "bin", Progress())
    assert builder.build([PAUSE]) == ["pause"]
    assert builder.build([PAUSE]) == []
    (sources / "pause/main.go").open("a").write("\n// changed\n")
    assert builder.build([PAUSE]) == ["pause"]


def test_links_lead_to_the_program(sources: Path, tmp_path: Path) -> None:
    program = Program(name="pause", package=".", module="pause", links=("sleep", "wait"))
    builder = Builder(sources, tmp_path / "bin", Progress())
    builder.build([program])
    (tmp_path / "bin/wait").unlink()
    builder.build([program])
    assert (tmp_path / "bin/sleep").readlink() == Path("pause")
    assert (tmp_path / "bin/wait").resolve() == tmp_path / "bin/pause"


def test_source_that_does_not_compile_is_an_error_with_the_compilers_words(
    sources: Path, tmp_path: Path
) -> None:
    (sources / "pause/main.go").open("a").write("\nvar broken int = true\n")
    builder = Builder(sources, tmp_path / "bin", Progress())
    with pytest.raises(ClusterError, match=r"main\.go:\d+:\d+: cannot use true"):
        builder.build([PAUSE])
    assert not (tmp_path / "bin/pause").exists()


def test_fingerprint_depends_on_sources_flags_and_compiler(sources: Path) -> None:
    module = sources / "pause"
    other_flags = Program(name="pause", package=".", module="pause", linker_flags="-X main.a=b")
    original = fingerprint(PAUSE, module, "go1.26")
    others = [fingerprint(PAUSE, module, "go1.27"), fingerprint(other_flags, module, "go1.26")]
    (module / "go.sum").write_text("")
    others.append(fingerprint(PAUSE, module, "go1.26"))
    assert len({original, *others}) == 4


def test_fingerprint_depends_on_the_programs_own_package_only(tmp_path: Path) -> None:
    for name in ("go.mod", "go.sum", "first/main.go", "second/main.go"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    first = Program(name="first", package="./first")
    imported = Program(name="imported", package="example.org/imported")

    def fingerprints() -> tuple[str, str]:
        return (fingerprint(first, tmp_path, "go1.26"), fingerprint(imported, tmp_path, "go1.26"))

    original = fingerprints()
    (tmp_path / "second/main.go").write_text("changed")
    assert fingerprints() == original
    (tmp_path / "first/main.go").write_text("changed")
    assert fingerprints()[0] != original[0]
    assert fingerprints()[1] == original[1]
    (tmp_path / "go.sum").write_text("changed")
    assert fingerprints()[1] != original[1]


def test_clone_at_another_path_compiles_nothing_again(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (sources / "pause/main.go").open("a").write(f"\n// {tmp_path}\n")  # not in the build cache
    clone = shutil.copytree(sources, tmp_path / "clone/go")
    compiled: list[str] = []
    monkeypatch.setattr(Task, "advance", lambda task: compiled.append(task.name))

    Builder(sources, tmp_path / "bin", Progress()).build([PAUSE])
    assert compiled
    compiled.clear()
    Builder(clone, tmp_path / "clone/bin", Progress()).build([PAUSE])
    assert not compiled
    assert (tmp_path / "clone/bin/pause").read_bytes() == (tmp_path / "bin/pause").read_bytes()


def pinned(folder: str) -> dict[str, str]:
    """Versions that a module requires."""
    text = (Layout.of_project().go_sources / folder / "go.mod").read_text()
    required = "".join(re.findall(r"^require \((.*?)^\)", text, re.M | re.S))
    return dict(re.findall(r"^\t(\S+) (v\S+)", required, re.M))


def test_every_program_has_its_module_with_pinned_dependencies() -> None:
    for program in PROGRAMS:
        module = Layout.of_project().go_sources / program.module
        assert (module / "go.mod").is_file()
        assert (module / "go.sum").is_file() or "require" not in (module / "go.mod").read_text()


def test_versions_that_programs_report_are_those_of_the_module() -> None:
    pins = {**pinned("."), **pinned(gobuild.PROMETHEUS_OPERATOR_FOLDER)}
    for module, version in {
        "k8s.io/kubernetes": gobuild._KUBERNETES_VERSION,
        "helm.sh/helm/v3": gobuild._HELM_VERSION,
        "github.com/rancher/local-path-provisioner": gobuild._LOCAL_PATH_VERSION,
        gobuild.PROMETHEUS_OPERATOR_MODULE: gobuild._PROMETHEUS_OPERATOR_VERSION,
    }.items():
        assert pins[module] == f"v{version}"


def test_libraries_of_several_modules_are_compiled_once() -> None:
    """Compiled packages are shared where their versions are the same, and by no `replace`."""
    cluster, other = pinned("."), pinned(gobuild.PROMETHEUS_OPERATOR_FOLDER)
    shared = cluster.keys() & other.keys()
    assert {"k8s.io/client-go", "golang.org/x/net"} <= shared
    assert {name: other[name] for name in shared} == {name: cluster[name] for name in shared}


def test_programs_are_selected_by_name_in_build_order() -> None:
    assert [program.name for program in select(["pause", "kube"])] == ["kube", "pause"]


def test_without_names_the_programs_of_the_cluster_are_selected() -> None:
    names = {program.name for program in select([])}
    assert {"kube", "coredns", "helm", "pause"} <= names
    assert "prometheus-operator" not in names


def test_unknown_program_is_refused() -> None:
    with pytest.raises(ClusterError, match="no program is called kind"):
        select(["kind"])


def test_go_version_is_read() -> None:
    assert parse_go_version("go version go1.26.8 linux/amd64") == (1, 26)
    assert parse_go_version("go version go1.27rc1 linux/amd64") == (1, 27)


def test_missing_go_is_named(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(ClusterError, match="Go is not installed"):
        gobuild.Builder(sources, tmp_path / "bin", Progress()).build([PAUSE])
