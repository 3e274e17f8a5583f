//! Tables (clause 1.4.1), keys (1.4.2) and the indexes that clause 1.5.4 allows: on keys and on single
//! date columns.

use crate::load::{Stage, Table};

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

pub const STAGES: [Stage; 3] = [
    Stage {
        parallel: true,
        statements: &[
            "ALTER TABLE lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber)",
            "ALTER TABLE orders ADD PRIMARY KEY (o_orderkey)",
            "ALTER TABLE partsupp ADD PRIMARY KEY (ps_partkey, ps_suppkey)",
            "ALTER TABLE part ADD PRIMARY KEY (p_partkey)",
            "ALTER TABLE customer ADD PRIMARY KEY (c_custkey)",
            "ALTER TABLE supplier ADD PRIMARY KEY (s_suppkey)",
            "ALTER TABLE nation ADD PRIMARY KEY (n_nationkey)",
            "ALTER TABLE region ADD PRIMARY KEY (r_regionkey)",
        ],
    },
    Stage {
        parallel: true,
        statements: &[
            "CREATE INDEX lineitem_partsupp ON lineitem (l_partkey, l_suppkey)",
            "CREATE INDEX lineitem_supplier ON lineitem (l_suppkey)",
            "CREATE INDEX lineitem_shipdate ON lineitem (l_shipdate)",
            "CREATE INDEX orders_customer ON orders (o_custkey)",
            "CREATE INDEX orders_orderdate ON orders (o_orderdate)",
            "CREATE INDEX partsupp_supplier ON partsupp (ps_suppkey)",
            "CREATE INDEX customer_nation ON customer (c_nationkey)",
            "CREATE INDEX supplier_nation ON supplier (s_nationkey)",
            "CREATE INDEX nation_region ON nation (n_regionkey)",
        ],
    },
    // In order: each one locks two tables.
    Stage {
        parallel: false,
        statements: &[
            "ALTER TABLE nation ADD FOREIGN KEY (n_regionkey) REFERENCES region",
            "ALTER TABLE supplier ADD FOREIGN KEY (s_nationkey) REFERENCES nation",
            "ALTER TABLE customer ADD FOREIGN KEY (c_nationkey) REFERENCES nation",
            "ALTER TABLE partsupp ADD FOREIGN KEY (ps_partkey) REFERENCES part",
            "ALTER TABLE partsupp ADD FOREIGN KEY (ps_suppkey) REFERENCES supplier",
            "ALTER TABLE orders ADD FOREIGN KEY (o_custkey) REFERENCES customer",
            "ALTER TABLE lineitem ADD FOREIGN KEY (l_orderkey) REFERENCES orders",
            "ALTER TABLE lineitem ADD FOREIGN KEY (l_partkey, l_suppkey) REFERENCES partsupp",
        ],
    },
];
