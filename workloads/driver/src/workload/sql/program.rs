//! Scripts compiled into steps that a client runs.

use std::time::Duration;

use super::expression::{self, Expression};
use super::reader::Place;
use super::source::{self, Command};
use super::statement::Statement;
use super::variable::{is_name, Names};
use crate::engine::Dialect;
use crate::failure::Failure;

/// One step of a script.
#[derive(Debug, PartialEq)]
pub enum Step {
    Set {
        variable: usize,
        value: Expression,
    },
    /// The number of a statement of the program.
    Sql(usize),
    Sleep {
        length: Expression,
        unit: Duration,
    },
    /// Goes on at another step unless the condition holds.
    Unless {
        condition: Expression,
        target: usize,
    },
    Jump(usize),
}

/// A compiled script.
#[derive(Debug)]
pub struct Script {
    pub steps: Vec<Step>,
    /// Where each step stands, for messages.
    pub places: Vec<Place>,
    /// Its statements are prepared at their first use, because it makes objects itself.
    pub late: bool,
}

/// A statement, and the script that it belongs to.
#[derive(Debug)]
pub struct Prepared {
    pub statement: Statement,
    pub place: Place,
    pub script: usize,
}

/// All scripts of a run. They share their variables.
#[derive(Debug, Default)]
pub struct Program {
    pub scripts: Vec<Script>,
    pub statements: Vec<Prepared>,
    pub names: Names,
    /// Variables that some step or the command line assigns.
    assigned: Vec<usize>,
    /// Where each variable is first read.
    read: Vec<(usize, Place)>,
}

impl Program {
    /// A program in which these variables have values.
    pub fn new(defined: &[&str]) -> Self {
        let mut program = Program::default();
        program.assigned = defined.iter().map(|name| program.names.intern(name)).collect();
        program
    }

    /// Compiles a script; its number is that of scripts before it.
    pub fn add(&mut self, name: &str, text: &str, dialect: Dialect) -> Result<(), Failure> {
        let commands = source::split(name, text, dialect, &mut self.names)?;
        let mut compiler =
            Compiler { program: self, steps: Vec::new(), places: Vec::new(), open: Vec::new() };
        let mut late = false;
        let before = compiler.program.statements.len();
        for (place, command) in commands {
            match command {
                Command::Sql(statement) => {
                    late |= statement.defines();
                    compiler.sql(statement, place);
                }
                Command::Meta(name, arguments) => compiler.meta(&name, &arguments, place)?,
            }
        }
        let Compiler { steps, places, open, .. } = compiler;
        if let Some(block) = open.last() {
            return Err(block.place.wrong("the \\if that begins here has no \\endif"));
        }
        if self.statements.len() == before {
            let place = Place { script: name.into(), line: 1 };
            return Err(place.wrong("the script has no SQL statement"));
        }
        self.scripts.push(Script { steps, places, late });
        Ok(())
    }

    /// Refuses variables that never get a value. What `\gset` assigns is known only when it runs.
    pub fn check(&self) -> Result<(), Failure> {
        if self.statements.iter().any(|prepared| prepared.statement.gset.is_some()) {
            return Ok(());
        }
        match self.read.iter().find(|(variable, _)| !self.assigned.contains(variable)) {
            Some((variable, place)) => Err(place.wrong(super::evaluate::unset(self.names.name(*variable)))),
            None => Ok(()),
        }
    }
}

/// An `\if` whose `\endif` has not come yet.
struct Block {
    place: Place,
    /// The condition that decides whether the current branch runs; none behind `\else`.
    condition: Option<usize>,
    /// Jumps from the ends of branches to the `\endif`.
    exits: Vec<usize>,
}

struct Compiler<'a> {
    program: &'a mut Program,
    steps: Vec<Step>,
    places: Vec<Place>,
    open: Vec<Block>,
}

impl Compiler<'_> {
    fn push(&mut self, step: Step, place: Place) -> usize {
        self.steps.push(step);
        self.places.push(place);
        self.steps.len() - 1
    }

    fn sql(&mut self, statement: Statement, place: Place) {
        let read = statement.parameters.iter().map(|variable| (*variable, place.clone()));
        self.program.read.extend(read);
        let script = self.program.scripts.len();
        self.program.statements.push(Prepared { statement, place: place.clone(), script });
        self.push(Step::Sql(self.program.statements.len() - 1), place);
    }

    fn meta(&mut self, name: &str, arguments: &str, place: Place) -> Result<(), Failure> {
        match name {
            "set" => self.set(arguments, place),
            "sleep" => self.sleep(arguments, place),
            "if" => {
                let condition = self.unless(arguments, &place)?;
                self.open.push(Block { place, condition: Some(condition), exits: Vec::new() });
                Ok(())
            }
            "elif" => {
                self.end_branch(&place, "elif")?;
                let condition = self.unless(arguments, &place)?;
                if let Some(block) = self.open.last_mut() {
                    block.condition = Some(condition);
                }
                Ok(())
            }
            "else" => self.end_branch(&place, "else"),
            "endif" => {
                let Some(block) = self.open.pop() else {
                    return Err(place.wrong("\\endif has no \\if before it"));
                };
                let end = self.steps.len();
                self.land(block.condition, end);
                for exit in block.exits {
                    self.steps[exit] = Step::Jump(end);
                }
                Ok(())
            }
            name => Err(place.wrong(unsupported(name))),
        }
    }

    fn set(&mut self, arguments: &str, place: Place) -> Result<(), Failure> {
        let (name, value) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        if !is_name(name) {
            return Err(place.wrong(format!(
                "\\set is followed by a name of letters, digits and _ and an expression, not by {name:?}"
            )));
        }
        let value = self.expression(value, &place)?;
        let variable = self.program.names.intern(name);
        self.program.assigned.push(variable);
        self.push(Step::Set { variable, value }, place);
        Ok(())
    }

    fn sleep(&mut self, arguments: &str, place: Place) -> Result<(), Failure> {
        let end = arguments.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
        let (length, unit) = match arguments.starts_with(':') {
            true => arguments.split_once(char::is_whitespace).unwrap_or((arguments, "")),
            false => arguments.split_at(end),
        };
        let unit = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "s" => Duration::from_secs(1),
            "ms" => Duration::from_millis(1),
            "us" => Duration::from_micros(1),
            other => return Err(place.wrong(format!("\\sleep knows the units s, ms and us, not {other:?}"))),
        };
        let length = self.expression(length, &place)?;
        self.push(Step::Sleep { length, unit }, place);
        Ok(())
    }

    fn unless(&mut self, condition: &str, place: &Place) -> Result<usize, Failure> {
        let condition = self.expression(condition, place)?;
        Ok(self.push(Step::Unless { condition, target: 0 }, place.clone()))
    }

    /// Ends the branch before `\elif` or `\else`.
    fn end_branch(&mut self, place: &Place, command: &str) -> Result<(), Failure> {
        match self.open.last() {
            None => return Err(place.wrong(format!("\\{command} has no \\if before it"))),
            Some(Block { condition: None, .. }) => {
                return Err(place.wrong(format!("\\{command} cannot follow \\else")))
            }
            Some(_) => {}
        }
        let exit = self.push(Step::Jump(0), place.clone());
        let next = self.steps.len();
        if let Some(block) = self.open.last_mut() {
            block.exits.push(exit);
            let condition = block.condition.take();
            self.land(condition, next);
        }
        Ok(())
    }

    /// Lets the steps of a branch that is not taken be jumped over.
    fn land(&mut self, condition: Option<usize>, end: usize) {
        if let Some(Step::Unless { target, .. }) = condition.and_then(|step| self.steps.get_mut(step)) {
            *target = end;
        }
    }

    fn expression(&mut self, text: &str, place: &Place) -> Result<Expression, Failure> {
        let parsed =
            expression::parse(text, &mut self.program.names).map_err(|message| place.wrong(message))?;
        let mut variables = Vec::new();
        parsed.variables(&mut variables);
        self.program.read.extend(variables.into_iter().map(|variable| (variable, place.clone())));
        Ok(parsed)
    }
}

/// What is said about a backslash command that there is not.
fn unsupported(name: &str) -> String {
    match name {
        "setrandom" => "\\setrandom is not supported: write \\set name random(low, high)".into(),
        "setshell" | "shell" => {
            format!("\\{name} is not supported: give values with --define name=value")
        }
        "startpipeline" | "endpipeline" | "syncpipeline" => {
            format!("\\{name} is not supported: each statement waits for its answer")
        }
        "gset" | "aset" => format!("\\{name} stands behind the statement whose answer it takes"),
        "" => "a command is expected behind \\".into(),
        name => format!(
            "there is no command \\{name}; there are \\set, \\sleep, \\if, \\elif, \\else, \\endif and \\gset"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(text: &str) -> Result<Program, Failure> {
        let mut program = Program::new(&["scale", "default_seed"]);
        program.add("test", text, Dialect::PostgreSql)?;
        program.check()?;
        Ok(program)
    }

    fn refused(text: &str) -> String {
        compiled(text).expect_err(text).message
    }

    /// The statements and jumps of a script in short.
    fn shape(text: &str) -> Vec<String> {
        let program = compiled(text).unwrap();
        let short = |step: &Step| match step {
            Step::Set { .. } => "set".to_string(),
            Step::Sql(number) => format!("sql {number}"),
            Step::Sleep { unit, .. } => format!("sleep {unit:?}"),
            Step::Unless { target, .. } => format!("unless {target}"),
            Step::Jump(target) => format!("jump {target}"),
        };
        program.scripts[0].steps.iter().map(short).collect()
    }

    #[test]
    fn branches_become_jumps() {
        let text = "\\if 1\nA;\n\\elif 2\nB;\n\\if 3\nC;\n\\endif\n\\else\nD;\n\\endif\nE;";
        assert_eq!(
            shape(text),
            [
                "unless 3", "sql 0", "jump 9", "unless 8", "sql 1", "unless 7", "sql 2", "jump 9", "sql 3",
                "sql 4"
            ]
        );
    }

    #[test]
    fn sleeping_has_units() {
        let text = "\\sleep 1\n\\sleep 10 ms\n\\sleep 5us\n\\sleep :scale ms\n\\sleep :scale\nA;";
        assert_eq!(shape(text)[..5], ["sleep 1s", "sleep 1ms", "sleep 1µs", "sleep 1ms", "sleep 1s"]);
    }

    #[test]
    fn scripts_that_make_objects_prepare_late() {
        assert!(compiled("CREATE TEMP TABLE t (a int); SELECT * FROM t;").unwrap().scripts[0].late);
        assert!(!compiled("SELECT 1;").unwrap().scripts[0].late);
    }

    #[test]
    fn errors_name_the_line_and_what_to_write_instead() {
        for (text, cause) in [
            (
                "SELECT 1;\n\\setrandom a 1 2",
                "test:2: \\setrandom is not supported: write \\set name random(",
            ),
            ("\\shell ls", "--define"),
            ("\\startpipeline", "not supported"),
            ("\\nothing", "there is no command \\nothing; there are \\set"),
            ("\\set 1a 2", "not by \"1a\""),
            ("\\set a", "test:1: the expression ends"),
            ("\\set a 1 +\nSELECT :a;", "test:1: the expression ends"),
            ("\\sleep 3 h\nSELECT 1;", "the units s, ms and us"),
            ("\\if 1\nSELECT 1;", "test:1: the \\if that begins here has no \\endif"),
            ("SELECT 1;\n\\endif", "test:2: \\endif has no \\if"),
            ("\\else\nSELECT 1;", "\\else has no \\if"),
            ("\\if 1\n\\else\n\\elif 1\n\\endif", "test:3: \\elif cannot follow \\else"),
            ("\\set a 1", "no SQL statement"),
            ("", "no SQL statement"),
            ("SELECT 1;\nSELECT :aid;", "test:2: variable aid has no value"),
            ("\\set a :b + 1\nSELECT :a;", "test:1: variable b has no value"),
            ("\\gset", "stands behind the statement"),
        ] {
            let message = refused(text);
            assert!(message.contains(cause), "{text}: {message}");
        }
    }

    #[test]
    fn a_variable_that_an_answer_may_set_is_not_refused() {
        assert!(compiled("SELECT 1 AS a \\gset\nSELECT :a;").is_ok());
    }
}
