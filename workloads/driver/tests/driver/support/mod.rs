//! Real servers for the tests, and the driver's binary run against it.

pub mod authority;
pub mod cluster;
pub mod driver;
pub mod hyper;
pub mod mariadb;
pub mod small_disk;
pub mod tatp;
pub mod tpcc;
pub mod tpch;

pub use cluster::Database;
