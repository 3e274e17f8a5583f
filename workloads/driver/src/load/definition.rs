//! Tables and keys as a workload declares them, once, and as each engine wants them made.

use crate::engine::Dialect;

/// A key or an index of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    pub table: &'static str,
    /// Names with commas between them.
    pub columns: &'static str,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Primary,
    Unique { name: &'static str },
    Index { name: &'static str },
    Foreign { table: &'static str, columns: &'static str },
}

impl Key {
    pub const fn primary(table: &'static str, columns: &'static str) -> Self {
        Key { table, columns, kind: Kind::Primary }
    }

    pub const fn unique(name: &'static str, table: &'static str, columns: &'static str) -> Self {
        Key { table, columns, kind: Kind::Unique { name } }
    }

    pub const fn index(name: &'static str, table: &'static str, columns: &'static str) -> Self {
        Key { table, columns, kind: Kind::Index { name } }
    }

    /// Columns that refer to those of a parent table.
    pub const fn foreign(
        table: &'static str,
        columns: &'static str,
        parent: &'static str,
        referred: &'static str,
    ) -> Self {
        Key { table, columns, kind: Kind::Foreign { table: parent, columns: referred } }
    }

    /// What follows `ALTER TABLE ... ADD`.
    fn clause(&self) -> String {
        let columns = self.columns;
        match self.kind {
            Kind::Primary => format!("PRIMARY KEY ({columns})"),
            Kind::Unique { name } => format!("UNIQUE INDEX {name} ({columns})"),
            Kind::Index { name } => format!("INDEX {name} ({columns})"),
            Kind::Foreign { table, columns: referred } => {
                format!("FOREIGN KEY ({columns}) REFERENCES {table} ({referred})")
            }
        }
    }

    fn is_primary(&self) -> bool {
        self.kind == Kind::Primary
    }

    fn is_foreign(&self) -> bool {
        matches!(self.kind, Kind::Foreign { .. })
    }

    fn is_index(&self) -> bool {
        !self.is_primary() && !self.is_foreign()
    }
}

/// Statements of a stage run side by side when `parallel`, else in order on one session.
#[derive(Debug, PartialEq, Eq)]
pub struct Stage {
    pub parallel: bool,
    pub statements: Vec<String>,
}

/// The script that goes before the rows. `tables` is written in SQL that all engines have, but for the names of
/// types.
pub fn before_rows(tables: &str, keys: &[Key], dialect: Dialect) -> String {
    match dialect {
        Dialect::MySql => {
            // `timestamp` changes by itself there and ends in 2038; texts compare byte by byte, as elsewhere.
            let mut script = tables
                .replace(" timestamp", " datetime(6)")
                .replace("\n);", "\n) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;");
            // InnoDB keeps a table's rows inside its primary key, so a later one would write them again.
            let primary: Vec<Key> = keys.iter().copied().filter(Key::is_primary).collect();
            script.push_str(&by_table(&primary).join(";\n"));
            script
        }
        _ => tables.to_string(),
    }
}

/// What follows the rows, one stage after the other.
pub fn after_rows(keys: &[Key], dialect: Dialect) -> Vec<Stage> {
    let chosen = |kind: fn(&Key) -> bool| keys.iter().copied().filter(kind).collect::<Vec<Key>>();
    let (primary, indexes, foreign) =
        (chosen(Key::is_primary), chosen(Key::is_index), chosen(Key::is_foreign));
    // Foreign keys in order: each one locks two tables.
    let stages = match dialect {
        Dialect::PostgreSql => vec![
            Stage { parallel: true, statements: one_by_one(&primary) },
            Stage { parallel: true, statements: indexes.iter().map(create_index).collect() },
            Stage { parallel: false, statements: one_by_one(&foreign) },
        ],
        Dialect::MySql => {
            // The rows are the generator's own: checking each one against its parent would write every table a
            // second time.
            let unchecked = |statement| {
                format!("SET SESSION foreign_key_checks = 0; {statement}; SET SESSION foreign_key_checks = 1")
            };
            vec![
                // All indexes of a table in one pass over it.
                Stage { parallel: true, statements: by_table(&indexes) },
                Stage {
                    parallel: false,
                    statements: by_table(&foreign).into_iter().map(unchecked).collect(),
                },
            ]
        }
        // It enforces no key and has no index; what is assumed helps its optimizer. In order, because a change
        // of a table conflicts with another one at the same time.
        Dialect::Hyper => {
            let keys = keys.iter().filter(|key| !matches!(key.kind, Kind::Index { .. }));
            let clause = |key: &Key| match key.kind {
                Kind::Unique { .. } => format!("UNIQUE ({})", key.columns),
                _ => key.clause(),
            };
            let add = |key: &Key| format!("ALTER TABLE {} ADD ASSUMED {}", key.table, clause(key));
            vec![Stage { parallel: false, statements: keys.map(add).collect() }]
        }
    };
    stages.into_iter().filter(|stage| !stage.statements.is_empty()).collect()
}

fn create_index(key: &Key) -> String {
    let (table, columns) = (key.table, key.columns);
    match key.kind {
        Kind::Unique { name } => format!("CREATE UNIQUE INDEX {name} ON {table} ({columns})"),
        Kind::Index { name } => format!("CREATE INDEX {name} ON {table} ({columns})"),
        _ => format!("ALTER TABLE {table} ADD {}", key.clause()),
    }
}

fn one_by_one(keys: &[Key]) -> Vec<String> {
    keys.iter().map(|key| format!("ALTER TABLE {} ADD {}", key.table, key.clause())).collect()
}

/// One statement for each table, in the order in which the tables first occur.
fn by_table(keys: &[Key]) -> Vec<String> {
    let mut tables: Vec<&str> = Vec::new();
    for key in keys {
        if !tables.contains(&key.table) {
            tables.push(key.table);
        }
    }
    // A second constraint of the same name is refused, a nameless one would be made again.
    let add = |key: &Key| match key.is_foreign() {
        true => {
            let columns = key.columns.replace(", ", "_");
            format!("ADD CONSTRAINT {}_{columns}_fkey {}", key.table, key.clause())
        }
        false => format!("ADD {}", key.clause()),
    };
    let clauses = |table: &str| {
        let own = keys.iter().filter(|key| key.table == table);
        own.map(add).collect::<Vec<_>>().join(", ")
    };
    tables.iter().map(|table| format!("ALTER TABLE {table} {}", clauses(table))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &str = "CREATE TABLE a (\n    x integer NOT NULL,\n    at timestamp\n);\n";
    const KEYS: [Key; 5] = [
        Key::primary("a", "x"),
        Key::index("a_y", "a", "y, z"),
        Key::primary("b", "x"),
        Key::unique("a_z", "a", "z"),
        Key::foreign("a", "y", "b", "x"),
    ];

    #[test]
    fn postgresql_makes_each_key_after_the_rows() {
        assert_eq!(before_rows(TABLES, &KEYS, Dialect::PostgreSql), TABLES);
        let stages = after_rows(&KEYS, Dialect::PostgreSql);
        let statements: Vec<&[String]> = stages.iter().map(|stage| stage.statements.as_slice()).collect();
        assert_eq!(
            statements,
            [
                &[
                    "ALTER TABLE a ADD PRIMARY KEY (x)".to_string(),
                    "ALTER TABLE b ADD PRIMARY KEY (x)".into()
                ][..],
                &["CREATE INDEX a_y ON a (y, z)".into(), "CREATE UNIQUE INDEX a_z ON a (z)".into()],
                &["ALTER TABLE a ADD FOREIGN KEY (y) REFERENCES b (x)".into()],
            ]
        );
        assert!(stages[0].parallel && stages[1].parallel && !stages[2].parallel);
    }

    #[test]
    fn innodb_has_its_primary_keys_before_the_rows_and_makes_indexes_by_table() {
        let script = before_rows(TABLES, &KEYS, Dialect::MySql);
        assert!(script.contains("at datetime(6)\n) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;"), "{script}");
        assert!(script.ends_with("ALTER TABLE a ADD PRIMARY KEY (x);\nALTER TABLE b ADD PRIMARY KEY (x)"));
        let stages = after_rows(&KEYS, Dialect::MySql);
        assert_eq!(stages.len(), 2);
        assert_eq!(stages[0].statements, ["ALTER TABLE a ADD INDEX a_y (y, z), ADD UNIQUE INDEX a_z (z)"]);
        assert_eq!(
            stages[1].statements,
            ["SET SESSION foreign_key_checks = 0; \
              ALTER TABLE a ADD CONSTRAINT a_y_fkey FOREIGN KEY (y) REFERENCES b (x); \
              SET SESSION foreign_key_checks = 1"]
        );
    }

    #[test]
    fn hyper_is_told_of_keys_that_it_does_not_enforce_and_of_no_index() {
        let stages = after_rows(&KEYS, Dialect::Hyper);
        assert_eq!(stages.len(), 1);
        assert_eq!(
            stages[0].statements,
            [
                "ALTER TABLE a ADD ASSUMED PRIMARY KEY (x)",
                "ALTER TABLE b ADD ASSUMED PRIMARY KEY (x)",
                "ALTER TABLE a ADD ASSUMED UNIQUE (z)",
                "ALTER TABLE a ADD ASSUMED FOREIGN KEY (y) REFERENCES b (x)",
            ]
        );
    }

    #[test]
    fn without_keys_there_are_no_stages() {
        for dialect in [Dialect::PostgreSql, Dialect::MySql, Dialect::Hyper] {
            assert_eq!(after_rows(&[], dialect), []);
        }
    }
}
