//! The four tables and their keys.

use crate::load::{Stage, Table};

pub const TABLES: [Table; 4] = [
    Table { name: "subscriber" },
    Table { name: "access_info" },
    Table { name: "special_facility" },
    Table { name: "call_forwarding" },
];

pub const CREATE: &str = include_str!("schema.sql");

pub const STAGES: [Stage; 2] = [
    Stage {
        parallel: true,
        statements: &[
            "ALTER TABLE subscriber ADD PRIMARY KEY (s_id)",
            "ALTER TABLE access_info ADD PRIMARY KEY (s_id, ai_type)",
            "ALTER TABLE special_facility ADD PRIMARY KEY (s_id, sf_type)",
            "ALTER TABLE call_forwarding ADD PRIMARY KEY (s_id, sf_type, start_time)",
            "CREATE UNIQUE INDEX subscriber_number ON subscriber (sub_nbr)",
        ],
    },
    // In order: each one locks two tables.
    Stage {
        parallel: false,
        statements: &[
            "ALTER TABLE access_info ADD FOREIGN KEY (s_id) REFERENCES subscriber",
            "ALTER TABLE special_facility ADD FOREIGN KEY (s_id) REFERENCES subscriber",
            "ALTER TABLE call_forwarding ADD FOREIGN KEY (s_id, sf_type) REFERENCES special_facility",
        ],
    },
];
