//! pgbench's three scripts over pgbench's four tables.

/// A script that comes with the driver.
pub struct Builtin {
    pub name: &'static str,
    pub text: &'static str,
}

pub const ALL: [Builtin; 3] = [
    Builtin { name: "select-only", text: include_str!("builtin/select-only.sql") },
    Builtin { name: "simple-update", text: include_str!("builtin/simple-update.sql") },
    Builtin { name: "tpcb-like", text: include_str!("builtin/tpcb-like.sql") },
];

pub fn find(name: &str) -> Result<&'static Builtin, String> {
    ALL.iter().find(|builtin| builtin.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|builtin| builtin.name).collect();
        format!("there is no script {name:?}; there are {}", names.join(", "))
    })
}
