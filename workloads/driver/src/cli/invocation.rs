//! One invocation of a workload's command: engine, schema, and how to report.
#![allow(async_fn_in_trait)] // tasks run on the main thread's runtime, so no bound is wanted

use std::time::Duration;

use serde_json::{Map, Value};

use super::connection::Connection;
use super::Common;
use crate::engine::{AnyEngine, Engine, Feature, Patient, Server};
use crate::failure::Failure;
use crate::report::{Document, Progress};
use crate::target::Agents;
use crate::workload::gate::Gate;

/// Everything that the commands of all workloads have in common.
pub struct Invocation<E> {
    pub engine: E,
    pub workload: &'static str,
    pub schema: String,
    pub seed: u64,
    pub agents: Agents,
    pub progress: Progress,
    /// How long to wait for a database that is not up yet.
    pub patience: Duration,
    /// Whether this process shares the database's CPUs on purpose, so that it waits for them as its clients would.
    pub beside_database: bool,
    /// The URL as the result has it.
    url: String,
    common: Common,
}

/// A command of a workload: what it does is the same on every engine.
pub trait Task {
    /// Name of the workload.
    fn workload(&self) -> &'static str;

    /// The schema of a database with this URL unless another one is asked for.
    fn default_schema(&self, _url: &str) -> String {
        self.workload().to_string()
    }

    fn common(&self) -> &Common;

    /// What the workload needs of an engine; one that lacks it is refused before it is connected to.
    fn needs(&self) -> &'static [Feature] {
        &[]
    }

    async fn perform<E: Engine>(&self, invocation: &Invocation<E>) -> Result<Document, Failure>;
}

/// Performs a task on the engine that the URL names by its scheme.
pub async fn perform(task: &impl Task) -> Result<Document, Failure> {
    let connection = Connection::of(task.common())?;
    if task.common().await_start {
        Gate::Input.pass().await?;
    }
    perform_at(task, &connection).await.map_err(|failure| connection.cover(failure))
}

async fn perform_at(task: &impl Task, connection: &Connection) -> Result<Document, Failure> {
    let (url, password) = (&connection.url, connection.password.clone());
    let schema = task.common().schema.clone().unwrap_or_else(|| task.default_schema(url));
    if schema.is_empty() || schema.len() > 63 || schema.contains('\0') {
        return Err(Failure::arguments("--schema must have 1 to 63 bytes"));
    }
    let shown = connection.shown.clone();
    let engine = AnyEngine::new(url, password, &schema)?;
    task.perform(&Invocation::new(engine, task, schema, shown)?).await
}

impl<E: Engine> Invocation<Patient<E>> {
    fn new(engine: E, task: &impl Task, schema: String, url: String) -> Result<Self, Failure> {
        let common = task.common();
        engine.dialect().require(task.workload(), task.needs())?;
        Ok(Invocation {
            engine: Patient::new(engine, common.reporting.connect_timeout),
            workload: task.workload(),
            schema,
            seed: common.reporting.seed,
            agents: common.reporting.agents()?,
            progress: Progress::new(common.reporting.progress),
            patience: common.reporting.connect_timeout,
            beside_database: common.await_start,
            url,
            common: common.clone(),
        })
    }
}

impl<E: Engine> Invocation<E> {
    /// Opens the first session of a command, which shows that it waits.
    pub async fn connect(&self) -> Result<E::Session, Failure> {
        self.progress.begin("wait", 1, "database");
        let session = self.reach().await?;
        self.progress.set(1);
        Ok(session)
    }

    /// Opens a session; waits for a server that is not up yet, and fails at once where waiting is no use.
    pub async fn reach(&self) -> Result<E::Session, Failure> {
        Ok(self.engine.connect().await?)
    }

    /// A document without measurements yet. `parameters` are the workload's own, an object.
    pub fn document(&self, command: &'static str, parameters: Value, server: Server) -> Document {
        let mut all = Map::new();
        all.insert("url".into(), self.url.clone().into());
        all.insert("schema".into(), self.schema.clone().into());
        if let Value::Object(own) = parameters {
            all.extend(own);
        }
        let document = self.common.reporting.document(self.workload, command, all);
        Document { server: Some(server), ..document }
    }
}
