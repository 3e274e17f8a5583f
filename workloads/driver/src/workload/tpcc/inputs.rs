//! What a terminal enters before each transaction (clauses 2.4.1, 2.5.1, 2.6.1, 2.7.1 and 2.8.1).

use rust_decimal::Decimal;

use super::constants::Constants;
use super::names::last_name;
use super::schema::{CUSTOMERS, DISTRICTS, ITEMS};
use crate::workload::random::Random;

/// A terminal's place: its home warehouse, and the district that its Stock-Level transactions ask about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Home {
    pub warehouse: i32,
    pub district: i32,
    /// Warehouses in the database.
    pub warehouses: i32,
}

impl Home {
    /// Terminals go to the warehouses in turn, and within one to the districts in turn.
    pub fn of_terminal(index: usize, warehouses: i32) -> Self {
        let index = index as i64;
        let count = i64::from(warehouses);
        Home {
            warehouse: (index % count) as i32 + 1,
            district: (index / count % i64::from(DISTRICTS)) as i32 + 1,
            warehouses,
        }
    }

    /// A warehouse other than the home; the home where there is no other.
    fn remote(&self, random: &mut Random) -> i32 {
        if self.warehouses == 1 {
            return self.warehouse;
        }
        let other = random.int(1, self.warehouses - 1);
        if other >= self.warehouse {
            other + 1
        } else {
            other
        }
    }
}

/// How a customer is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    Number(i32),
    LastName(String),
}

impl Who {
    /// By last name in 60 % of the cases.
    fn draw(random: &mut Random, constants: &Constants) -> Self {
        if random.percent(60) {
            Who::LastName(last_name(random.nurand(255, constants.c_last, 0, 999)))
        } else {
            Who::Number(customer(random, constants))
        }
    }
}

fn customer(random: &mut Random, constants: &Constants) -> i32 {
    random.nurand(1023, constants.c_id, 1, CUSTOMERS.into()) as i32
}

fn district(random: &mut Random) -> i32 {
    random.int(1, DISTRICTS)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOrder {
    pub warehouse: i32,
    pub district: i32,
    pub customer: i32,
    pub lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub item: i32,
    pub supplier: i32,
    pub quantity: i32,
}

impl NewOrder {
    /// In 1 % of the orders the last item does not exist; 1 % of the lines come from another warehouse.
    pub fn draw(random: &mut Random, home: &Home, constants: &Constants) -> Self {
        let count = random.int(5, 15);
        let mut lines: Vec<Line> = (0..count)
            .map(|_| Line {
                item: random.nurand(8191, constants.ol_i_id, 1, ITEMS.into()) as i32,
                supplier: if random.percent(1) { home.remote(random) } else { home.warehouse },
                quantity: random.int(1, 10),
            })
            .collect();
        let unused = random.percent(1).then(|| lines.pop()).flatten();
        // Stock rows are locked in one order by everybody, so that orders do not deadlock.
        lines.sort_by_key(|line| (line.supplier, line.item));
        lines.extend(unused.map(|line| Line { item: ITEMS + 1, ..line }));
        NewOrder {
            warehouse: home.warehouse,
            district: district(random),
            customer: customer(random, constants),
            lines,
        }
    }

    pub fn all_local(&self) -> bool {
        self.lines.iter().all(|line| line.supplier == self.warehouse)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    pub warehouse: i32,
    pub district: i32,
    pub customer_warehouse: i32,
    pub customer_district: i32,
    pub who: Who,
    pub amount: Decimal,
}

impl Payment {
    /// 15 % of the payments are made by customers of another warehouse.
    pub fn draw(random: &mut Random, home: &Home, constants: &Constants) -> Self {
        let district = district(random);
        let (customer_warehouse, customer_district) = if random.percent(85) || home.warehouses == 1 {
            (home.warehouse, district)
        } else {
            (home.remote(random), self::district(random))
        };
        Payment {
            warehouse: home.warehouse,
            district,
            customer_warehouse,
            customer_district,
            who: Who::draw(random, constants),
            amount: Decimal::new(random.uniform(100, 500_000), 2),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderStatus {
    pub warehouse: i32,
    pub district: i32,
    pub who: Who,
}

impl OrderStatus {
    pub fn draw(random: &mut Random, home: &Home, constants: &Constants) -> Self {
        OrderStatus {
            warehouse: home.warehouse,
            district: district(random),
            who: Who::draw(random, constants),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub warehouse: i32,
    pub carrier: i32,
}

impl Delivery {
    pub fn draw(random: &mut Random, home: &Home) -> Self {
        Delivery { warehouse: home.warehouse, carrier: random.int(1, 10) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockLevel {
    pub warehouse: i32,
    pub district: i32,
    pub threshold: i32,
}

impl StockLevel {
    pub fn draw(random: &mut Random, home: &Home) -> Self {
        StockLevel { warehouse: home.warehouse, district: home.district, threshold: random.int(10, 20) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONSTANTS: Constants = Constants { c_last: 123, c_id: 259, ol_i_id: 7911 };
    const HOME: Home = Home { warehouse: 2, district: 1, warehouses: 5 };

    fn share<T>(draws: usize, mut draw: impl FnMut() -> T, holds: impl Fn(&T) -> bool) -> f64 {
        (0..draws).filter(|_| holds(&draw())).count() as f64 / draws as f64
    }

    #[test]
    fn one_percent_of_the_orders_ends_in_an_unused_item() {
        let mut random = Random::stream(1, "rollback", 0);
        let unused = share(
            100_000,
            || NewOrder::draw(&mut random, &HOME, &CONSTANTS),
            |order| order.lines.last().unwrap().item > ITEMS,
        );
        assert!((unused - 0.01).abs() < 0.002, "{unused}");
    }

    #[test]
    fn one_percent_of_the_lines_comes_from_a_truly_remote_warehouse() {
        let mut random = Random::stream(1, "remote", 0);
        let lines: Vec<Line> =
            (0..20_000).flat_map(|_| NewOrder::draw(&mut random, &HOME, &CONSTANTS).lines).collect();
        let remote = lines.iter().filter(|line| line.supplier != HOME.warehouse).count() as f64;
        assert!((remote / lines.len() as f64 - 0.01).abs() < 0.002);
        let suppliers: std::collections::BTreeSet<i32> = lines.iter().map(|line| line.supplier).collect();
        assert_eq!(suppliers, (1..=5).collect());
    }

    #[test]
    fn orders_have_five_to_fifteen_lines_in_locking_order() {
        let mut random = Random::stream(1, "lines", 0);
        let orders: Vec<NewOrder> =
            (0..5000).map(|_| NewOrder::draw(&mut random, &HOME, &CONSTANTS)).collect();
        let counts: std::collections::BTreeSet<usize> =
            orders.iter().map(|order| order.lines.len()).collect();
        assert_eq!(counts, (5..=15).collect());
        for order in orders {
            let used: Vec<_> =
                order.lines.iter().filter(|l| l.item <= ITEMS).map(|l| (l.supplier, l.item)).collect();
            assert!(used.is_sorted());
            assert_eq!(order.all_local(), order.lines.iter().all(|line| line.supplier == 2));
        }
    }

    #[test]
    fn fifteen_percent_of_the_payments_are_remote_and_sixty_percent_by_name() {
        let mut random = Random::stream(1, "payment", 0);
        let mut draw = || Payment::draw(&mut random, &HOME, &CONSTANTS);
        let remote = share(50_000, &mut draw, |payment| payment.customer_warehouse != 2);
        assert!((remote - 0.15).abs() < 0.01, "{remote}");
        let named = share(50_000, &mut draw, |payment| matches!(payment.who, Who::LastName(_)));
        assert!((named - 0.6).abs() < 0.01, "{named}");
        assert!((0..1000).map(|_| draw().amount).all(|a| a >= Decimal::ONE && a <= Decimal::from(5000)));
    }

    #[test]
    fn with_one_warehouse_nothing_is_remote() {
        let home = Home::of_terminal(3, 1);
        let mut random = Random::stream(1, "single", 0);
        for _ in 0..2000 {
            assert!(NewOrder::draw(&mut random, &home, &CONSTANTS).all_local());
            let payment = Payment::draw(&mut random, &home, &CONSTANTS);
            assert_eq!((payment.customer_warehouse, payment.customer_district), (1, payment.district));
        }
    }

    #[test]
    fn terminals_are_bound_to_warehouses_and_districts_in_turn() {
        let place = |index| (Home::of_terminal(index, 3).warehouse, Home::of_terminal(index, 3).district);
        assert_eq!((0..4).map(place).collect::<Vec<_>>(), [(1, 1), (2, 1), (3, 1), (1, 2)]);
        assert_eq!(place(30), (1, 1));
    }
}
