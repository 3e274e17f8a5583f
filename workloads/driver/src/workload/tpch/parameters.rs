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
    use std::collections::BTreeSet;

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

    /// Values of one parameter over many seeds.
    fn drawn(query: u8, name: &str) -> BTreeSet<String> {
        let scale = "1".parse().unwrap();
        let find =
            |seed| of(query, Choice::Random, seed, &scale).into_iter().find(|(found, _)| *found == name);
        (0..3000).map(|seed| find(seed).unwrap_or_else(|| panic!("Q{query} has no {name}")).1).collect()
    }

    fn strings(values: impl IntoIterator<Item = impl ToString>) -> BTreeSet<String> {
        values.into_iter().map(|value| value.to_string()).collect()
    }

    fn months(first: i64, last: i64) -> BTreeSet<String> {
        strings((first..=last).map(|month| format!("{}-{:02}-01", 1993 + month / 12, month % 12 + 1)))
    }

    fn products(parts: &[&[&str]]) -> BTreeSet<String> {
        let mut all = vec![String::new()];
        for part in parts {
            all = all.iter().flat_map(|head| part.iter().map(move |tail| format!("{head} {tail}"))).collect();
        }
        strings(all.iter().map(|text| text.trim()))
    }

    const TYPE1: &[&str] = &["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"];
    const TYPE2: &[&str] = &["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"];
    const TYPE3: &[&str] = &["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"];
    const REGIONS: [&str; 5] = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];

    /// Clauses 2.4.1.3 to 2.4.22.3, with the lists of clause 4.2.2.13 and 4.2.3: over many seeds each
    /// parameter takes exactly the values of its domain.
    #[test]
    fn every_random_parameter_takes_every_value_of_its_domain_and_no_other() {
        let years = strings((1993..=1997).map(|year| format!("{year}-01-01")));
        let nations = strings(nations().iter().map(|(name, _)| name));
        let brands = strings((1..=5).flat_map(|m| (1..=5).map(move |n| format!("Brand#{m}{n}"))));
        let regions = strings(REGIONS);
        let colors = drawn(9, "color");
        assert!(colors.len() == 92 && colors.contains("almond") && colors.contains("yellow"), "{colors:?}");
        let containers = products(&[
            &["SM", "LG", "MED", "JUMBO", "WRAP"],
            &["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"],
        ]);
        let domains: Vec<(u8, &str, BTreeSet<String>)> = vec![
            (1, "delta", strings(60..=120)),
            (2, "size", strings(1..=50)),
            (2, "type", strings(TYPE3)),
            (2, "region", regions.clone()),
            (3, "segment", strings(["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"])),
            (3, "date", strings((1..=31).map(|day| format!("1995-03-{day:02}")))),
            (4, "date", months(0, 57)),
            (5, "region", regions.clone()),
            (5, "date", years.clone()),
            (6, "date", years.clone()),
            (6, "discount", strings((2..=9).map(|cents| format!("0.0{cents}")))),
            (6, "quantity", strings([24, 25])),
            (7, "nation1", nations.clone()),
            (7, "nation2", nations.clone()),
            (8, "nation", nations.clone()),
            (8, "region", regions),
            (8, "type", products(&[TYPE1, TYPE2, TYPE3])),
            (10, "date", months(1, 24)),
            (11, "nation", nations.clone()),
            (11, "fraction", strings(["0.0001"])),
            (12, "shipmode1", strings(["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"])),
            (12, "shipmode2", strings(["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"])),
            (12, "date", years.clone()),
            (13, "word1", strings(["special", "pending", "unusual", "express"])),
            (13, "word2", strings(["packages", "requests", "accounts", "deposits"])),
            (14, "date", months(0, 59)),
            (15, "date", months(0, 57)),
            (16, "brand", brands.clone()),
            (16, "type", products(&[TYPE1, TYPE2])),
            (17, "brand", brands.clone()),
            (17, "container", containers),
            (18, "quantity", strings(312..=315)),
            (19, "quantity1", strings(1..=10)),
            (19, "quantity2", strings(10..=20)),
            (19, "quantity3", strings(20..=30)),
            (19, "brand1", brands.clone()),
            (19, "brand2", brands.clone()),
            (19, "brand3", brands),
            (20, "color", colors),
            (20, "date", years),
            (20, "nation", nations.clone()),
            (21, "nation", nations),
        ];
        for (query, name, domain) in &domains {
            assert_eq!(drawn(*query, name), *domain, "Q{query} {name}");
        }
        for name in SIZES {
            assert_eq!(drawn(16, name), strings(1..=50), "Q16 {name}");
        }
        for name in CODES {
            assert_eq!(drawn(22, name), strings(10..=34), "Q22 {name}");
        }
    }

    /// Items that clauses 2.4.7.3, 2.4.12.3, 2.4.16.3 and 2.4.22.3 want to be different.
    #[test]
    fn parameters_that_have_to_differ_do() {
        let scale = "1".parse().unwrap();
        for seed in 0..500 {
            for (query, prefix, count) in
                [(7, "nation", 2), (12, "shipmode", 2), (16, "size", 8), (22, "code", 7)]
            {
                let values = of(query, Choice::Random, seed, &scale);
                let named =
                    values.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, value)| value);
                assert_eq!(named.collect::<BTreeSet<_>>().len(), count, "Q{query}, seed {seed}");
            }
            let eighth = of(8, Choice::Random, seed, &scale);
            assert!(nations().contains(&(eighth[0].1.clone(), eighth[1].1.clone())));
        }
    }

    #[test]
    fn the_region_of_query_8_is_that_of_its_nation() {
        assert!(nations().contains(&("BRAZIL".into(), "AMERICA".into())));
        assert_eq!(nations().len(), 25);
    }
}
