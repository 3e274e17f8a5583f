//! The mix of transactions as a deck of cards (clause 5.2.4.2).

use crate::workload::random::Random;

pub const OPERATIONS: [&str; 5] = ["NEW_ORDER", "PAYMENT", "ORDER_STATUS", "DELIVERY", "STOCK_LEVEL"];

pub const NEW_ORDER: usize = 0;
pub const PAYMENT: usize = 1;
pub const ORDER_STATUS: usize = 2;
pub const DELIVERY: usize = 3;

/// Cards of each transaction in a deck of 100.
const CARDS: [usize; 5] = [45, 43, 4, 4, 4];

/// A terminal's deck. It is shuffled again when the last card has been drawn, so that every hundred
/// transactions have exactly the mix.
#[derive(Debug, Clone, Default)]
pub struct Deck(Vec<usize>);

impl Deck {
    pub fn draw(&mut self, random: &mut Random) -> usize {
        if self.0.is_empty() {
            for (operation, count) in CARDS.iter().enumerate() {
                self.0.extend(std::iter::repeat_n(operation, *count));
            }
            random.shuffle(&mut self.0);
        }
        self.0.pop().expect("the deck has just been filled")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hundred_cards_have_exactly_the_mix_in_another_order() {
        let mut random = Random::stream(1, "deck", 0);
        let mut deck = Deck::default();
        let mut hundred = || (0..100).map(|_| deck.draw(&mut random)).collect::<Vec<_>>();
        let (first, second) = (hundred(), hundred());
        assert_ne!(first, second);
        for cards in [first, second] {
            for (operation, count) in CARDS.iter().enumerate() {
                assert_eq!(cards.iter().filter(|card| **card == operation).count(), *count);
            }
        }
    }
}
