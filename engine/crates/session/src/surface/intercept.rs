//! Statements about the cache: names of its variables that the server does not know, and statements that newer servers have
//! removed.

use crate::decision::Decision;
use crate::engine::{Engine, uninstallation};
use crate::nears;
use crate::session::Session;
use crate::statement::rendering::Rendering;
use crate::surface::{misuse, report};
use sql::{Flush, Kind, LexMode, Show, ShowScope, Statement};
use std::sync::Arc;
use wire::Expect;

/// Handles a statement about the cache: notes it as running, and returns what is to be sent to the server. None if the
/// statement has nothing to do with the cache; it is not noted then.
pub(crate) fn intercept(
    session: &mut Session,
    engine: &Engine,
    statement: &Arc<Statement>,
    text: &[u8],
) -> Option<Decision> {
    if let Some(refusal) = refusal_on_departure(engine, &statement.kind, text, session.identity.mode()) {
        let statement = Arc::new(sql::classify(&refusal, session.identity.mode()));
        session.forward(engine, &statement, Expect::Query, None);
        return Some(Decision::Replace(session.query_packet(&refusal)));
    }
    let (packet, rendering) = match &statement.kind {
        Kind::Show(Show::Fqc { topic, rows }) => {
            let selection = rows.as_ref().map_err(|misuse| misuse::statement(engine.flavour(), misuse, text));
            match selection.and_then(|selection| report::build(session, engine, *topic, selection)) {
                Ok(report) => {
                    let test = engine.flavour().statements.process_test;
                    (Some(session.query_packet(test.as_bytes())), Some(Rendering::Report(report)))
                }
                Err(failing) => (Some(session.query_packet(&failing)), None),
            }
        }
        Kind::AttachNear { .. }
            if session.is_followed()
                && let Some(pause) = engine.attach_pause(&session.who()) =>
        {
            let words = nears::pause_message(&pause);
            (Some(session.query_packet(&misuse::refusal(engine.flavour(), &words))), None)
        }
        Kind::AttachNear { .. } if session.is_followed() => {
            let test = engine.flavour().statements.attach_test;
            let agreed = wire::ok_packet(1, 0, 0, session.transaction.status_now(), 0);
            (Some(session.query_packet(test.as_bytes())), Some(Rendering::Report(agreed)))
        }
        Kind::Show(Show::Variables { scope, .. }) => (None, Some(Rendering::Values(values(session, engine, *scope)))),
        _ => {
            let rewrite = sql::surface::rewrite(text, session.identity.mode())?;
            let statement = Arc::new(sql::classify(&rewrite.text, session.identity.mode()));
            session.forward(engine, &statement, Expect::Query, None);
            session.hold(Rendering::Names(rewrite.renamed));
            return Some(Decision::Replace(session.query_packet(&rewrite.text)));
        }
    };
    session.forward(engine, statement, Expect::Query, None);
    rendering.into_iter().for_each(|rendering| session.hold(rendering));
    Some(packet.map_or(Decision::Forward, Decision::Replace))
}

/// Returns a statement that fails, to be sent instead of one about the cache while the server is uninstalling the plugin;
/// otherwise None. The names in the original would then mean the server's own cache or nothing, and an INSTALL would have no
/// lasting effect. May wait for the host.
pub(crate) fn refusal_on_departure(engine: &Engine, kind: &Kind, text: &[u8], mode: LexMode) -> Option<Vec<u8>> {
    let is_of_ours =
        matches!(kind, Kind::Show(Show::Fqc { .. }) | Kind::Flush(Flush::QueryCache) | Kind::ResetQueryCache);
    ((is_of_ours || sql::surface::is_about_plugin(text, mode)) && engine.is_being_uninstalled())
        .then(|| misuse::refusal(engine.flavour(), uninstallation::REFUSAL))
}

/// Returns the text to send to the server instead of a statement of this kind about the query cache, or with a hint to it, that the product
/// does not have. None if the text can be sent as it is.
pub(crate) fn understood(text: &[u8], kind: &Kind, mode: LexMode) -> Option<Vec<u8>> {
    match kind {
        Kind::Flush(Flush::QueryCache) | Kind::ResetQueryCache => {
            mode.flavour.statements.query_cache_test.map(|test| test.as_bytes().to_vec())
        }
        _ => sql::surface::without_sql_cache(text, mode),
    }
}

/// The variables of the server's own cache, which is switched off, and the values that `SHOW VARIABLES` must return for them.
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
    /// Has the response of the running statement held back and changed in this way.
    fn hold(&mut self, rendering: Rendering) {
        if let Some(running) = &mut self.work.running {
            running.rendering = Some(rendering);
        }
    }
}
