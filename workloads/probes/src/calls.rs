//! Reading the clock, calling the kernel, and switching between processes.

use std::hint::black_box;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Instant;

use serde_json::json;

use crate::kernel::Counters;
use crate::sampling::{alone, calibrate, on_cpu, repeat, together, Samples, Work};
use crate::{Evidence, Figure, Settings};

/// A function, called many times in a row.
struct Calls {
    call: fn(),
    count: u64,
}

impl Calls {
    fn new(call: fn()) -> Self {
        let count = calibrate(|count| (0..count).for_each(|_| call()));
        Calls { call, count }
    }
}

impl Work for Calls {
    fn run(&mut self) -> u64 {
        // The pointer is read anew each time, so that the call is made and not reasoned about.
        for _ in 0..self.count {
            black_box(self.call)();
        }
        self.count
    }
}

/// CLOCK_READ: one reading of CLOCK_MONOTONIC, the way the standard library does it.
pub fn clock(settings: &Settings) -> Vec<Figure> {
    let read = || {
        let (samples, _) = alone(settings.cpus[0], settings.time, || {
            Ok(Calls::new(|| {
                black_box(Instant::now());
            }))
        })?;
        let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        let mut evidence = Evidence::new();
        if let Ok(source) = std::fs::read_to_string(source) {
            evidence.insert("clockSource".into(), source.trim().into());
        }
        Ok((samples.cost("clock reading")?, evidence))
    };
    vec![Figure::new("CLOCK_READ", 1, read())]
}

/// SYSTEM_CALL: getppid, which the C library neither caches nor answers by itself.
pub fn system_call(settings: &Settings) -> Vec<Figure> {
    let call = || {
        // SAFETY: getppid has no arguments and no effects.
        black_box(unsafe { libc::syscall(libc::SYS_getppid) });
    };
    let on = |threads: usize| {
        let samples = together(&settings.cpus[..threads], settings.time, || Ok(Calls::new(call)))?;
        Ok((samples.cost("system call")?, Evidence::new()))
    };
    settings.threads.iter().map(|threads| Figure::new("SYSTEM_CALL", *threads, on(*threads))).collect()
}

/// CONTEXT_SWITCH: from one process to another on the same CPU.
///
/// Two processes hand a byte to and fro through pipes. Half a round trip is one write, one read that has to wait,
/// and one switch; a write and a read that need not wait are measured beside it and taken off.
pub fn context_switch(settings: &Settings) -> Vec<Figure> {
    vec![Figure::new("CONTEXT_SWITCH", 1, on_cpu(settings.cpus[0], || switches(settings)))]
}

const ROUND_TRIPS: u64 = 200;

fn switches(settings: &Settings) -> io::Result<(crate::Cost, Evidence)> {
    let echo = Echo::start()?;
    let own = pipe()?;
    let (mut pipe_seconds, mut trip_seconds) = (Vec::new(), Vec::new());
    let (mut trips, mut switches) = (0, 0);
    let samples: Samples = repeat(settings.time, |samples| {
        let start = Instant::now();
        for _ in 0..ROUND_TRIPS {
            send(&own.1)?;
            receive(&own.0)?;
        }
        let uncontended = start.elapsed();
        let before = Counters::of_thread();
        let start = Instant::now();
        for _ in 0..ROUND_TRIPS {
            echo.round_trip()?;
        }
        let took = start.elapsed();
        let used = Counters::of_thread().since(&before);
        switches += used.voluntary_switches + used.involuntary_switches;
        trips += ROUND_TRIPS;
        pipe_seconds.push(uncontended.as_secs_f64() / ROUND_TRIPS as f64);
        trip_seconds.push(took.as_secs_f64() / ROUND_TRIPS as f64);
        // Per half round trip; the clock's share is in both terms and cancels.
        let half = took.as_secs_f64() / 2.0 - uncontended.as_secs_f64();
        samples.costs.push(half / ROUND_TRIPS as f64);
        samples.operations += 2 * ROUND_TRIPS;
        Ok(())
    })?;
    // This side leaves the CPU once in a round trip, unless the other one ran elsewhere: it waits for the answer, or
    // the kernel lets the other one go first as soon as it has something to read.
    if switches * 2 < trips {
        return Err(io::Error::other(format!("only {switches} switches in {trips} round trips")));
    }
    let mut evidence = Evidence::new();
    let median = |values: Vec<f64>| crate::statistics::summarise(&values).map(|summary| summary.median * 1e9);
    evidence.insert("pipeWriteAndReadNanoseconds".into(), json!(median(pipe_seconds)));
    evidence.insert("roundTripNanoseconds".into(), json!(median(trip_seconds)));
    evidence.insert("roundTrips".into(), json!(trips));
    evidence.insert("switches".into(), json!(switches));
    Ok((samples.cost("switch to another process")?, evidence))
}

/// A child process that sends back every byte.
struct Echo {
    child: libc::pid_t,
    to: OwnedFd,
    from: OwnedFd,
}

impl Echo {
    fn start() -> io::Result<Self> {
        let (to, from) = (pipe()?, pipe()?);
        // SAFETY: the child makes system calls only, as it must where the parent has several threads.
        let child = unsafe { libc::fork() };
        match child {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                let (input, output) = (to.0.as_raw_fd(), from.1.as_raw_fd());
                // SAFETY: plain system calls on descriptors that this process owns. Its own copy of the far end
                // is closed, so that it ends with its parent.
                unsafe {
                    libc::close(to.1.as_raw_fd());
                    let mut byte = 0u8;
                    while libc::read(input, (&raw mut byte).cast(), 1) == 1
                        && libc::write(output, (&raw const byte).cast(), 1) == 1
                    {}
                    libc::_exit(0)
                }
            }
            _ => Ok(Echo { child, to: to.1, from: from.0 }),
        }
    }

    fn round_trip(&self) -> io::Result<()> {
        send(&self.to)?;
        receive(&self.from)
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        // The end of the pipe would not reach it while another child, forked meanwhile, holds a copy of it.
        // SAFETY: the child is this process's own and is waited for once.
        unsafe {
            libc::kill(self.child, libc::SIGKILL);
            libc::waitpid(self.child, std::ptr::null_mut(), 0);
        }
    }
}

/// Reading end and writing end.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    std::io::pipe().map(|(reader, writer)| (reader.into(), writer.into()))
}

fn send(pipe: &OwnedFd) -> io::Result<()> {
    // SAFETY: one byte from a live array.
    let written = unsafe { libc::write(pipe.as_raw_fd(), [1u8].as_ptr().cast(), 1) };
    one(written)
}

fn receive(pipe: &OwnedFd) -> io::Result<()> {
    let mut byte = [0u8];
    // SAFETY: one byte into a live array.
    let read = unsafe { libc::read(pipe.as_raw_fd(), byte.as_mut_ptr().cast(), 1) };
    one(read)
}

fn one(moved: isize) -> io::Result<()> {
    match moved {
        1 => Ok(()),
        0 => Err(io::Error::other("the other process of the probe has ended")),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_from_another_process() {
        let echo = Echo::start().unwrap();
        for _ in 0..10 {
            echo.round_trip().unwrap();
        }
    }
}
