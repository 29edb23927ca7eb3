//! Entry points for the client's commands. A command is answered from the cache, or the cells of what it may change are
//! closed and it goes to the server.

use crate::commands::hits::{ReadRequest, ServeOutcome};
use crate::decision::{ClientOutput, Decision};
use crate::engine::Engine;
use crate::reason::{ContextReason, Reason};
use crate::reports::unserved::passes_unexamined;
use crate::session::Session;
use crate::session::diagnostics::CountedRead;
use crate::session::granted::parses_alike_everywhere;
use crate::statement::prepared::{Metadata, Prepared};
use crate::surface::intercept::{intercept, understood};
use crate::text::analysis::Analysis;
use flavour::Flavour;
use sql::{Kind, Refusal};
use std::sync::Arc;
use wire::{Command, Execute, Expect, Header, Query, capability};

/// A packet of the client, split into its parts. `command` is none if the packet cannot be parsed.
struct Arrived<'p> {
    command: Option<Command>,
    /// The text of a query without its attributes. For other commands, everything after the command byte.
    body: &'p [u8],
    has_attributes: bool,
}

impl Session {
    /// Splits the payload of a packet into the command and what follows it, and a query into its attributes and its text.
    fn arrived<'p>(&self, payload: &'p [u8]) -> Arrived<'p> {
        let command = payload.first().and_then(|byte| Command::from_byte(*byte));
        let body = payload.get(1..).unwrap_or_default();
        if command != Some(Command::Query) {
            return Arrived { command, body, has_attributes: false };
        }
        match Query::parse(body, self.identity.capabilities()) {
            Some(Query { text, has_attributes }) => Arrived { command, body: text, has_attributes },
            None => Arrived { command: None, body, has_attributes: true },
        }
    }

    /// Decides about a complete command that the server has not seen. `packet` includes its header. After
    /// `Decision::Inject` the host calls this again with the same packet, once the response to the other one is
    /// complete.
    pub fn on_command(&mut self, engine: &Engine, packet: &[u8], output: &mut dyn ClientOutput) -> Decision {
        self.near.count(engine, &packet[4..]);
        let counted = self.diagnostics.counted.take();
        let decision = self.decide(engine, packet, counted.as_ref(), output);
        if matches!(decision, Decision::Inject(_)) {
            self.diagnostics.counted = counted;
        }
        self.near.expects_again(matches!(decision, Decision::Inject(_)));
        self.writes.announce(engine);
        decision
    }

    fn decide(
        &mut self,
        engine: &Engine,
        packet: &[u8],
        counted: Option<&CountedRead>,
        output: &mut dyn ClientOutput,
    ) -> Decision {
        self.end_previous_command(engine);
        let payload = &packet[4..];
        let Arrived { command, body, has_attributes } = self.arrived(payload);
        if let Some(decision) = self.passes_in_light_mode(engine, command, body, payload) {
            return decision;
        }
        if self.has_lost_track(engine, command, body) {
            if let Some(first) = self.before_pieces(engine) {
                return Decision::Inject(first);
            }
            self.stop_serving(engine);
        }
        if self.is_unserved() && passes_unexamined(command, body, self.identity.mode()) {
            return Decision::Forward;
        }
        let hidden_error = self.work.hidden_error.take();
        if let (Some(Command::Query | Command::StmtExecute), Some(error)) = (command, &hidden_error) {
            output.deliver(&[&error.answer]);
            return Decision::Answered;
        }
        self.give_up_pending_read(hidden_error);
        match command {
            Some(Command::Query) => self.on_query(engine, packet, body, has_attributes, counted, output),
            Some(Command::StmtExecute) => self.on_execute(engine, packet, payload, output),
            command => self.on_other(engine, packet, command),
        }
    }

    /// Follows a complete command whose first bytes the server already has, so that it can neither be answered nor held
    /// back. `packet` includes its header.
    pub fn on_observed(&mut self, engine: &Engine, packet: &[u8]) {
        self.diagnostics.counted = None;
        self.near.count(engine, &packet[4..]);
        self.observe(engine, packet);
        self.writes.announce(engine);
    }

    fn observe(&mut self, engine: &Engine, packet: &[u8]) {
        self.end_previous_command(engine);
        let payload = &packet[4..];
        let Arrived { command, body, .. } = self.arrived(payload);
        if self.has_lost_track(engine, command, body) {
            self.stop_serving(engine);
        }
        if self.is_unserved() && passes_unexamined(command, body, self.identity.mode()) {
            return;
        }
        match command {
            Some(Command::Query) => {
                let statement = Arc::new(sql::classify(body, self.identity.mode()));
                self.note_temporary(&statement.kind, body);
                self.forward(engine, &statement, Expect::Query, None);
            }
            Some(Command::StmtExecute) => {
                let execute = Execute::parse(payload, self.identity.capabilities());
                let prepared = execute.as_ref().and_then(|execute| self.statements.get_mut(execute.id));
                let analysis = prepared.as_ref().map_or_else(Analysis::opaque, |prepared| prepared.analysis.clone());
                // A client sends parameter types once, and later executions go by them. So they are kept even if this
                // execution is not served.
                if let Some((prepared, execute)) = prepared.zip(execute) {
                    bind(engine.flavour(), prepared, &execute);
                    prepared.note_forwarded(&execute);
                }
                self.forward(engine, &analysis.statement, Expect::Execute, None);
            }
            command => {
                self.forward_other(engine, payload, command);
            }
        }
        self.note_refusal(engine, ContextReason::Fragmented);
    }

    /// Follows a command that is too long to be buffered. Its text is not known, so it counts as one that may do
    /// anything.
    pub fn on_oversized(&mut self, engine: &Engine) {
        self.diagnostics.counted = None;
        self.near.count(engine, &[]);
        self.end_previous_command(engine);
        if self.has_lost_track(engine, None, b"") {
            self.stop_serving(engine);
        }
        self.temporary.note_hidden();
        self.identity.assume_all_side_effects();
        self.forward(engine, &Analysis::opaque().statement, Expect::Query, None);
        self.writes.announce(engine);
    }

    fn on_query(
        &mut self,
        engine: &Engine,
        packet: &[u8],
        text: &[u8],
        has_attributes: bool,
        counted: Option<&CountedRead>,
        output: &mut dyn ClientOutput,
    ) -> Decision {
        let counted = counted.filter(|counted| !has_attributes && self.asks_for_count(engine, counted, text));
        let context = if may_be_read(text) { self.cacheable_context(engine, false) } else { None };
        // The cache is looked up by the bytes of the text, before the text is classified. Only after a read that was
        // passed over is it classified first, because then a hit is not expected.
        let early = self.reuse.expects_no_reuse().then(|| self.analyse(engine, text));
        let shape = early.as_ref().and_then(|analysis| self.adaptive_shape(engine, analysis));
        self.reuse.decide_lookup(engine, shape);
        if let Some(context) = context.filter(|_| !has_attributes) {
            let (read, parameters): (&[u8], &[u8]) = counted.map_or((text, &[]), |counted| (&counted.text, text));
            let request = ReadRequest { context, text: read, parameters, packet, types: &[], columns: None };
            match self.serve(engine, &request, output) {
                ServeOutcome::Answered => return Decision::Answered,
                ServeOutcome::Inject(packet) => return Decision::Inject(packet),
                ServeOutcome::No if counted.is_some() => self.reuse.forget_hash(),
                ServeOutcome::No => {}
            }
        }
        let analysis = early.unwrap_or_else(|| self.analyse(engine, text));
        let numbers = self.numbers_of_write(&analysis);
        let analysis = self.as_prepared(analysis);
        if let Some(decision) = self.before_server(engine, &analysis, text, packet, output) {
            return decision;
        }
        let passes_unchanged = analysis.is_far_from_surface();
        if !passes_unchanged && let Some(decision) = intercept(self, engine, &analysis.statement, text) {
            self.note_stay(engine, &analysis, text);
            return decision;
        }
        let mut recording = self.recording(engine, &analysis, context, text, &[], self.own_parse_context());
        if let Some(recording) = recording.as_mut().filter(|_| has_attributes) {
            recording.refuse(ContextReason::Attributes);
        }
        if let Some((recording, counted)) = recording.as_mut().zip(counted) {
            self.record_count(engine, recording, counted, context, text);
        }
        self.note_temporary(&analysis.statement.kind, text);
        self.forward(engine, &analysis.statement, Expect::Query, recording);
        if let Some(running) = &mut self.work.running {
            running.is_plain = !analysis.names_system();
        }
        self.note_stay(engine, &analysis, text);
        self.note_running_write(engine, &analysis, (text, self.own_parse_context()), numbers);
        self.note_preparation(&analysis.statement.kind);
        if passes_unchanged {
            return Decision::Forward;
        }
        let understood = understood(text, &analysis.statement.kind, self.identity.mode());
        understood.map_or(Decision::Forward, |other| Decision::Replace(respelled(packet, text, &other)))
    }

    fn on_execute(
        &mut self,
        engine: &Engine,
        packet: &[u8],
        payload: &[u8],
        output: &mut dyn ClientOutput,
    ) -> Decision {
        let context = self.cacheable_context(engine, true);
        let capabilities = self.identity.capabilities();
        let execute = Execute::parse(payload, capabilities);
        let prepared = execute.as_ref().and_then(|execute| self.statements.get_mut(execute.id));
        let (Some(execute), Some(prepared)) = (execute, prepared) else {
            return self.on_unknown_execute(engine, packet, output);
        };
        let (analysis, text, columns) = (prepared.analysis.clone(), prepared.text.clone(), prepared.columns);
        let parameters = bind(engine.flavour(), prepared, &execute);
        let refusal = prepared.refusal(&execute, context);
        let is_due = prepared.type_history.is_due();
        let metadata = Metadata { definitions: engine.catalogue().definitions(), types: prepared.types.clone() };
        let keeps_metadata = self.identity.has(capability::MARIADB_CACHE_METADATA);
        let has_metadata = !keeps_metadata || prepared.metadata.as_ref() == Some(&metadata);
        let is_read = matches!(analysis.statement.kind, Kind::Read(_));
        let shape = self.adaptive_shape(engine, &analysis).filter(|_| is_read);
        self.reuse.decide_lookup(engine, shape);
        let is_certain = has_metadata && columns.is_some();
        if let (true, Some(context), Some(parameters), None, true) =
            (is_read, context, &parameters, refusal, is_certain)
        {
            let request = ReadRequest { context, text: &text, parameters, packet, types: &metadata.types, columns };
            match self.serve(engine, &request, output) {
                ServeOutcome::Answered => {
                    if let Some(prepared) = self.statements.get_mut(execute.id) {
                        prepared.type_history.note_served(|| wire::with_types(packet, &metadata.types, capabilities));
                    }
                    return Decision::Answered;
                }
                ServeOutcome::Inject(packet) => return Decision::Inject(packet),
                ServeOutcome::No => {}
            }
        }
        if let Some(decision) = self.before_server(engine, &analysis, &text, packet, output) {
            return decision;
        }
        if is_due && let Some(first) = self.inject_skipped_execution(engine, execute.id) {
            return Decision::Inject(first);
        }
        let parameters = parameters.unwrap_or_default();
        let parse_context = self.bound_parse_context(&execute);
        let is_here = parse_context
            .as_ref()
            .map(|parse_context| parse_context.database.as_deref() == Some(self.identity.database()));
        if is_here == Some(false) {
            self.identity.note_privilege_rechecks();
        }
        let names_system = analysis.names_system();
        let own = parse_context.clone().unwrap_or_else(|| self.own_parse_context());
        let mut recording = self.recording(engine, &analysis, context, &text, &parameters, own);
        if let Some(recording) = &mut recording {
            (recording.is_binary, recording.omits_metadata) = (true, keeps_metadata);
            if sql::may_count_found_rows(&text) {
                recording.refuse(Reason::Text(Refusal::CalcFoundRows));
            } else if sql::shows_setting_alone(&text, self.identity.mode()) {
                recording.refuse(Reason::Text(Refusal::SystemVariable));
            }
            refusal.into_iter().for_each(|refusal| recording.refuse(refusal));
        }
        self.forward(engine, &analysis.statement, Expect::Execute, recording);
        if is_here == Some(true) {
            self.note_stay(engine, &analysis, &text);
        }
        if let Some(parse_context) = parse_context {
            self.note_running_write(engine, &analysis, (text, parse_context), None);
        }
        let told =
            self.statements.get_mut(execute.id).and_then(|prepared| prepared.forward(&execute, packet, capabilities));
        if let Some(running) = &mut self.work.running {
            running.execution = Some((execute.id, metadata));
            running.is_plain = !names_system;
        }
        told.map_or(Decision::Forward, Decision::Replace)
    }

    fn on_unknown_execute(&mut self, engine: &Engine, packet: &[u8], output: &mut dyn ClientOutput) -> Decision {
        let analysis = Analysis::opaque();
        if let Some(decision) = self.before_server(engine, &analysis, b"", packet, output) {
            return decision;
        }
        self.forward(engine, &analysis.statement, Expect::Execute, None);
        Decision::Forward
    }

    /// Returns what happens before the server gets the statement: a command to inject, or the answer to a deferred
    /// BEGIN. None if the statement can go to the server now.
    fn before_server(
        &mut self,
        engine: &Engine,
        analysis: &Analysis,
        text: &[u8],
        packet: &[u8],
        output: &mut dyn ClientOutput,
    ) -> Option<Decision> {
        if let Some(question) = self.inject_settings_query(engine, &analysis.statement, text) {
            return Some(Decision::Inject(question));
        }
        if let Some(answer) = self.begin_later(engine, &analysis.statement, packet, output) {
            return Some(answer);
        }
        self.before_forward(engine, analysis, text, packet).map(Decision::Inject)
    }

    /// Returns what the text shows about its statement. While it is not certain how the session's texts are parsed,
    /// only plain kinds of statements are trusted, and any other text counts as one that may do anything, unless every
    /// mode reads it alike.
    pub(crate) fn analyse(&mut self, engine: &Engine, text: &[u8]) -> Arc<Analysis> {
        let analysis = engine.shared_analyses().analyse(text, self.identity.mode(), &mut self.recent_analyses);
        let is_plain = matches!(
            analysis.statement.kind,
            Kind::Read(_)
                | Kind::Write
                | Kind::Set(_)
                | Kind::Show(_)
                | Kind::Use(_)
                | Kind::Commit(_)
                | Kind::Rollback(_)
        );
        let is_believed = is_plain || parses_alike_everywhere(engine.flavour(), text);
        if self.identity.variables().is_doubtful() && !is_believed { Analysis::opaque() } else { analysis }
    }
}

/// Returns the packet with its text replaced by `other`. What stands before the text stays.
fn respelled(packet: &[u8], text: &[u8], other: &[u8]) -> Vec<u8> {
    let before = &packet[Header::SIZE..packet.len() - text.len()];
    let mut out = Vec::with_capacity(packet.len() + other.len());
    wire::push_packet(&mut out, &mut { packet[3] }, &[before, other].concat());
    out
}

/// True if the text may be a read: it begins with the first letter of SELECT, WITH, VALUES or TABLE, or with something that is
/// not a letter. A quick test; false means that it certainly is no read.
fn may_be_read(text: &[u8]) -> bool {
    text.first().is_none_or(|first| !first.is_ascii_alphabetic() || b"swvt".contains(&first.to_ascii_lowercase()))
}

/// Takes over how this execution binds its parameters, and returns bytes that identify them, for the key of its result.
/// None if they cannot be read or if the execution has query attributes: it is not cached then.
fn bind(flavour: &Flavour, prepared: &mut Prepared, execute: &Execute) -> Option<Vec<u8>> {
    prepared.bind(execute);
    let has_attributes = execute.has_attributes(prepared.parameters);
    if prepared.parameters == 0 {
        return (!has_attributes).then(Vec::new);
    }
    let params = execute.params(prepared.parameters, &prepared.types).filter(|_| !has_attributes);
    if flavour.statements.depends_on_earlier_types {
        prepared.type_history.note_types(params.as_ref());
    }
    let params = params?;
    Some([params.nulls, params.types, &prepared.type_history.basis(), params.values].concat())
}
