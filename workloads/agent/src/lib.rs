//! The process beside the database: PID 1 of its container or guest, and reader of its counters.
//!
//! The same code runs in a pod's container ([`serve`]), in a virtual machine ([`guest`]) and, to get
//! there, in the init containers ([`install`], [`pack_root`], [`tap`]) and in the launcher ([`launch`]).

pub mod cli;
pub mod cold;
pub mod config;
pub mod counters;
pub mod database_run;
mod executable;
pub mod facts;
pub mod guest;
mod guest_network;
pub mod http;
mod hugepages;
pub mod install;
mod interfaces;
pub mod launch;
pub mod limits;
pub mod local_run;
mod machine;
pub mod mounts;
pub mod pack_root;
pub mod page_cache;
pub mod process_table;
mod read_ahead;
pub mod readiness;
pub mod scope;
pub mod serve;
pub mod supervisor;
pub mod tap;
pub mod unit_costs;

pub use cli::run;
pub use guest::init as guest_init;
