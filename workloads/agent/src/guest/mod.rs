//! PID 1 of a virtual machine that runs one database image; or a service, where the machine has an init of its own.
//!
//! As PID 1 the kernel starts this from the initrd. It needs nothing from the image: no shell, no tool, no init.

mod accounts;
mod clock;
mod devices;
mod dhcp;
mod disks;
mod end;
mod network;
mod root;
pub mod service;

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cold::{run_database, ColdStarts, Stop};
use crate::config::AgentConfig;
use crate::http::{self, Cold};
use crate::launch::config::{DATA_DISK, ROOT_DISK};
use crate::launch::GUEST_FAILED;
use crate::pack_root::{ImageEnvironment, IMAGE_FILE};
use crate::scope::Scope;
use crate::supervisor::{Identity, Program, Signals};

/// Where the database's configuration, secret and data are mounted.
const CONFIG: &str = "/dbbench/config";
const SECRET: &str = "/dbbench/secret";
const DATA: &str = "/dbbench/data";

/// Runs the machine from its first process on; ends by powering it off.
pub fn init() -> ! {
    std::panic::set_hook(Box::new(|panic| {
        // One line, so that the launcher finds it.
        fail(&format!("the agent panicked: {}", panic.to_string().replace('\n', " ")))
    }));
    match run() {
        Ok(()) => end::power_off(),
        Err(error) => fail(&error),
    }
}

/// Says on the console what failed, as its last line, and powers off.
fn fail(error: &str) -> ! {
    end::stop_everything();
    println!("{GUEST_FAILED}{error}");
    end::power_off()
}

fn say(message: &str) {
    println!("dbbench-guest: {message}");
}

fn run() -> Result<(), String> {
    root::mount_kernel_file_systems()?;
    devices::open_console()?;
    devices::load_modules(Path::new("/modules"))?;
    // Before anything that takes time: from now on a press is remembered.
    let buttons = devices::power_buttons();
    let signals = Signals::take()?;
    clock::set_from_rtc();
    clock::seed_entropy();

    let root_disk = disks::wait_for(ROOT_DISK)?;
    let config_disk = disks::wait_for("config")?;
    root::mount_root(&root_disk)?;
    disks::mount_iso(&config_disk, &root::in_new_root(CONFIG))?;
    let config = AgentConfig::read(&root::in_new_root(CONFIG).join("agent.json"))?;
    mount_data(&config, root::in_new_root)?;
    mount_secret(&config, root::in_new_root)?;
    let (network, lease) = network::bring_up()?;
    let hostname = network.hostname.clone().unwrap_or_else(|| "dbbench".into());
    root::enter()?;
    root::write_network_files(&hostname, &network)?;
    if let Some(lease) = lease {
        network::keep_lease(lease);
    }
    root::give_console_to(identity(&config).as_ref());
    let image = image_environment()?;
    let pressed: Vec<_> = buttons.iter().map(|button| button.as_fd()).collect();
    run_to_its_end(&signals, &image, &config, &hostname, &pressed)
}

/// Answers on HTTP, starts the database, and returns when it was asked to end and has.
fn run_to_its_end(
    signals: &Signals,
    image: &ImageEnvironment,
    config: &AgentConfig,
    hostname: &str,
    buttons: &[BorrowedFd<'_>],
) -> Result<(), String> {
    let cold = ColdStarts::new(config)?;
    http::start(Scope::Guest, config, cold.clone().map(Cold::Database))?;
    let identity = identity(config);
    let env = environment(image, config, identity.as_ref(), hostname);
    let program = Program {
        command: &config.command,
        env: &env,
        directory: Some(&image.working_directory),
        identity,
        limits: &image.limits,
    };
    root::allow_open_files(&image.limits);
    root::set_memory(&image.memory_settings);
    disks::set_read_ahead(&image.read_ahead_kb);
    let grace = Duration::from_secs(config.stop_grace_seconds);
    let stop = Stop { signal: config.stop_signal_number()?, grace };
    let started = || say(&format!("started {}", config.command.join(" ")));
    let ended = run_database(signals, &program, stop, buttons, cold.as_deref(), started)?;
    if ended.killed {
        return Err(format!("the database had not ended {} s after {}", grace.as_secs(), config.stop_signal));
    }
    if !ended.requested {
        return Err(format!("the database ended by itself with exit code {}", ended.code));
    }
    say(&format!("the database has ended with exit code {}", ended.code));
    Ok(())
}

/// Mounts the data disk, or memory in its place. A configuration without a directory of its own keeps its data elsewhere.
fn mount_data(config: &AgentConfig, place: fn(&str) -> PathBuf) -> Result<(), String> {
    if !config.data_directory.as_ref().is_some_and(|directory| directory.starts_with(DATA)) {
        return Ok(());
    }
    if let Some(bytes) = config.data_in_memory_bytes {
        return disks::mount_memory(bytes, &place(DATA), config.user);
    }
    let disk = disks::wait_for(DATA_DISK)?;
    if disks::is_blank(&disk)? {
        say("making a file system on the blank data disk");
        disks::make_file_system(&disk)?;
    }
    disks::mount_data(&disk, &place(DATA), config.user)
}

/// Copies the secret's files to memory, where only the database's user can read them.
fn mount_secret(config: &AgentConfig, place: fn(&str) -> PathBuf) -> Result<(), String> {
    let words = config.env.values().chain(&config.command);
    if !words.clone().any(|word| word.contains(SECRET)) && disks::find("secret").is_none() {
        return Ok(());
    }
    let disk = disks::wait_for("secret")?;
    root::copy_secret(&disk, &place(SECRET), config.user)
}

/// The user's groups are read from the image, as a container runtime does.
fn identity(config: &AgentConfig) -> Option<Identity> {
    let user = config.user?;
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let groups = accounts::supplementary_groups(&read("/etc/passwd"), &read("/etc/group"), user);
    Some(Identity { uid: user.uid, gid: user.gid, groups })
}

fn image_environment() -> Result<ImageEnvironment, String> {
    let path = PathBuf::from("/").join(IMAGE_FILE);
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The image's environment, under the agent's configuration, and what a container runtime adds.
fn environment(
    image: &ImageEnvironment,
    config: &AgentConfig,
    identity: Option<&Identity>,
    hostname: &str,
) -> BTreeMap<String, String> {
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let home = accounts::home(&passwd, identity.map_or(0, |identity| identity.uid));
    let mut env = BTreeMap::from([
        ("HOME".to_string(), home.unwrap_or_else(|| "/".into())),
        ("HOSTNAME".to_string(), hostname.to_string()),
        ("PATH".to_string(), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_string()),
    ]);
    env.extend(image.env.clone());
    env.extend(config.env.clone());
    env
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_configuration_wins_over_the_image() {
        let image = ImageEnvironment {
            env: [("PGDATA", "/image"), ("LANG", "C.UTF-8"), ("PATH", "/opt/bin")]
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .into(),
            working_directory: "/".into(),
            ..ImageEnvironment::default()
        };
        let config = AgentConfig {
            env: BTreeMap::from([("PGDATA".to_string(), "/dbbench/data/pgdata".to_string())]),
            ..AgentConfig::default()
        };
        let env = environment(&image, &config, None, "vm");
        assert_eq!(env["PGDATA"], "/dbbench/data/pgdata");
        assert_eq!(env["PATH"], "/opt/bin");
        assert_eq!(env["HOSTNAME"], "vm");
        assert!(env.contains_key("HOME"));
    }
}
