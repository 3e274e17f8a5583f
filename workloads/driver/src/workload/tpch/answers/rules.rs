//! What clause 2.1.3.5 asks of each column, and how each answer is ordered.

/// How close a value has to be to the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// a): single values and counts, and by comments 2 and 4 sums of ones and of quantities: equal.
    Exact,
    /// c): sums, within 100 dollars.
    Sum,
    /// d): averages, within 1 % once rounded to hundredths.
    Average,
    /// b) and c), by comment 1: ratios of sums.
    RatioOfSums,
}

/// The rules for the answer of one query.
#[derive(Debug)]
pub struct Rules {
    pub columns: &'static [Precision],
    /// Columns of ORDER BY; rows equal in all of them may come in any order.
    pub order: &'static [usize],
    /// Rows that the query returns at most (clauses 2.4.x.1).
    pub limit: Option<usize>,
}

use Precision::{Average as A, Exact as X, RatioOfSums as R, Sum as S};

const fn all(columns: &'static [Precision], order: &'static [usize]) -> Rules {
    Rules { columns, order, limit: None }
}

const fn first(limit: usize, columns: &'static [Precision], order: &'static [usize]) -> Rules {
    Rules { columns, order, limit: Some(limit) }
}

const RULES: [Rules; 22] = [
    all(&[X, X, X, S, S, S, A, A, A, X], &[0, 1]),
    first(100, &[X, X, X, X, X, X, X, X], &[0, 2, 1, 3]),
    first(10, &[X, S, X, X], &[1, 2]),
    all(&[X, X], &[0]),
    all(&[X, S], &[1]),
    all(&[S], &[]),
    all(&[X, X, X, S], &[0, 1, 2]),
    all(&[X, R], &[0]),
    all(&[X, X, S], &[0, 1]),
    first(20, &[X, X, S, X, X, X, X, X], &[2]),
    all(&[X, S], &[1]),
    all(&[X, X, X], &[0]),
    all(&[X, X], &[1, 0]),
    all(&[R], &[]),
    all(&[X, X, X, X, S], &[0]),
    all(&[X, X, X, X], &[3, 0, 1, 2]),
    all(&[R], &[]),
    first(100, &[X, X, X, X, X, X], &[4, 3]),
    all(&[S], &[]),
    all(&[X, X], &[0]),
    first(100, &[X, X], &[1, 0]),
    all(&[X, X, S], &[0]),
];

/// The rules of a query (1 to 22).
pub fn of(query: u8) -> &'static Rules {
    &RULES[usize::from(query) - 1]
}
