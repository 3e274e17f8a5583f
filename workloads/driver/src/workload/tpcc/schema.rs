//! The nine tables (clause 1.3), their primary keys, and the two indexes that lookups by name and by
//! customer need. Foreign keys are not enforced, which clause 1.4 leaves open.

use crate::load::{Key, Table};

pub const DISTRICTS: i32 = 10;
pub const CUSTOMERS: i32 = 3000;
pub const ITEMS: i32 = 100_000;
/// Orders of a district at the start; those from [`FIRST_OPEN_ORDER`] on are not delivered yet.
pub const ORDERS: i32 = 3000;
pub const FIRST_OPEN_ORDER: i32 = 2101;

pub const TABLES: [Table; 9] = [
    Table { name: "stock" },
    Table { name: "order_line" },
    Table { name: "customer" },
    Table { name: "item" },
    Table { name: "orders" },
    Table { name: "history" },
    Table { name: "new_order" },
    Table { name: "district" },
    Table { name: "warehouse" },
];

pub const CREATE: &str = include_str!("schema.sql");

pub const KEYS: [Key; 10] = [
    Key::primary("stock", "s_w_id, s_i_id"),
    Key::primary("order_line", "ol_w_id, ol_d_id, ol_o_id, ol_number"),
    Key::primary("customer", "c_w_id, c_d_id, c_id"),
    Key::primary("orders", "o_w_id, o_d_id, o_id"),
    Key::primary("item", "i_id"),
    Key::primary("new_order", "no_w_id, no_d_id, no_o_id"),
    Key::primary("district", "d_w_id, d_id"),
    Key::primary("warehouse", "w_id"),
    Key::index("customer_name", "customer", "c_w_id, c_d_id, c_last, c_first"),
    Key::index("orders_customer", "orders", "o_w_id, o_d_id, o_c_id, o_id"),
];
