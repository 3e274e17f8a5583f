//! What the specification sets of a run's inputs, counted over the transactions that committed.

use super::inputs::Who;
use crate::measure::Mark;
use crate::report::Share;

/// 1 % of the order lines, 15 % of the payments, 60 % of the customers; and deliveries that found a district
/// without an open order.
pub const NAMES: [&str; 4] = ["remoteOrderLines", "remotePayments", "customersByName", "skippedDeliveries"];
const REMOTE_LINES: u8 = 0;
const REMOTE_PAYMENTS: u8 = 1;
const BY_NAME: u8 = 2;
const SKIPPED: u8 = 3;

/// More than this part of the deliveries, and more than one, have to be reported (clause 2.7.4.2).
const SKIPPED_LIMIT: f64 = 0.01;

pub fn remote_lines(remote: usize, of: usize) -> Mark {
    Mark { share: REMOTE_LINES, count: remote as u16, of: of as u16 }
}

pub fn remote_payment(remote: bool) -> Mark {
    Mark { share: REMOTE_PAYMENTS, count: remote.into(), of: 1 }
}

pub fn by_name(who: &Who) -> Mark {
    Mark { share: BY_NAME, count: matches!(who, Who::LastName(_)).into(), of: 1 }
}

pub fn skipped_delivery(skipped: bool) -> Mark {
    Mark { share: SKIPPED, count: skipped.into(), of: 1 }
}

/// The shares with the limit of the one that has one.
pub fn limited(shares: Vec<Share>) -> Vec<Share> {
    let limit = |share: Share| match share.name == NAMES[usize::from(SKIPPED)] {
        true => share.limited(SKIPPED_LIMIT),
        false => share,
    };
    shares.into_iter().map(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_one_percent_and_more_than_one_of_the_deliveries_exceed_the_limit() {
        let exceeded = |count, of| {
            let shares = limited(vec![Share::new("remotePayments", 9, 9), Share::new(NAMES[3], count, of)]);
            assert_eq!((shares[0].limit, shares[0].exceeded), (None, None));
            assert_eq!(shares[1].limit, Some(0.01));
            shares[1].exceeded.unwrap()
        };
        assert!(!exceeded(0, 0) && !exceeded(1, 1) && !exceeded(1, 50) && !exceeded(3, 300));
        assert!(exceeded(2, 2) && exceeded(2, 50) && exceeded(4, 300));
    }
}
