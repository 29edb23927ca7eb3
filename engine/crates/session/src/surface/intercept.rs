//! MySQL's names for the cache's variables, in statements that go to the server.

use crate::decision::Decision;
use crate::engine::Engine;
use crate::packets::query_packet;
use crate::session::Session;
use crate::statement::rendering::Rendering;
use crate::surface::{misuse, report};
use sql::{Kind, Show, ShowScope, Statement};
use std::sync::Arc;
use wire::Expect;

pub(crate) fn intercept(
    session: &mut Session,
    engine: &Engine,
    statement: &Arc<Statement>,
    text: &[u8],
) -> Option<Decision> {
    let (packet, rendering) = match &statement.kind {
        Kind::Show(Show::Fqc { topic, rows }) => {
            let selection = rows.as_ref().map_err(|misuse| misuse::statement(engine.flavour(), misuse, text));
            match selection.and_then(|selection| report::build(session, engine, *topic, selection)) {
                Ok(report) => (
                    Some(query_packet(engine.flavour().statements.process_test.as_bytes())),
                    Some(Rendering::Report(report)),
                ),
                Err(failing) => (Some(query_packet(&failing)), None),
            }
        }
        Kind::Show(Show::Variables { scope, .. }) => (None, Some(Rendering::Values(values(session, engine, *scope)))),
        _ => {
            let rewrite = sql::surface::rewrite(text, session.identity.mode())?;
            let statement = Arc::new(sql::classify(&rewrite.text, session.identity.mode()));
            session.forward(engine, &statement, Expect::Query, None);
            session.hold(Rendering::Names(rewrite.renamed));
            return Some(Decision::Replace(query_packet(&rewrite.text)));
        }
    };
    session.forward(engine, statement, Expect::Query, None);
    rendering.into_iter().for_each(|rendering| session.hold(rendering));
    Some(packet.map_or(Decision::Forward, Decision::Replace))
}

/// What `SHOW VARIABLES` must say in place of the server's own, switched-off cache.
fn values(session: &Session, engine: &Engine, scope: ShowScope) -> Vec<(&'static str, String)> {
    let type_number = match scope {
        ShowScope::Global => engine.settings().global_type(),
        ShowScope::Session => session.identity.cache_type(),
    };
    let type_name = ["OFF", "ON", "DEMAND"][usize::from(type_number.min(2))];
    vec![
        ("query_cache_type", type_name.to_owned()),
        ("query_cache_size", engine.settings().size().to_string()),
        ("query_cache_limit", engine.settings().limit().to_string()),
    ]
}

impl Session {
    fn hold(&mut self, rendering: Rendering) {
        if let Some(running) = &mut self.work.running {
            running.rendering = Some(rendering);
        }
    }
}
