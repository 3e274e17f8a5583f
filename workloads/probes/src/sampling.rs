//! Batches of an operation, repeated until there are enough of them.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::figure::Cost;
use crate::statistics;
use crate::{clock, cpu};

/// Fewest batches that a figure rests on.
const FEWEST: usize = 5;

/// Most batches that are kept.
const MOST: usize = 100_000;

/// Batches of fast operations are made this long, so that the clock does not show.
pub const BATCH: Duration = Duration::from_millis(1);

/// What a thread gets at the gate when another one has left for good.
const LEFT: io::ErrorKind = io::ErrorKind::BrokenPipe;

/// Something whose batches can be timed by the thread that runs them.
pub trait Work {
    /// Brings everything into the state from which a batch starts. Not timed.
    fn prepare(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Runs one batch and returns the number of operations in it; timed as a whole.
    fn run(&mut self) -> u64;

    /// Looks at what the batch left behind, and proves that it was what it should be. Not timed.
    fn verify(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Seconds for one operation in each batch, and the number of operations in all of them.
#[derive(Debug, Default)]
pub struct Samples {
    pub costs: Vec<f64>,
    pub operations: u64,
}

impl Samples {
    /// One batch of `operations` that took `time`, the clock's own time included.
    pub fn push(&mut self, time: Duration, operations: u64) {
        let net = time.saturating_sub(clock::overhead());
        self.costs.push(net.as_secs_f64() / operations as f64);
        self.operations += operations;
    }

    pub fn cost(&self, per: &'static str) -> io::Result<Cost> {
        let summary = statistics::summarise(&self.costs)
            .ok_or_else(|| io::Error::other("fewer than two batches ended"))?;
        Ok(Cost::new(per, summary, self.costs.len() as u64, self.operations))
    }
}

/// Repeats `batch` for a fifth of `time` without keeping its results, then for `time`, at least [`FEWEST`] times.
pub fn repeat(time: Duration, mut batch: impl FnMut(&mut Samples) -> io::Result<()>) -> io::Result<Samples> {
    let began = Instant::now();
    let mut discarded = Samples::default();
    while discarded.costs.is_empty() || began.elapsed() < time / 5 {
        batch(&mut discarded)?;
    }
    let began = Instant::now();
    let mut samples = Samples::default();
    while samples.costs.len() < FEWEST || (began.elapsed() < time && samples.costs.len() < MOST) {
        batch(&mut samples)?;
    }
    Ok(samples)
}

/// Times batches of one thread's work, pinned to a CPU.
pub fn alone<W: Work + Send>(
    cpu: usize,
    time: Duration,
    make: impl FnOnce() -> io::Result<W> + Send,
) -> io::Result<(Samples, W)> {
    on_cpu(cpu, move || {
        let mut work = make()?;
        let samples = repeat(time, |samples| {
            work.prepare()?;
            let start = Instant::now();
            let operations = work.run();
            samples.push(start.elapsed(), operations);
            work.verify()
        })?;
        Ok((samples, work))
    })
}

/// Runs something on a thread of its own that is pinned to a CPU.
pub fn on_cpu<T: Send>(cpu: usize, run: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("probe".into()).spawn_scoped(scope, move || {
            cpu::pin(cpu)?;
            run()
        })?;
        thread.join().map_err(|_| io::Error::other("the probe's thread panicked"))?
    })
}

/// Times batches that one thread on each of the CPUs runs at the same time. A batch's cost is the mean over the
/// threads of what one operation took the thread that performed it.
pub fn together<W: Work>(
    cpus: &[usize],
    time: Duration,
    make: impl Fn() -> io::Result<W> + Sync,
) -> io::Result<Samples> {
    let gate = Gate::new(cpus.len());
    let outcomes = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (index, cpu) in cpus.iter().enumerate() {
            let (gate, make) = (&gate, &make);
            threads.push(scope.spawn(move || -> io::Result<Samples> {
                let made = cpu::pin(*cpu).and_then(|()| make());
                let _open = gate.open_on_drop();
                let mut work = made?;
                let batch = |samples: &mut Samples| {
                    work.prepare()?;
                    gate.wait()?;
                    let start = Instant::now();
                    let operations = work.run();
                    let took = start.elapsed();
                    gate.wait()?;
                    work.verify()?;
                    samples.push(took, operations);
                    Ok(())
                };
                // The first thread decides when it is enough; the others follow it batch by batch.
                match index {
                    0 => repeat(time, batch),
                    _ => follow(batch),
                }
            }));
        }
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|outcome| outcome.unwrap_or_else(|_| Err(io::Error::other("a probe's thread panicked"))))
            .collect()
    });
    merge(outcomes)
}

/// Batches until another thread has left.
fn follow(mut batch: impl FnMut(&mut Samples) -> io::Result<()>) -> io::Result<Samples> {
    let mut samples = Samples::default();
    loop {
        match batch(&mut samples) {
            Ok(()) => {}
            Err(error) if error.kind() == LEFT => return Ok(samples),
            Err(error) => return Err(error),
        }
    }
}

/// The first thread kept the batches after the warm-up: as many as the others' last ones.
fn merge(mut outcomes: Vec<io::Result<Samples>>) -> io::Result<Samples> {
    // A thread that only heard of another one's failure has nothing to say.
    outcomes.sort_by_key(|outcome| outcome.as_ref().is_err_and(|error| error.kind() == LEFT));
    let all = outcomes.into_iter().collect::<io::Result<Vec<Samples>>>()?;
    let count = all.iter().map(|samples| samples.costs.len()).min().unwrap_or(0);
    let threads = all.len() as f64;
    let costs = (0..count)
        .map(|batch| {
            all.iter().map(|samples| samples.costs[samples.costs.len() - count + batch]).sum::<f64>()
                / threads
        })
        .collect();
    let shortest = all.iter().map(|samples| samples.operations).min().unwrap_or(0);
    Ok(Samples { costs, operations: shortest * all.len() as u64 })
}

/// Lets threads, each on a CPU of its own, go on at the same moment: they spin, because waking up takes longer
/// than a batch may be off.
struct Gate {
    threads: usize,
    arrived: AtomicUsize,
    left: AtomicBool,
}

struct OpenOnDrop<'a>(&'a Gate);

impl Drop for OpenOnDrop<'_> {
    fn drop(&mut self) {
        self.0.left.store(true, Ordering::Release);
    }
}

impl Gate {
    fn new(threads: usize) -> Self {
        Gate { threads, arrived: AtomicUsize::new(0), left: AtomicBool::new(false) }
    }

    /// Fails when a thread has left, because it has enough or could not go on.
    fn wait(&self) -> io::Result<()> {
        let mine = self.arrived.fetch_add(1, Ordering::AcqRel);
        let complete = (mine / self.threads + 1) * self.threads;
        let mut turns = 0u32;
        while self.arrived.load(Ordering::Acquire) < complete {
            if self.left.load(Ordering::Acquire) {
                return Err(io::Error::new(LEFT, "another thread of the probe has ended"));
            }
            turns = turns.wrapping_add(1);
            match turns % 4096 {
                0 => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
        Ok(())
    }

    fn open_on_drop(&self) -> OpenOnDrop<'_> {
        OpenOnDrop(self)
    }
}

/// Number of repetitions of `run` that make a batch of about [`BATCH`].
pub fn calibrate(mut run: impl FnMut(u64)) -> u64 {
    let mut count = 1u64;
    loop {
        let start = Instant::now();
        run(count);
        let took = start.elapsed();
        if took >= BATCH || count >= 1 << 32 {
            return count;
        }
        count *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Count(u64);

    impl Work for Count {
        fn run(&mut self) -> u64 {
            self.0 += 1;
            std::hint::black_box((0..1000u64).fold(0, |sum, next| std::hint::black_box(sum ^ next)));
            10
        }
    }

    #[test]
    fn every_batch_after_the_warm_up_is_kept() {
        let cpu = cpu::allowed().unwrap()[0];
        let (samples, work) = alone(cpu, Duration::ZERO, || Ok(Count(0))).unwrap();
        assert_eq!((samples.costs.len(), samples.operations, work.0), (5, 50, 6));
    }

    #[test]
    fn threads_run_as_many_batches_each() {
        let cpus = cpu::allowed().unwrap();
        let samples = together(&cpus, Duration::from_millis(20), || Ok(Count(0))).unwrap();
        assert!(
            samples.costs.len() >= 5 && samples.costs.iter().all(|cost| cost.is_finite() && *cost >= 0.0)
        );
        assert_eq!(samples.operations, samples.costs.len() as u64 * 10 * cpus.len() as u64);
    }

    #[test]
    fn a_thread_that_fails_ends_the_others_and_is_heard() {
        struct Fails(u32);
        impl Work for Fails {
            fn run(&mut self) -> u64 {
                1
            }
            fn verify(&mut self) -> io::Result<()> {
                self.0 += 1;
                if self.0 == 3 {
                    return Err(io::Error::other("the third batch"));
                }
                Ok(())
            }
        }
        let cpus = cpu::allowed().unwrap();
        let error = together(&cpus, Duration::from_secs(60), || Ok(Fails(0))).unwrap_err();
        assert!(error.to_string().contains("the third batch"), "{error}");
        let error =
            together(&cpus, Duration::ZERO, || Err::<Count, _>(io::Error::other("no memory"))).unwrap_err();
        assert!(error.to_string().contains("no memory"), "{error}");
    }
}
