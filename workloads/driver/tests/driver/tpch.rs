//! TPC-H against a real PostgreSQL.

use crate::support::driver::{driver, finish, metric, operation};
use crate::support::Database;

/// Rows of each query's answer at scale factor 0.01 with the validation parameters.
const ROWS: [u64; 22] = [4, 4, 10, 5, 5, 1, 4, 2, 173, 20, 1, 2, 33, 1, 1, 296, 1, 2, 1, 1, 1, 7];

#[test]
fn load_run_and_check_at_scale_factor_one_hundredth() {
    let database = Database::new();
    let loaded = database.measured("tpch load --scale-factor 0.01 --connections 2 --progress none");
    let rows = &loaded["data"]["rows"];
    assert_eq!((rows["lineitem"].as_u64(), rows["orders"].as_u64()), (Some(60_175), Some(15_000)));
    assert_eq!((rows["partsupp"].as_u64(), rows["nation"].as_u64()), (Some(8_000), Some(25)));
    assert_eq!(database.sql("SELECT count(*) FROM tpch.lineitem"), "60175");
    assert_eq!(database.sql("SELECT count(*) FROM pg_constraint WHERE contype = 'f'"), "8");
    assert!(loaded["server"]["version"].as_str().unwrap().starts_with("PostgreSQL "));
    assert_eq!(loaded["server"]["settings"]["shared_buffers"], "8192");

    let again = database.measured("tpch load --scale-factor 0.010 --progress none");
    for part in ["data", "phases", "metrics", "driverUsage"] {
        assert_eq!(again[part], loaded[part], "{part}");
    }

    let run = database.measured("tpch run --runs 3 --warmup-runs 1 --progress none");
    assert_eq!(run["parameters"]["scaleFactor"], "0.01");
    assert_eq!(run["data"], loaded["data"]);
    let mut medians = 0.0;
    for (index, rows) in ROWS.iter().enumerate() {
        let query = operation(&run, &format!("Q{}", index + 1));
        assert_eq!(query["rows"], *rows, "{}", query["name"]);
        assert_eq!(query["counts"]["ok"], 3);
        assert!(query["firstRuntimeSeconds"].is_f64() && query["planFingerprint"].is_string());
        let mut runtimes: Vec<f64> = query["runtimesSeconds"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(serde_json::Value::as_f64)
            .collect();
        runtimes.sort_by(f64::total_cmp);
        medians += runtimes[1];
        assert_eq!(query["latency"]["count"], 3);
    }
    assert!((metric(&run, "totalRuntime") - medians).abs() < 1e-9);

    let chosen = database.measured("tpch run --queries 6,1 --runs 2 --warmup-runs 0 --connection per-query");
    let names: Vec<_> = chosen["operations"].as_array().unwrap().iter().map(|o| o["name"].clone()).collect();
    assert_eq!(names, ["Q6", "Q1"]);
    assert!(chosen["operations"][0]["firstRuntimeSeconds"].is_null());
    // The same text on the same data has the same plan, whatever the connection.
    assert_eq!(chosen["operations"][0]["planFingerprint"], operation(&run, "Q6")["planFingerprint"]);

    let random = database.measured("tpch run --parameters random --seed 9 --runs 1 --warmup-runs 0");
    assert_eq!((random["seed"].as_u64(), random["operations"].as_array().map(Vec::len)), (Some(9), Some(22)));

    let checked = database.measured("tpch check --scale-factor 0.01 --progress none");
    assert_eq!(checked["checks"].as_array().unwrap().len(), 18);

    database.sql("UPDATE tpch.orders SET o_totalprice = o_totalprice + 1 WHERE o_orderkey = 1");
    database.sql("DELETE FROM tpch.lineitem WHERE l_orderkey = 2");
    let broken = database.driver("tpch check --progress none");
    broken.failed(4, "CheckFailed", "4.2.3 o_totalprice: 1 violations");
    broken.failed(4, "CheckFailed", "4.2.5 lineitem: 60174 rows, expected 60175");
    broken.document();
}

/// The answers of two queries, calculated here from the generator's rows in whole cents.
#[test]
fn answers_agree_with_a_calculation_apart_from_any_database() {
    let database = Database::new();
    database.measured("tpch load --scale-factor 0.01 --progress none");
    let scale = "0.01".parse().unwrap();
    let answer = |query| {
        let sql = dbbench_driver::workload::tpch::validation_query(query, &scale);
        database.sql(&format!("SET search_path TO tpch; {sql}"))
    };

    let (mut revenue, mut groups) = (0i128, std::collections::BTreeMap::<(String, String), [i128; 4]>::new());
    for line in tpchgen::generators::LineItemGenerator::new(0.01, 1, 1).iter() {
        let cents = |text: String| text.replace('.', "").parse::<i128>().unwrap();
        let (price, quantity) = (cents(line.l_extendedprice.to_string()), i128::from(line.l_quantity));
        let (discount, tax) = (cents(line.l_discount.to_string()), cents(line.l_tax.to_string()));
        let shipped = line.l_shipdate.to_string();
        if shipped.starts_with("1994") && (5..=7).contains(&discount) && quantity < 24 {
            revenue += price * discount;
        }
        if shipped.as_str() <= "1998-09-02" {
            let group = groups.entry((line.l_returnflag.into(), line.l_linestatus.into())).or_default();
            let sums = [quantity, price, price * (100 - discount), price * (100 - discount) * (100 + tax)];
            group.iter_mut().zip(sums).for_each(|(total, one)| *total += one);
        }
    }
    let fixed = |value: i128, digits: u32| {
        let unit = 10i128.pow(digits);
        format!("{}.{:0width$}", value / unit, value % unit, width = digits as usize)
    };
    assert_eq!(answer(6), fixed(revenue, 4));
    let lines: Vec<String> =
        answer(1).lines().map(|line| line.split('|').take(6).collect::<Vec<_>>().join("|")).collect();
    let expected: Vec<String> = groups
        .iter()
        .map(|((flag, status), [quantity, price, discounted, charged])| {
            let sums =
                [fixed(quantity * 100, 2), fixed(*price, 2), fixed(*discounted, 4), fixed(*charged, 6)];
            format!("{flag}|{status}|{}", sums.join("|"))
        })
        .collect();
    assert_eq!(lines, expected);
}

/// The rows go to the server in its binary format. It gives them back as text: those of dbgen's files.
#[test]
fn the_server_reads_every_value_as_dbgen_writes_it() {
    let database = Database::new();
    let loaded = database.measured("tpch load --scale-factor 0.01 --connections 2 --progress none");
    let folder = tempfile::tempdir().unwrap();
    let mut generate = driver(&["tpch", "generate", "--scale-factor", "0.01", "--output-dir"]);
    generate.arg(folder.path());
    assert_eq!(finish(generate).code, 0);
    for table in loaded["data"]["rows"].as_object().unwrap().keys() {
        // As text char(n) has no blanks at its end. dbgen writes one decimal column without places, and a separator
        // behind the last column: an empty one follows it.
        let columns = database.sql(&format!(
            "SELECT string_agg(attname || CASE attname WHEN 'l_quantity' THEN '::integer' ELSE '::text' END, ',' \
             ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'tpch.{table}'::regclass AND attnum > 0"
        ));
        let rows = format!("COPY (SELECT {columns}, '' FROM tpch.{table}) TO STDOUT WITH (DELIMITER '|')");
        let stored = database.sql(&rows);
        let written = std::fs::read_to_string(folder.path().join(format!("{table}.tbl"))).unwrap();
        let sorted = |mut lines: Vec<String>| {
            lines.sort_unstable();
            lines
        };
        let stored = sorted(stored.lines().map(str::to_string).collect());
        let written = sorted(written.lines().map(str::to_string).collect());
        assert_eq!(stored.len(), written.len(), "{table}");
        let different = stored.iter().zip(&written).find(|(stored, written)| stored != written);
        assert_eq!(different, None, "{table}");
    }
}

#[test]
fn the_digest_does_not_depend_on_connections_or_schema() {
    let database = Database::new();
    let one = database.measured("tpch load --scale-factor 0.01 --connections 1 --progress none");
    let line = "tpch load --scale-factor 0.01 --connections 4 --schema other\"name --progress none";
    let other = database.measured(line);
    assert_eq!(one["data"], other["data"]);
    let larger = database.measured("tpch load --scale-factor 0.02 --schema larger --progress none");
    assert_ne!(one["data"]["digest"], larger["data"]["digest"]);
}

#[test]
fn a_query_that_runs_too_long_makes_the_measurement_invalid() {
    let database = Database::new();
    database.measured("tpch load --scale-factor 0.01 --progress none");
    let line = "tpch run --queries 1,6 --warmup-runs 0 --runs 2 --query-timeout 1ms --progress none";
    let outcome = database.driver(line);
    outcome.failed(5, "MeasurementInvalid", "Q1: ended after the query timeout of 1ms");
    let document = outcome.document();
    assert_eq!(document["valid"], false);
    assert_eq!(operation(&document, "Q1")["counts"]["error"], 1);
    assert_eq!(operation(&document, "Q1")["errors"]["57014"], 1);
}
