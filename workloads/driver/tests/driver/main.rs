//! Tests of the driver as users run it: its binary, against real servers.
//!
//! One program, which is linked once and shares its servers among all tests.

mod at_database;
mod at_target;
mod connection;
mod failures;
mod hyper;
mod live_metrics;
mod memory;
mod merge;
mod micro;
mod mysql;
mod mysql_resume;
mod mysql_session;
mod open_loop;
mod scale_out;
mod series;
mod sql;
mod sql_engines;
mod static_binary;
mod support;
mod target;
mod tatp;
mod tls;
mod tpcc;
mod tpch;
mod tpch_answers;
mod tpch_cache;
mod tpch_resume;
mod tpch_streams;
mod zachmann;
