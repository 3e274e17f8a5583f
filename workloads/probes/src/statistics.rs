//! What a set of batches says about the cost of one operation.

/// Two-sided 95 % quantiles of Student's distribution for 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// Location and spread of the batches' costs, all in the unit of the costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    pub mean: f64,
    /// 95 % confidence interval of the mean (Student's, batches taken as independent).
    pub low: f64,
    pub high: f64,
    pub minimum: f64,
    pub lower_quartile: f64,
    pub median: f64,
    pub upper_quartile: f64,
}

/// Summarises costs, one a batch; None with fewer than two, which say nothing about the spread.
pub fn summarise(costs: &[f64]) -> Option<Summary> {
    if costs.len() < 2 {
        return None;
    }
    let count = costs.len() as f64;
    let mean = costs.iter().sum::<f64>() / count;
    let variance = costs.iter().map(|cost| (cost - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = student(costs.len() - 1) * (variance / count).sqrt();
    let mut sorted = costs.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(Summary {
        mean,
        low: mean - half,
        high: mean + half,
        minimum: sorted[0],
        lower_quartile: quantile(&sorted, 0.25),
        median: quantile(&sorted, 0.5),
        upper_quartile: quantile(&sorted, 0.75),
    })
}

/// Beyond the table the first terms of the expansion by degrees of freedom: right to three digits.
fn student(degrees: usize) -> f64 {
    STUDENT
        .get(degrees - 1)
        .copied()
        .unwrap_or(1.960 + 2.372 / degrees as f64 + 2.822 / (degrees as f64).powi(2))
}

/// Linear between the neighbours in rank.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = share * (sorted.len() - 1) as f64;
    let (below, above) = (rank.floor() as usize, rank.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * (rank - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_known_costs() {
        let found = summarise(&[4.0, 1.0, 2.0, 3.0, 5.0]).unwrap();
        assert_eq!((found.mean, found.median, found.minimum), (3.0, 3.0, 1.0));
        assert_eq!((found.lower_quartile, found.upper_quartile), (2.0, 4.0));
        // Standard deviation sqrt(2.5), 4 degrees of freedom.
        let half = 2.776 * (2.5f64 / 5.0).sqrt();
        assert!((found.high - 3.0 - half).abs() < 1e-12 && (3.0 - found.low - half).abs() < 1e-12);
    }

    #[test]
    fn equal_costs_leave_no_doubt_and_one_cost_says_nothing() {
        let found = summarise(&[7.0; 4]).unwrap();
        assert_eq!((found.low, found.high), (7.0, 7.0));
        assert_eq!(summarise(&[7.0]), None);
        assert_eq!(summarise(&[]), None);
    }

    #[test]
    fn quantiles_of_student_go_on_smoothly_beyond_the_table() {
        for (degrees, expected) in [(31, 2.040), (40, 2.021), (60, 2.000), (120, 1.980), (100_000, 1.960)] {
            assert!((student(degrees) - expected).abs() < 0.003, "{degrees}: {}", student(degrees));
        }
    }
}
