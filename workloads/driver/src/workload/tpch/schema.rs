//! Tables (clause 1.4.1), keys (1.4.2) and the indexes that clause 1.5.4 allows: on keys and on single
//! date columns.

use crate::load::{Key, Table};

/// Largest first, so that no connection is left alone with a big table at the end.
pub const TABLES: [Table; 8] = [
    Table { name: "lineitem" },
    Table { name: "orders" },
    Table { name: "partsupp" },
    Table { name: "part" },
    Table { name: "customer" },
    Table { name: "supplier" },
    Table { name: "nation" },
    Table { name: "region" },
];

pub const CREATE: &str = include_str!("schema.sql");

pub const KEYS: [Key; 25] = [
    Key::primary("lineitem", "l_orderkey, l_linenumber"),
    Key::primary("orders", "o_orderkey"),
    Key::primary("partsupp", "ps_partkey, ps_suppkey"),
    Key::primary("part", "p_partkey"),
    Key::primary("customer", "c_custkey"),
    Key::primary("supplier", "s_suppkey"),
    Key::primary("nation", "n_nationkey"),
    Key::primary("region", "r_regionkey"),
    Key::index("lineitem_partsupp", "lineitem", "l_partkey, l_suppkey"),
    Key::index("lineitem_supplier", "lineitem", "l_suppkey"),
    Key::index("lineitem_shipdate", "lineitem", "l_shipdate"),
    Key::index("orders_customer", "orders", "o_custkey"),
    Key::index("orders_orderdate", "orders", "o_orderdate"),
    Key::index("partsupp_supplier", "partsupp", "ps_suppkey"),
    Key::index("customer_nation", "customer", "c_nationkey"),
    Key::index("supplier_nation", "supplier", "s_nationkey"),
    Key::index("nation_region", "nation", "n_regionkey"),
    Key::foreign("nation", "n_regionkey", "region", "r_regionkey"),
    Key::foreign("supplier", "s_nationkey", "nation", "n_nationkey"),
    Key::foreign("customer", "c_nationkey", "nation", "n_nationkey"),
    Key::foreign("partsupp", "ps_partkey", "part", "p_partkey"),
    Key::foreign("partsupp", "ps_suppkey", "supplier", "s_suppkey"),
    Key::foreign("orders", "o_custkey", "customer", "c_custkey"),
    Key::foreign("lineitem", "l_orderkey", "orders", "o_orderkey"),
    Key::foreign("lineitem", "l_partkey, l_suppkey", "partsupp", "ps_partkey, ps_suppkey"),
];
