//! The four tables and their keys.

use crate::load::{Key, Table};

pub const TABLES: [Table; 4] = [
    Table { name: "subscriber" },
    Table { name: "access_info" },
    Table { name: "special_facility" },
    Table { name: "call_forwarding" },
];

pub const CREATE: &str = include_str!("schema.sql");

pub const KEYS: [Key; 8] = [
    Key::primary("subscriber", "s_id"),
    Key::primary("access_info", "s_id, ai_type"),
    Key::primary("special_facility", "s_id, sf_type"),
    Key::primary("call_forwarding", "s_id, sf_type, start_time"),
    Key::unique("subscriber_number", "subscriber", "sub_nbr"),
    Key::foreign("access_info", "s_id", "subscriber", "s_id"),
    Key::foreign("special_facility", "s_id", "subscriber", "s_id"),
    Key::foreign("call_forwarding", "s_id, sf_type", "special_facility", "s_id, sf_type"),
];
