//! A client that runs scripts.

use std::sync::Arc;
use std::time::Duration;

use super::evaluate::{unset, Context};
use super::program::{Program, Step};
use super::reader::Place;
use super::statement::Control;
use super::variable::{Scalar, Variable};
use crate::engine::{Engine, EngineError, ErrorKind, Row, Session, Value};
use crate::measure::clients::{Client, Workload};
use crate::measure::{Outcome, Transaction};
use crate::workload::attempt::ATTEMPTS;
use crate::workload::random::Random;

/// So many parameters need no memory of their own.
const INLINE: usize = 16;

/// The scripts of a run on one engine.
#[derive(Clone)]
pub struct Scripts<E> {
    pub engine: E,
    pub seed: u64,
    pub program: Arc<Program>,
    /// Names of the scripts; they last as long as the process.
    pub names: &'static [&'static str],
    /// How often each script is drawn, relative to the others.
    pub weights: Arc<[u32]>,
    /// Values of all variables at the start.
    pub variables: Arc<[Variable]>,
}

impl<E: Engine> Workload for Scripts<E> {
    type Client = ScriptClient<E::Session>;

    fn operations(&self) -> &'static [&'static str] {
        self.names
    }

    async fn client(&self, index: usize) -> Result<Self::Client, EngineError> {
        let mut variables = self.variables.to_vec();
        if let Some(place) = self.program.names.find(super::CLIENT_ID) {
            variables[place] = Variable::Scalar(Scalar::Integer(index as i64));
        }
        let mut client = ScriptClient {
            session: self.engine.connect().await?,
            program: self.program.clone(),
            statements: Vec::with_capacity(self.program.statements.len()),
            columns: vec![None; self.program.statements.len()],
            weights: self.weights.clone(),
            total: self.weights.iter().map(|weight| i64::from(*weight)).sum(),
            saved: variables.clone(),
            variables,
            random: Random::stream(self.seed, "sql client", index as u64),
            choice: Random::stream(self.seed, "sql script", index as u64),
            in_transaction: false,
        };
        client.prepare().await?;
        Ok(client)
    }
}

/// One client with its connection.
pub struct ScriptClient<S: Session> {
    session: S,
    program: Arc<Program>,
    /// The statements of the program; none where it is not prepared (yet).
    statements: Vec<Option<S::Statement>>,
    /// The variables that take the columns of an answer, once they are known.
    columns: Vec<Option<Box<[Option<usize>]>>>,
    weights: Arc<[u32]>,
    total: i64,
    variables: Vec<Variable>,
    /// The variables before the transaction.
    saved: Vec<Variable>,
    random: Random,
    choice: Random,
    in_transaction: bool,
}

impl<S: Session> Client for ScriptClient<S> {
    async fn transact(&mut self) -> Result<Transaction, EngineError> {
        let script = self.draw();
        // A repeated attempt computes with the same numbers.
        let random = self.random.clone();
        self.saved.clone_from(&self.variables);
        let mut conflicts = Vec::new();
        loop {
            let error = match self.run(script).await {
                Ok(()) => return Ok(Transaction { conflicts, ..Transaction::new(script, Outcome::Ok) }),
                Err(error) => error,
            };
            if matches!(error.kind, ErrorKind::ConnectionLost | ErrorKind::NotReady | ErrorKind::Script) {
                return Err(error);
            }
            self.in_transaction = false;
            self.session.rollback().await?;
            if error.kind == ErrorKind::Conflict && conflicts.len() + 1 < ATTEMPTS {
                conflicts.push(error.class);
                self.random = random.clone();
                self.variables.clone_from(&self.saved);
                continue;
            }
            return Ok(Transaction { conflicts, ..Transaction::new(script, Outcome::Error(error.class)) });
        }
    }

    async fn close(self) {
        self.session.close().await;
    }
}

impl<S: Session> ScriptClient<S> {
    /// Runs a script from its beginning to its end, once and however long it takes.
    pub async fn once(mut self, script: usize) -> Result<(), EngineError> {
        self.session.limit_statements(None).await?;
        self.run(script).await?;
        self.session.close().await;
        Ok(())
    }

    /// Prepares the statements of all scripts that do not make their objects themselves.
    async fn prepare(&mut self) -> Result<(), EngineError> {
        let program = self.program.clone();
        for (number, prepared) in program.statements.iter().enumerate() {
            self.statements.push(None);
            if !program.scripts[prepared.script].late {
                self.prepare_one(number).await?;
            }
        }
        Ok(())
    }

    async fn prepare_one(&mut self, number: usize) -> Result<(), EngineError> {
        let prepared = &self.program.statements[number];
        if prepared.statement.is_plain() {
            return Ok(());
        }
        let made = self.session.prepare(&prepared.statement.text).await.map_err(|error| {
            // A statement that the server does not understand is a mistake in the script.
            let kind = if error.kind == ErrorKind::Other { ErrorKind::Script } else { error.kind };
            EngineError { kind, message: format!("{}: {error}", prepared.place), ..error }
        })?;
        self.statements[number] = Some(made);
        Ok(())
    }

    fn draw(&mut self) -> usize {
        if self.weights.len() == 1 {
            return 0;
        }
        let mut drawn = self.choice.uniform(0, self.total - 1);
        let reached = |weight: &u32| {
            drawn -= i64::from(*weight);
            drawn < 0
        };
        self.weights.iter().position(reached).unwrap_or_default()
    }

    async fn run(&mut self, script: usize) -> Result<(), EngineError> {
        let program = self.program.clone();
        let script = &program.scripts[script];
        let mut next = 0;
        let mut waited = false;
        while let Some(step) = script.steps.get(next) {
            let place = &script.places[next];
            next += 1;
            match step {
                Step::Sql(number) => {
                    self.statement(&program, *number).await?;
                    waited = true;
                }
                Step::Set { variable, value } => {
                    let value = self.context(&program).evaluate(value).map_err(|why| wrong(place, why))?;
                    self.variables[*variable] = Variable::Scalar(value);
                }
                Step::Unless { condition, target } => {
                    if !self.context(&program).holds(condition).map_err(|why| wrong(place, why))? {
                        next = *target;
                    }
                }
                Step::Jump(target) => next = *target,
                Step::Sleep { length, unit } => {
                    let length = self.context(&program).evaluate(length).map_err(|why| wrong(place, why))?;
                    tokio::time::sleep(pause(length, *unit).map_err(|why| wrong(place, why))?).await;
                    waited = true;
                }
            }
        }
        if self.in_transaction {
            return Err(EngineError::new(
                ErrorKind::Other,
                "open transaction",
                "the script ends inside a transaction",
            ));
        }
        if !waited {
            // A script that happens to send nothing must not keep the other clients from running.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    fn context<'a>(&'a mut self, program: &'a Program) -> Context<'a> {
        Context { variables: &self.variables, names: &program.names, random: &mut self.random }
    }

    async fn statement(&mut self, program: &Program, number: usize) -> Result<(), EngineError> {
        let prepared = &program.statements[number];
        let statement = &prepared.statement;
        if statement.is_plain() {
            let sent = self.session.script(&statement.text).await;
            sent.map_err(|error| located(error, &prepared.place))?;
            self.in_transaction = statement.control == Some(Control::Begin);
            return Ok(());
        }
        if self.statements[number].is_none() {
            self.prepare_one(number).await?;
        }
        let Some(ready) = &self.statements[number] else { return Ok(()) };
        let parameters = &statement.parameters;
        let mut inline = [Value::Null; INLINE];
        let many: Vec<Value<'_>>;
        let values = if parameters.len() <= INLINE {
            for (place, variable) in inline.iter_mut().zip(parameters) {
                *place = self.value(*variable, &prepared.place)?;
            }
            &inline[..parameters.len()]
        } else {
            let value = |variable: &usize| self.value(*variable, &prepared.place);
            many = parameters.iter().map(value).collect::<Result<_, _>>()?;
            &many
        };
        let Some(prefix) = &statement.gset else {
            self.session.execute(ready, values).await.map_err(|error| located(error, &prepared.place))?;
            return Ok(());
        };
        let rows = self.session.query(ready, values).await;
        let rows = rows.map_err(|error| located(error, &prepared.place))?;
        let [row] = rows.as_slice() else {
            let message = format!("{}: \\gset needs one row, not {}", prepared.place, rows.len());
            return Err(EngineError::new(ErrorKind::Other, "gset", message));
        };
        let columns = self.columns[number].get_or_insert_with(|| {
            let variable = |column| program.names.find(&format!("{prefix}{}", row.name(column)));
            (0..row.columns()).map(variable).collect()
        });
        for (column, variable) in columns.iter().enumerate() {
            if let Some(variable) = variable {
                self.variables[*variable] = Variable::from_cell(row.cell(column)?);
            }
        }
        Ok(())
    }

    fn value(&self, variable: usize, place: &Place) -> Result<Value<'_>, EngineError> {
        Ok(match &self.variables[variable] {
            Variable::Scalar(Scalar::Null) => Value::Null,
            Variable::Scalar(Scalar::Boolean(value)) => Value::Boolean(*value),
            Variable::Scalar(Scalar::Integer(value)) => Value::Long(*value),
            Variable::Scalar(Scalar::Double(value)) => Value::Double(*value),
            Variable::Text(text) => Value::Text(text),
            Variable::Unset => return Err(wrong(place, unset(self.program.names.name(variable)))),
        })
    }
}

fn wrong(place: &Place, message: String) -> EngineError {
    EngineError::new(ErrorKind::Script, "script", format!("{place}: {message}"))
}

fn pause(length: Scalar, unit: Duration) -> Result<Duration, String> {
    match length {
        Scalar::Integer(count) => u32::try_from(count).ok().and_then(|count| unit.checked_mul(count)),
        Scalar::Double(count) => Duration::try_from_secs_f64(unit.as_secs_f64() * count).ok(),
        _ => None,
    }
    .ok_or_else(|| "\\sleep needs a number that is not negative and below 2^32".into())
}

/// With the place of the statement. Syntax errors, and functions that do not exist, are mistakes in the script: where
/// an engine prepares a statement with its first values, they show only now.
fn located(error: EngineError, place: &Place) -> EngineError {
    let mistake = error.kind == ErrorKind::Other && matches!(error.class.as_str(), "42601" | "42883");
    let kind = if mistake { ErrorKind::Script } else { error.kind };
    EngineError { kind, message: format!("{place}: {error}"), ..error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_a_number_of_units() {
        assert_eq!(pause(Scalar::Integer(3), Duration::from_millis(1)), Ok(Duration::from_millis(3)));
        assert_eq!(pause(Scalar::Double(1.5), Duration::from_secs(1)), Ok(Duration::from_millis(1500)));
        for length in [Scalar::Integer(-1), Scalar::Double(f64::NAN), Scalar::Double(-1.0), Scalar::Null] {
            assert!(pause(length, Duration::from_secs(1)).unwrap_err().contains("not negative"));
        }
    }
}
