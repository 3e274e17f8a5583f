//! The one binary of dbbench's workloads: the driver, the agent, and PID 1 of a guest.

use std::process::ExitCode;

fn main() -> ExitCode {
    let called = std::env::args_os().next().unwrap_or_default();
    if std::process::id() == 1 && (called == "/init" || called == "init") {
        dbbench_agent::guest_init();
    }
    dbbench_driver::cli::main()
}
