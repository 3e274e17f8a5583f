//! Substitution parameters: the values of the query validation (clauses 2.4.x.3), and random ones (2.4.x.2).

use tpchgen::distribution::Distributions;
use tpchgen::generators::{NationGenerator, RegionGenerator};

use super::queries::Parameters;
use super::ScaleFactor;
use crate::workload::random::Random;

/// Where the parameters come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Choice {
    Validation,
    Random,
}

/// The parameters of a query (1 to 22). Random ones depend on the seed and the query alone.
pub fn of(query: u8, choice: Choice, seed: u64, scale: &ScaleFactor) -> Parameters {
    match choice {
        Choice::Validation => validation(query, scale),
        Choice::Random => {
            random(query, scale, &mut Random::stream(seed, "tpch substitution parameters", query.into()))
        }
    }
}

fn named<const N: usize>(pairs: [(&'static str, &str); N]) -> Parameters {
    pairs.into_iter().map(|(name, value)| (name, value.to_string())).collect()
}

fn validation(query: u8, scale: &ScaleFactor) -> Parameters {
    match query {
        1 => named([("delta", "90")]),
        2 => named([("size", "15"), ("type", "BRASS"), ("region", "EUROPE")]),
        3 => named([("segment", "BUILDING"), ("date", "1995-03-15")]),
        4 => named([("date", "1993-07-01")]),
        5 => named([("region", "ASIA"), ("date", "1994-01-01")]),
        6 => named([("date", "1994-01-01"), ("discount", "0.06"), ("quantity", "24")]),
        7 => named([("nation1", "FRANCE"), ("nation2", "GERMANY")]),
        8 => named([("nation", "BRAZIL"), ("region", "AMERICA"), ("type", "ECONOMY ANODIZED STEEL")]),
        9 => named([("color", "green")]),
        10 => named([("date", "1993-10-01")]),
        11 => vec![("nation", "GERMANY".into()), ("fraction", fraction(scale))],
        12 => named([("shipmode1", "MAIL"), ("shipmode2", "SHIP"), ("date", "1994-01-01")]),
        13 => named([("word1", "special"), ("word2", "requests")]),
        14 => named([("date", "1995-09-01")]),
        15 => named([("date", "1996-01-01")]),
        16 => {
            let mut all = named([("brand", "Brand#45"), ("type", "MEDIUM POLISHED")]);
            all.extend(numbered(&SIZES, &[49, 14, 23, 45, 19, 3, 36, 9]));
            all
        }
        17 => named([("brand", "Brand#23"), ("container", "MED BOX")]),
        18 => named([("quantity", "300")]),
        19 => named([
            ("quantity1", "1"),
            ("quantity2", "10"),
            ("quantity3", "20"),
            ("brand1", "Brand#12"),
            ("brand2", "Brand#23"),
            ("brand3", "Brand#34"),
        ]),
        20 => named([("color", "forest"), ("date", "1994-01-01"), ("nation", "CANADA")]),
        21 => named([("nation", "SAUDI ARABIA")]),
        _ => numbered(&CODES, &[13, 31, 23, 29, 30, 18, 17]),
    }
}

const SIZES: [&str; 8] = ["size1", "size2", "size3", "size4", "size5", "size6", "size7", "size8"];
const CODES: [&str; 7] = ["code1", "code2", "code3", "code4", "code5", "code6", "code7"];

fn numbered(names: &[&'static str], values: &[i64]) -> Parameters {
    names.iter().zip(values).map(|(name, value)| (*name, value.to_string())).collect()
}

fn random(query: u8, scale: &ScaleFactor, random: &mut Random) -> Parameters {
    match query {
        1 => vec![("delta", random.uniform(60, 120).to_string())],
        2 => vec![
            ("size", random.uniform(1, 50).to_string()),
            ("type", syllables(random)[2].clone()),
            ("region", region(random)),
        ],
        3 => vec![
            ("segment", value(random, Distributions::static_default().market_segments().get_values())),
            ("date", format!("1995-03-{:02}", random.uniform(1, 31))),
        ],
        4 => vec![("date", month(random, (1993, 1), (1997, 10)))],
        5 => vec![("region", region(random)), ("date", year(random))],
        6 => vec![
            ("date", year(random)),
            ("discount", format!("0.0{}", random.uniform(2, 9))),
            ("quantity", random.uniform(24, 25).to_string()),
        ],
        7 => {
            let mut nations = nations();
            random.shuffle(&mut nations);
            vec![("nation1", nations[0].0.clone()), ("nation2", nations[1].0.clone())]
        }
        8 => {
            let (nation, region) = random.pick(&nations()).clone();
            vec![("nation", nation), ("region", region), ("type", syllables(random).join(" "))]
        }
        9 => vec![("color", color(random))],
        10 => vec![("date", month(random, (1993, 2), (1995, 1)))],
        11 => vec![("nation", nation(random)), ("fraction", fraction(scale))],
        12 => {
            let mut modes = Distributions::static_default().ship_modes().get_values().to_vec();
            random.shuffle(&mut modes);
            vec![("shipmode1", modes[0].into()), ("shipmode2", modes[1].into()), ("date", year(random))]
        }
        13 => vec![
            ("word1", value(random, &["special", "pending", "unusual", "express"])),
            ("word2", value(random, &["packages", "requests", "accounts", "deposits"])),
        ],
        14 => vec![("date", month(random, (1993, 1), (1997, 12)))],
        15 => vec![("date", month(random, (1993, 1), (1997, 10)))],
        16 => {
            let mut all = vec![("brand", brand(random)), ("type", syllables(random)[..2].join(" "))];
            all.extend(numbered(&SIZES, &distinct(random, 1, 50, 8)));
            all
        }
        17 => vec![
            ("brand", brand(random)),
            ("container", value(random, Distributions::static_default().part_containers().get_values())),
        ],
        18 => vec![("quantity", random.uniform(312, 315).to_string())],
        19 => vec![
            ("quantity1", random.uniform(1, 10).to_string()),
            ("quantity2", random.uniform(10, 20).to_string()),
            ("quantity3", random.uniform(20, 30).to_string()),
            ("brand1", brand(random)),
            ("brand2", brand(random)),
            ("brand3", brand(random)),
        ],
        20 => vec![("color", color(random)), ("date", year(random)), ("nation", nation(random))],
        21 => vec![("nation", nation(random))],
        _ => numbered(&CODES, &distinct(random, 10, 34, 7)),
    }
}

/// 0.0001 / SF, as a decimal number without exponent (clause 2.4.11.3).
fn fraction(scale: &ScaleFactor) -> String {
    let text = format!("{:.12}", 0.0001 / scale.value());
    text.trim_end_matches('0').to_string()
}

fn value(random: &mut Random, from: &[&'static str]) -> String {
    (*random.pick(from)).to_string()
}

fn distinct(random: &mut Random, low: i64, high: i64, count: usize) -> Vec<i64> {
    let mut all: Vec<i64> = (low..=high).collect();
    random.shuffle(&mut all);
    all.truncate(count);
    all
}

/// The first of January of 1993 to 1997.
fn year(random: &mut Random) -> String {
    format!("{}-01-01", random.uniform(1993, 1997))
}

/// The first day of a month between two months, both included.
fn month(random: &mut Random, first: (i64, i64), last: (i64, i64)) -> String {
    let month = random.uniform(first.0 * 12 + first.1 - 1, last.0 * 12 + last.1 - 1);
    format!("{}-{:02}-01", month / 12, month % 12 + 1)
}

fn brand(random: &mut Random) -> String {
    format!("Brand#{}{}", random.uniform(1, 5), random.uniform(1, 5))
}

fn color(random: &mut Random) -> String {
    value(random, Distributions::static_default().part_colors().get_values())
}

/// The three words of a random part type.
fn syllables(random: &mut Random) -> Vec<String> {
    let all = Distributions::static_default().part_types().get_values();
    random.pick(all).split(' ').map(str::to_string).collect()
}

fn region(random: &mut Random) -> String {
    value(random, Distributions::static_default().regions().get_values())
}

fn nation(random: &mut Random) -> String {
    random.pick(&nations()).0.clone()
}

/// Names of the 25 nations, each with its region.
fn nations() -> Vec<(String, String)> {
    let regions: Vec<String> = RegionGenerator::new(1.0, 1, 1).iter().map(|r| r.r_name.to_string()).collect();
    NationGenerator::new(1.0, 1, 1)
        .iter()
        .map(|nation| (nation.n_name.to_string(), regions[nation.n_regionkey as usize].clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::queries;
    use super::*;

    fn texts(choice: Choice, seed: u64, scale: &str) -> Vec<String> {
        let scale = scale.parse().unwrap();
        (1..=22).map(|query| queries::text(query, &of(query, choice, seed, &scale))).collect()
    }

    #[test]
    fn every_placeholder_of_every_query_has_a_value() {
        for seed in 0..50 {
            for text in
                texts(Choice::Random, seed, "1").iter().chain(&texts(Choice::Validation, seed, "0.01"))
            {
                assert!(!text.contains(['{', '}']), "{text}");
            }
        }
    }

    #[test]
    fn random_parameters_are_fixed_by_the_seed_and_validation_ones_by_nothing() {
        assert_eq!(texts(Choice::Random, 7, "1"), texts(Choice::Random, 7, "1"));
        assert_ne!(texts(Choice::Random, 7, "1"), texts(Choice::Random, 8, "1"));
        assert_eq!(texts(Choice::Validation, 7, "1"), texts(Choice::Validation, 8, "1"));
    }

    #[test]
    fn the_fraction_of_query_11_follows_the_scale_factor() {
        for (scale, expected) in
            [("1", "0.0001"), ("0.01", "0.01"), ("100", "0.000001"), ("3", "0.000033333333")]
        {
            assert_eq!(fraction(&scale.parse().unwrap()), expected);
        }
    }

    #[test]
    fn random_parameters_stay_in_the_ranges_of_the_specification() {
        let scale = "1".parse().unwrap();
        let all = |query, name: &str| -> Vec<String> {
            (0..300)
                .map(|seed| {
                    of(query, Choice::Random, seed, &scale).into_iter().find(|(n, _)| *n == name).unwrap().1
                })
                .collect()
        };
        let bounds = |values: Vec<String>| {
            (values.iter().min().unwrap().clone(), values.iter().max().unwrap().clone())
        };
        assert_eq!(bounds(all(4, "date")), ("1993-01-01".into(), "1997-10-01".into()));
        assert_eq!(bounds(all(10, "date")), ("1993-02-01".into(), "1995-01-01".into()));
        assert_eq!(bounds(all(6, "discount")), ("0.02".into(), "0.09".into()));
        assert_eq!(bounds(all(18, "quantity")), ("312".into(), "315".into()));
        for seed in 0..100 {
            let nations = of(7, Choice::Random, seed, &scale);
            assert_ne!(nations[0].1, nations[1].1);
            let mut codes: Vec<_> =
                of(22, Choice::Random, seed, &scale).into_iter().map(|(_, v)| v).collect();
            codes.sort();
            codes.dedup();
            assert_eq!(codes.len(), 7);
        }
    }

    #[test]
    fn the_region_of_query_8_is_that_of_its_nation() {
        assert!(nations().contains(&("BRAZIL".into(), "AMERICA".into())));
        assert_eq!(nations().len(), 25);
    }
}
