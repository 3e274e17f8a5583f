//! Progress on stderr: a bar on a terminal, JSON lines elsewhere.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// A bar when stderr is a terminal, else JSON lines.
    Auto,
    Bar,
    Json,
    None,
}

/// At most one JSON line in this time, besides the first and the last of a phase.
const INTERVAL: Duration = Duration::from_secs(1);

/// Shows how far the current phase is. Clones share the state; any thread may report.
#[derive(Clone)]
pub struct Progress(Arc<Mutex<State>>);

struct State {
    mode: Mode,
    bar: Option<ProgressBar>,
    phase: &'static str,
    unit: &'static str,
    done: u64,
    total: u64,
    printed: Option<(Instant, u64)>,
}

impl Progress {
    pub fn new(mode: Mode) -> Self {
        let mode = match mode {
            Mode::Auto if std::io::stderr().is_terminal() => Mode::Bar,
            Mode::Auto => Mode::Json,
            chosen => chosen,
        };
        let state = State { mode, bar: None, phase: "", unit: "", done: 0, total: 0, printed: None };
        Progress(Arc::new(Mutex::new(state)))
    }

    /// Begins a phase of `total` units; ends the one before.
    pub fn begin(&self, phase: &'static str, total: u64, unit: &'static str) {
        let mut state = self.lock();
        state.end();
        (state.phase, state.unit, state.total, state.done, state.printed) = (phase, unit, total, 0, None);
        if state.mode == Mode::Bar {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            let style =
                ProgressStyle::with_template("{prefix:>10} [{bar:30}] {human_pos}/{human_len} {msg} {eta}");
            bar.set_style(style.expect("the template is a constant").progress_chars("=> "));
            bar.set_prefix(phase);
            bar.set_message(unit);
            state.bar = Some(bar);
        }
        state.show(false);
    }

    pub fn advance(&self, by: u64) {
        let mut state = self.lock();
        state.done += by;
        state.show(false);
    }

    pub fn set(&self, done: u64) {
        let mut state = self.lock();
        state.done = done;
        state.show(false);
    }

    /// Ends the last phase.
    pub fn finish(&self) {
        self.lock().end();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().expect("no holder of this lock panics")
    }
}

impl State {
    fn show(&mut self, last: bool) {
        if let Some(bar) = &self.bar {
            bar.set_position(self.done.min(self.total));
        }
        if self.mode != Mode::Json || self.phase.is_empty() {
            return;
        }
        let now = Instant::now();
        let due = match self.printed {
            None => true,
            Some((_, done)) if last => done != self.done,
            Some((at, _)) => now.duration_since(at) >= INTERVAL,
        };
        if due {
            self.printed = Some((now, self.done));
            eprintln!("{}", line(self.phase, self.done, self.total, self.unit));
        }
    }

    fn end(&mut self) {
        self.show(true);
        if let Some(bar) = self.bar.take() {
            bar.finish();
        }
        self.phase = "";
    }
}

fn line(phase: &str, done: u64, total: u64, unit: &str) -> String {
    format!(r#"{{"kind":"Progress","phase":"{phase}","done":{done},"total":{total},"unit":"{unit}"}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_line_is_json_that_begins_with_its_kind() {
        let text = line("measure", 3, 22, "queries");
        assert!(text.starts_with(r#"{"kind":"Progress","#));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((value["done"].as_u64(), value["total"].as_u64()), (Some(3), Some(22)));
    }
}
