//! How the processes of one measurement find each other, and what they have to agree on.

use serde_json::json;

use crate::cli::{Invocation, Together};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::measure::{Member, Muster, Team};
use crate::report::Document;

/// Parameters in which processes that measure together may differ: each may have a way of its own to the
/// database, and an agent of its own.
pub const OWN_PARAMETERS: [&str; 4] = ["url", "agent", "hostAgent", "connectTimeoutSeconds"];

/// Waits until all processes are there; no team where this one is alone. The member is what this process measures as.
pub async fn gather<E: Engine>(
    invocation: &Invocation<E>,
    options: &Together,
    document: &mut Document,
) -> Result<(Member, Option<Team>), Failure> {
    let (member, role) = options.member()?;
    let Some(role) = role else { return Ok((member, None)) };
    if options.apart {
        document.parameters.insert("apart".into(), json!(true));
    }
    let parameters = in_common(document);
    if !options.apart {
        document.parameters.insert("processIndex".into(), json!(member.index));
    }
    invocation.progress.begin("gather", 1, "barrier");
    let muster = Muster { role, member, patience: invocation.patience, parameters };
    let team = Team::assemble(&muster).await?;
    invocation.progress.set(1);
    Ok((if options.apart { Member::ALONE } else { member }, Some(team)))
}

/// What the processes of one measurement have to agree on, as text.
fn in_common(document: &Document) -> String {
    let mut parameters = document.parameters.clone();
    for own in OWN_PARAMETERS {
        parameters.remove(own);
    }
    let digest = document.data.as_ref().map(|data| data.digest.clone());
    json!({"workload": document.workload, "seed": document.seed, "digest": digest, "parameters": parameters})
        .to_string()
}
