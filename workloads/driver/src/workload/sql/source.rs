//! The text of a script, split into SQL statements and backslash commands.
//!
//! The limits of statements are found as psql and pgbench find them: a semicolon outside of quotes,
//! comments and parentheses.

use super::reader::{dollar_quote, escape_prefix, Place, Reader};
use super::statement::Statement;
use super::variable::{begins_name, continues_name, Names};
use crate::engine::Dialect;
use crate::failure::Failure;

/// One command of a script.
#[derive(Debug, PartialEq)]
pub enum Command {
    Sql(Statement),
    /// A backslash command: its name, and the rest of its line.
    Meta(String, String),
}

/// Splits a script. `script` is its name.
pub fn split(
    script: &str,
    text: &str,
    dialect: Dialect,
    names: &mut Names,
) -> Result<Vec<(Place, Command)>, Failure> {
    let mut reader = Reader::new(script, text, dialect);
    let mut commands = Vec::new();
    loop {
        reader.skip_blank()?;
        let place = reader.place();
        let Some(first) = reader.peek() else { return Ok(commands) };
        let command = match first {
            '\\' => {
                let (name, arguments) = reader.meta()?;
                if let ("gset" | "aset", Some((_, Command::Sql(_)))) = (name.as_str(), commands.last()) {
                    return Err(place.wrong(format!("\\{name} takes the place of the semicolon before it")));
                }
                Command::Meta(name, arguments)
            }
            ';' => {
                reader.take(1);
                continue;
            }
            _ => Command::Sql(reader.statement(names)?),
        };
        commands.push((place, command));
    }
}

impl Reader<'_> {
    /// A backslash command up to the end of its line; a backslash at the end of a line continues it.
    fn meta(&mut self) -> Result<(String, String), Failure> {
        self.take(1);
        let length = self.rest.find(|c: char| c.is_whitespace() || c == ';').unwrap_or(self.rest.len());
        let name = self.take(length.max(usize::from(length == 0 && self.rest.starts_with(';')))).to_string();
        let mut arguments = String::new();
        loop {
            let line = self.take(self.rest.find('\n').unwrap_or(self.rest.len())).trim_end();
            match line.strip_suffix('\\') {
                Some(before) if !self.rest.is_empty() => {
                    arguments.push_str(before);
                    arguments.push(' ');
                    self.take(1);
                }
                _ => {
                    arguments.push_str(line);
                    return Ok((name, arguments.trim().to_string()));
                }
            }
        }
    }

    /// A statement up to its semicolon, or to a backslash command that takes the semicolon's place.
    fn statement(&mut self, names: &mut Names) -> Result<Statement, Failure> {
        let place = self.place();
        let mut statement = Statement::default();
        let mut depth = 0usize;
        let mut before = ' ';
        while let Some(first) = self.peek() {
            let piece = match first {
                ';' if depth == 0 => {
                    self.take(1);
                    return self.finished(statement, &place);
                }
                '\\' => return self.finished(statement, &place).and_then(|s| self.ended_by_backslash(s)),
                _ if self.at_line_comment() => {
                    self.line_comment();
                    continue;
                }
                '/' if self.rest.starts_with("/*") => self.block_comment()?,
                quote @ ('\'' | '"') if self.mysql => self.escape_string(quote)?,
                '\'' if matches!(before, 'e' | 'E') && escape_prefix(&statement.text) => {
                    self.escape_string('\'')?
                }
                '\'' => self.take_through(1, "'", "the string")?,
                '"' => self.take_through(1, "\"", "the quoted name")?,
                '`' => self.take_through(1, "`", "the quoted name")?,
                '?' if self.mysql => {
                    return Err(self
                        .place()
                        .wrong("a parameter is written as variable, :name, and not as ?"));
                }
                '$' if !continues_name(before) => match dollar_quote(self.rest).filter(|_| !self.mysql) {
                    Some(tag) => self.take_through(tag.len(), tag, "the string")?,
                    None if self.rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                        return Err(self
                            .place()
                            .wrong("a parameter is written as variable, :name, and not as $1"));
                    }
                    None => self.take(1),
                },
                ':' if self.rest.starts_with("::") => self.take(2),
                ':' if self.rest[1..].starts_with(begins_name) => {
                    let length = self.rest[1..].find(|c| !continues_name(c)).unwrap_or(self.rest.len() - 1);
                    let name = &self.take(1 + length)[1..];
                    statement.parameter(names.intern(name));
                    before = ' ';
                    continue;
                }
                _ => {
                    match first {
                        '(' => depth += 1,
                        ')' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    self.take(first.len_utf8())
                }
            };
            statement.text.push_str(piece);
            before = first;
        }
        if depth > 0 {
            return Err(place.wrong("the statement that begins here has a ( without its )"));
        }
        self.finished(statement, &place)
    }

    fn finished(&self, statement: Statement, place: &Place) -> Result<Statement, Failure> {
        let statement = statement.finished();
        match statement.postgres_end().filter(|_| self.mysql) {
            Some((word, instead)) => Err(place.wrong(format!("MySQL has no {word}: write {instead}"))),
            None => Ok(statement),
        }
    }

    fn ended_by_backslash(&mut self, mut statement: Statement) -> Result<Statement, Failure> {
        let place = self.place();
        let (name, arguments) = self.meta()?;
        match name.as_str() {
            "gset" => {
                statement.gset = Some(arguments);
                Ok(statement)
            }
            "aset" => Err(place.wrong("\\aset is not supported: end one statement with \\gset")),
            ";" => Err(place.wrong("\\; is not supported: statements are sent one by one, write ;")),
            name => {
                Err(place.wrong(format!("the statement before \\{name} does not end: write ; behind it")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<Command> {
        split("test", text, Dialect::PostgreSql, &mut Names::default())
            .unwrap()
            .into_iter()
            .map(|(_, command)| command)
            .collect()
    }

    fn texts(text: &str) -> Vec<String> {
        commands(text)
            .into_iter()
            .map(|command| match command {
                Command::Sql(statement) => statement.text,
                Command::Meta(name, arguments) => format!("\\{name} {arguments}"),
            })
            .collect()
    }

    fn refused(text: &str) -> String {
        split("test", text, Dialect::PostgreSql, &mut Names::default()).expect_err(text).message
    }

    #[test]
    fn statements_end_at_semicolons_outside_of_quotes_comments_and_parentheses() {
        assert_eq!(
            texts("SELECT ';', \";\", $$;$$, $a$ $$;$a$ /* ; /* ; */ */ FROM (SELECT 1; 2);\nSELECT 2 -- ;\n+ 3"),
            [
                "SELECT ';', \";\", $$;$$, $a$ $$;$a$ /* ; /* ; */ */ FROM (SELECT 1; 2)",
                "SELECT 2 \n+ 3"
            ]
        );
        assert_eq!(texts(r"SELECT E'\';', 'a''b;';"), [r"SELECT E'\';', 'a''b;'"]);
        assert_eq!(texts(r"SELECT 'a\'; SELECT 2"), [r"SELECT 'a\'", "SELECT 2"]);
        assert_eq!(texts(" ; ;; -- nothing\n/* at all */"), [""; 0]);
    }

    #[test]
    fn variables_become_parameters_and_quotes_and_casts_stay() {
        let mut names = Names::default();
        let split = split(
            "test",
            "SELECT ':a', :a::text, \":a\", :b + :a, x[1:2], a:=1 /* :c */;",
            Dialect::PostgreSql,
            &mut names,
        );
        let Ok([(_, Command::Sql(statement))]) = split.as_deref() else { panic!("{split:?}") };
        assert_eq!(statement.text, "SELECT ':a', $1::text, \":a\", $2 + $3, x[1:2], a:=1 /* :c */");
        let parameters: Vec<&str> = statement.parameters.iter().map(|number| names.name(*number)).collect();
        assert_eq!(parameters, ["a", "b", "a"]);
    }

    #[test]
    fn backslash_commands_end_with_their_line_unless_it_is_continued() {
        assert_eq!(
            texts("\\set a 1\n  \\set b \\\n  2 -\\\n 1\nSELECT 1;\\sleep 1 s\nSELECT 2"),
            ["\\set a 1", "\\set b    2 -  1", "SELECT 1", "\\sleep 1 s", "SELECT 2"]
        );
    }

    #[test]
    fn gset_takes_the_place_of_the_semicolon() {
        let parsed = commands("SELECT 1 AS a \\gset p_\nSELECT 2;");
        let Command::Sql(first) = &parsed[0] else { panic!("{parsed:?}") };
        assert_eq!((first.text.as_str(), first.gset.as_deref()), ("SELECT 1 AS a", Some("p_")));
    }

    #[test]
    fn errors_name_script_line_and_way_out() {
        for (text, cause) in [
            ("SELECT 1;\nSELECT 'abc", "test:2: the string"),
            ("\n\nSELECT \"abc", "test:3: the quoted name"),
            ("/* abc", "test:1: the comment"),
            ("SELECT $1;", "test:1: a parameter is written as variable"),
            ("SELECT (1;\n\n", "test:1: the statement that begins here has a ("),
            ("SELECT 1 \\; SELECT 2;", "write ;"),
            ("SELECT 1\n\\set a 1", "test:2: the statement before \\set"),
            ("SELECT 1 \\aset", "\\gset"),
            ("SELECT 1; \\gset", "takes the place of the semicolon"),
            ("SELECT $x$ abc", "the string"),
            ("SELECT E'abc\\'", "the string"),
        ] {
            let message = refused(text);
            assert!(message.contains(cause), "{text}: {message}");
        }
    }

    #[test]
    fn strings_names_and_comments_of_mysql_are_read_as_mysql_reads_them() {
        let split = |text: &str| split("test", text, Dialect::MySql, &mut Names::default());
        let text = r#"SELECT 'a\'; :b', "c\"; :d", `e;"`, 1--:f # ;
            , 5 /* /* ; */ -- ;
            ; SELECT $$, a$b; BEGIN"#;
        let commands = split(text).unwrap();
        let sql: Vec<(&str, usize)> = commands
            .iter()
            .map(|(_, command)| match command {
                Command::Sql(statement) => (statement.text.as_str(), statement.parameters.len()),
                Command::Meta(..) => panic!("{command:?}"),
            })
            .collect();
        assert_eq!(
            sql[0].0.split_whitespace().collect::<Vec<_>>().join(" "),
            r#"SELECT 'a\'; :b', "c\"; :d", `e;"`, 1--$1 , 5 /* /* ; */"#
        );
        assert_eq!((sql[0].1, &sql[1..]), (1, &[("SELECT $$, a$b", 0), ("BEGIN", 0)][..]));
        for (text, cause) in [
            ("SELECT ?", "not as ?"),
            ("SELECT $1", "not as $1"),
            ("BEGIN;\nEND;", "test:2: MySQL has no END: write COMMIT"),
            ("SELECT \"a", "the string"),
        ] {
            let message = split(text).expect_err(text).message;
            assert!(message.contains(cause), "{text}: {message}");
        }
    }

    #[test]
    fn lines_are_counted_through_strings_and_comments() {
        let parsed =
            split("test", "/*\n*/ SELECT '\n';\n\\set a 1", Dialect::PostgreSql, &mut Names::default())
                .unwrap();
        let lines: Vec<usize> = parsed.iter().map(|(place, _)| place.line).collect();
        assert_eq!(lines, [2, 4]);
    }
}
