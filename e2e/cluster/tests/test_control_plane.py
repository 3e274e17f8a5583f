"""The command lines of the control plane."""

import json
from ipaddress import IPv4Network
from pathlib import Path

from localcluster.addresses import plan
from localcluster.api import Api
from localcluster.control_plane import AUDIT_POLICY, ControlPlane
from localcluster.layout import Layout
from localcluster.pki import Pki
from localcluster.processes import Processes

ADDRESSES = plan(IPv4Network("10.213.0.0/16"), ["a"])


def control_plane(layout: Layout) -> ControlPlane:
    layout.state.mkdir(parents=True, exist_ok=True)
    Pki(layout.pki).ensure(ADDRESSES)
    processes = Processes(layout.state, layout.processes, layout.logs)
    return ControlPlane(ADDRESSES, layout, processes, Api(ADDRESSES, layout))


def test_an_audit_log_is_written_of_what_programs_in_pods_ask_for(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    control = control_plane(layout)
    control.write()
    options = control.api_server_command()
    assert f"--audit-policy-file={layout.audit_policy}" in options
    assert f"--audit-log-path={layout.audit_log}" in options
    assert json.loads(layout.audit_policy.read_text()) == AUDIT_POLICY


def test_an_audit_policy_that_is_there_is_kept(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    control = control_plane(layout)
    layout.audit_policy.write_text("{}")
    control.write()
    assert layout.audit_policy.read_text() == "{}"
