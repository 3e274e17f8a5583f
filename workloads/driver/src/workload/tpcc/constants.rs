//! The constants C of NURand, chosen once for the load and once for a run (clause 2.1.6.1).

use crate::workload::random::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    /// For customer names, A = 255.
    pub c_last: i64,
    /// For customer numbers, A = 1023.
    pub c_id: i64,
    /// For item numbers, A = 8191.
    pub ol_i_id: i64,
}

/// The constant for customer names while loading (C-Load).
pub fn c_last_of_load(seed: u64) -> i64 {
    Random::stream(seed, "tpcc C-Load", 0).uniform(0, 255)
}

impl Constants {
    /// The constants of a run (C-Run): that for names keeps its distance from C-Load.
    pub fn for_run(seed: u64, c_last_load: i64) -> Self {
        let mut random = Random::stream(seed, "tpcc C-Run", 0);
        let allowed: Vec<i64> = (0..=255).filter(|run| distance_allowed((run - c_last_load).abs())).collect();
        Constants {
            c_last: *random.pick(&allowed),
            c_id: random.uniform(0, 1023),
            ol_i_id: random.uniform(0, 8191),
        }
    }
}

/// Whether |C-Run - C-Load| is between 65 and 119, but neither 96 nor 112.
pub fn distance_allowed(delta: i64) -> bool {
    (65..=119).contains(&delta) && delta != 96 && delta != 112
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_of_load_and_run_keep_the_specified_distance() {
        for load in 0..=255 {
            for seed in 0..20 {
                let run = Constants::for_run(seed, load);
                assert!((0..=255).contains(&run.c_last));
                assert!(distance_allowed((run.c_last - load).abs()), "{load} {}", run.c_last);
                assert!((0..=1023).contains(&run.c_id) && (0..=8191).contains(&run.ol_i_id));
            }
        }
    }

    #[test]
    fn the_forbidden_distances_are_forbidden() {
        let forbidden: Vec<i64> = (60..125).filter(|delta| !distance_allowed(*delta)).collect();
        assert_eq!(forbidden, [60, 61, 62, 63, 64, 96, 112, 120, 121, 122, 123, 124]);
    }
}
