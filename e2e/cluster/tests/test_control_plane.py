"""The command lines of the control plane."""

from ipaddress import IPv4Network
from pathlib import Path

from localcluster.addresses import plan
from localcluster.api import Api
from localcluster.control_plane import ControlPlane
from localcluster.layout import Layout
from localcluster.processes import Processes

ADDRESSES = plan(IPv4Network("10.213.0.0/16"), ["a"])


def api_server_command(project: Path) -> list[str]:
    layout = Layout(project)
    layout.state.mkdir(parents=True, exist_ok=True)
    processes = Processes(layout.state, layout.processes, layout.logs)
    return ControlPlane(ADDRESSES, layout, processes, Api(ADDRESSES, layout)).api_server_command()


def test_an_audit_log_is_written_where_a_policy_says_what_into_it(tmp_path: Path) -> None:
    assert not [option for option in api_server_command(tmp_path) if option.startswith("--audit")]
    layout = Layout(tmp_path)
    layout.audit_policy.write_text("{}")
    options = api_server_command(tmp_path)
    assert f"--audit-policy-file={layout.audit_policy}" in options
    assert f"--audit-log-path={layout.audit_log}" in options
