//! The session context of one connection: everything about it that can change a result.
//!
//! Invariant: the numbers always match the fields that they were computed from. Every change to such a field drops them, which is why
//! the fields are private.

use crate::identity::account::Account;
use crate::identity::contexts::{Contexts, Parts};
use crate::identity::side_effects::SideEffects;
use crate::identity::variables::{Knowledge, Understanding, Variables};
use crate::reason::ContextReason;
use flavour::Flavour;
use sql::{Assignment, Charset, LexMode};
use wire::{ClientHello, Greeting, capability, status};

/// What follows from the client's reply to the greeting.
pub enum HandshakeOutcome {
    /// The packets can be followed.
    Plain,
    /// TLS begins now, and the rest of the reply follows inside it.
    Tls,
    /// The packets of this connection cannot be read. Contains the reason, if one is counted.
    Foreign(Option<ContextReason>),
}

/// The session context of one connection: its account, its database, and all settings that can change a result.
pub struct Identity {
    /// Capabilities that the server has offered.
    offered: u64,
    /// Capabilities that both sides have, and so are in force.
    capabilities: u64,
    charset: u16,
    /// The collation of the client's texts, as the server reports it. If the server does not know the one that the client asked for at
    /// login, a reset gives the session whatever its thread had before.
    collation: u32,
    account: Option<Account>,
    database: Vec<u8>,
    is_database_known: bool,
    /// The session's `fqc_type`: 0 off, 1 on, 2 on demand (SQL_CACHE).
    cache_type: u8,
    /// The session itself has turned the cache off. It is not observed then, because it would not be served if the cache were on.
    turned_cache_off: bool,
    /// Private number of a session that tries the cache out. Its results are shared with no other session.
    trial: Option<u64>,
    /// Every read must run on the server, see `SessionState::must_run`.
    must_run: bool,
    variables: Variables,
    /// The value of `Settings::inherited` from before the session was set up, which stands for the global settings that it has inherited.
    inherited: u64,
    /// Numbers from `Engine::number_of`, for when the server looked up the privileges of the account, and those for the current database.
    /// The server keeps them until the next login, or until another database is chosen. A reset leaves them alone.
    granted: [u64; 2],
    /// The session has used a stored routine, or may have, or has executed a statement that was prepared in another database. Each time
    /// the server returns from another database, it looks up the privileges for the current one again.
    rechecks_database_privileges: bool,
    /// The session was reset, and `init_connect` has not run since.
    was_reset: bool,
    /// A role may have been set. It survives a reset and a change of user.
    has_set_role: bool,
    /// The numbers of this context for the text and the binary protocol. None if they must be computed again.
    numbers: Option<[u64; 2]>,
    /// The value of `Settings::known_hosts` when `numbers` were computed. None if the hosts were not known, so that the client's address is
    /// part of the context.
    numbers_under: Option<u64>,
}

impl Identity {
    pub fn new(flavour: &'static Flavour) -> Identity {
        Identity {
            offered: 0,
            capabilities: 0,
            charset: 0,
            collation: 0,
            account: None,
            database: Vec::new(),
            is_database_known: false,
            cache_type: 0,
            turned_cache_off: false,
            trial: None,
            must_run: false,
            variables: Variables::new(LexMode::new(flavour)),
            inherited: 0,
            granted: [0; 2],
            rechecks_database_privileges: flavour.schemas.routines.is_none(),
            was_reset: false,
            has_set_role: false,
            numbers: None,
            numbers_under: None,
        }
    }

    fn flavour(&self) -> &'static Flavour {
        self.variables.mode.flavour
    }

    /// Takes the server's first packet, and keeps the capabilities that it offers. False if it is no greeting.
    pub fn greet(&mut self, bytes: &[u8]) -> bool {
        let greeting = wire::Packet::parse(bytes)
            .filter(|packet| packet.header.sequence == 0)
            .and_then(|packet| Greeting::parse(packet.payload));
        self.offered = greeting.as_ref().map_or(0, |greeting| greeting.capabilities);
        greeting.is_some()
    }

    /// Takes the payload of the client's reply to the greeting, or of its repetition inside TLS. Keeps the capabilities that both sides
    /// have, the character set and the database.
    pub fn agree(&mut self, payload: &[u8]) -> HandshakeOutcome {
        let Some(hello) = ClientHello::parse(payload) else { return HandshakeOutcome::Foreign(None) };
        if hello.ssl_requested {
            return HandshakeOutcome::Tls;
        }
        self.capabilities = hello.capabilities & self.offered;
        self.charset = hello.charset;
        self.database = hello.database.unwrap_or_default();
        // The server ignores capabilities that it did not offer, so only those of both sides are in force.
        if self.has(capability::COMPRESSED) {
            HandshakeOutcome::Foreign(Some(ContextReason::Compressed))
        } else if self.flavour().capabilities.unknown(self.capabilities) != 0 {
            HandshakeOutcome::Foreign(Some(ContextReason::UnknownCapability))
        } else {
            HandshakeOutcome::Plain
        }
    }

    pub fn capabilities(&self) -> u64 {
        self.capabilities
    }

    pub fn has(&self, capability: u64) -> bool {
        self.capabilities & capability != 0
    }

    pub fn account(&self) -> Option<&Account> {
        self.account.as_ref()
    }

    /// Sets the account whose privileges the session has. None while another one is being authenticated.
    pub fn set_account(&mut self, account: Option<Account>) {
        self.account = account;
        self.forget_numbers();
    }

    /// The current database, as the server last reported it; empty if there is none. Another one may have been chosen since, see
    /// `known_database`.
    pub fn database(&self) -> &[u8] {
        &self.database
    }

    /// The current database; empty if there is none. None if another one may have been chosen since the server's last report.
    pub fn known_database(&self) -> Option<&[u8]> {
        self.is_database_known.then_some(&self.database)
    }

    pub fn mark_database_unknown(&mut self) {
        self.is_database_known = false;
        self.forget_numbers();
    }

    pub fn set_database(&mut self, database: &[u8]) {
        if self.known_database() != Some(database) {
            self.database = database.to_vec();
            self.is_database_known = true;
            self.forget_numbers();
        }
    }

    pub fn cache_type(&self) -> u8 {
        self.cache_type
    }

    pub fn set_cache_type(&mut self, cache_type: u8) {
        self.cache_type = cache_type;
        self.forget_numbers();
    }

    pub fn turned_cache_off(&self) -> bool {
        self.turned_cache_off
    }

    pub fn set_turned_cache_off(&mut self, turned_cache_off: bool) {
        self.turned_cache_off = turned_cache_off;
    }

    pub fn is_trial(&self) -> bool {
        self.trial.is_some()
    }

    pub fn set_trial(&mut self, number: Option<u64>) {
        self.trial = number;
        self.forget_numbers();
    }

    pub fn must_run(&self) -> bool {
        self.must_run
    }

    pub fn set_must_run(&mut self, must_run: bool) {
        if self.must_run != must_run {
            self.must_run = must_run;
            self.forget_numbers();
        }
    }

    pub fn set_collation(&mut self, collation: u32) {
        if self.collation != collation {
            self.collation = collation;
            self.forget_numbers();
        }
        let charset = Charset::of_collation(collation as u16, &self.flavour().charsets);
        if charset != self.variables.mode.charset {
            self.variables.mode.charset = charset;
            self.forget_numbers();
        }
    }

    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    pub fn mode(&self) -> LexMode {
        self.variables.mode
    }

    pub fn side_effects(&self) -> SideEffects {
        self.variables.side_effects
    }

    /// Assumes that the session expects each side effect whose system variable this text names.
    pub fn note_side_effects(&mut self, text: &[u8]) {
        let flavour = self.flavour();
        self.variables.side_effects.note_text(flavour, text);
    }

    /// Assumes that the session has every side effect, after a command whose text is not known.
    pub fn assume_all_side_effects(&mut self) {
        self.variables.side_effects = SideEffects::ALL;
    }

    /// Takes those status flags of a response that show how the server parses this session's texts.
    pub fn set_mode_flags(&mut self, flags: u16) {
        if self.flavour().modes.flags_show_ansi_quotes {
            self.variables.mode.ansi_quotes = flags & status::ANSI_QUOTES != 0;
        }
        self.variables.mode.no_backslash_escapes = flags & status::NO_BACKSLASH_ESCAPES != 0;
    }

    /// Notes that the server looks up the privileges of the account now, at a login or a change of user, and keeps them. `number` is from
    /// `Engine::number_of`: sessions of one account that have the same number have the same privileges.
    pub fn set_granted(&mut self, number: u64) {
        self.granted = [number; 2];
        self.forget_numbers();
    }

    /// Notes that the server looks up the privileges for the current database now and keeps them. `number` is what
    /// `Engine::number_of` returned: sessions of one account with the same number and database have the same
    /// privileges.
    pub fn set_granted_for_database(&mut self, number: u64) {
        self.granted[1] = number;
        self.forget_numbers();
    }

    /// The number that stands for the privileges for the current database, see `set_granted_for_database`.
    pub fn granted_for_database(&self) -> u64 {
        self.granted[1]
    }

    /// Notes that the server may from here on look up the privileges for the current database again, whenever it returns from another one.
    pub fn note_privilege_rechecks(&mut self) {
        self.rechecks_database_privileges = true;
    }

    pub fn rechecks_database_privileges(&self) -> bool {
        self.rechecks_database_privileges
    }

    pub fn note_reset(&mut self) {
        self.was_reset = true;
    }

    pub fn was_reset(&self) -> bool {
        self.was_reset
    }

    pub fn has_set_role(&self) -> bool {
        self.has_set_role
    }

    /// Resets all settings to those of a new session. `inherited` is the value of `Settings::inherited` from before it was set up.
    /// `side_effects` is None if the initial settings are not known: they then count as uncertain, and the server is queried for them.
    pub fn begin(&mut self, inherited: u64, side_effects: Option<SideEffects>) {
        self.inherited = inherited;
        self.turned_cache_off = false;
        let ignore_space = self.has(capability::IGNORE_SPACE);
        let charset = Charset::of_collation(self.charset, &self.flavour().charsets);
        self.variables = Variables::new(LexMode { ignore_space, charset, ..LexMode::new(self.flavour()) });
        self.variables.side_effects = side_effects.unwrap_or_default();
        (self.variables.is_uncertain, self.variables.is_unread) = (side_effects.is_none(), side_effects.is_none());
        self.variables.knows_side_effects = side_effects.is_some();
        self.forget_numbers();
    }

    /// Completes `begin` for a session whose initial settings were not known then, and that has set nothing by an expression since.
    /// `initial_side_effects` gets the session's `inherited`; if it returns None, nothing changes.
    pub fn begin_late(&mut self, initial_side_effects: impl FnOnce(u64) -> Option<SideEffects>) {
        if let Some(side_effects) = self.variables.is_unread.then(|| initial_side_effects(self.inherited)).flatten() {
            self.variables.begin_late(side_effects);
            self.forget_numbers();
        }
    }

    /// True if the server may report every statement in a transaction to the client, which would then learn of the engine's own queries.
    pub fn may_report(&self) -> bool {
        self.has(capability::SESSION_TRACK) && !self.variables.knows_side_effects
    }

    pub fn set_charset(&mut self, charset: u16) {
        self.charset = charset;
        self.forget_numbers();
    }

    /// Called after a reset, or a change of user that names no character set. Marks the character set as unknown, so that the server is
    /// queried for it. Does nothing if the product keeps the character set of the login.
    pub fn mark_charset_unknown(&mut self) {
        if !self.flavour().charsets.survives_reset {
            (self.charset, self.collation) = (0, 0);
            self.variables.mark_uncertain(true);
            self.forget_numbers();
        }
    }

    /// Applies an assignment that the server has accepted. `inherited` stands for the global values that DEFAULT means. False if it was not
    /// understood: the caller must then call `become_private`.
    pub fn apply(&mut self, assignment: &Assignment, inherited: u64) -> bool {
        self.has_set_role |= assignment.target == sql::Target::Role;
        let understanding = self.variables.apply(assignment, inherited);
        if understanding == Understanding::Changed {
            self.forget_numbers();
        }
        understanding != Understanding::NotUnderstood
    }

    /// Handles the assignments of a SET that has failed. The server may have accepted a part of them, so the settings count as uncertain.
    /// False if the server cannot be queried for what they set: the caller must then call `become_private`.
    pub fn apply_failed(&mut self, assignments: &[Assignment]) -> bool {
        self.has_set_role |= assignments.iter().any(|a| a.target == sql::Target::Role);
        self.forget_numbers();
        self.variables.apply_uncertain(assignments)
    }

    /// Takes the values that the server was queried for, in the order of `settings_query::packet`. None if its answer was not understood:
    /// nothing is cached for this session then.
    pub fn take_setting_values(&mut self, values: Option<&[Vec<u8>]>) {
        match values {
            Some(values) => self.variables.take_setting_values(values),
            None => self.variables.knowledge = Knowledge::Lost,
        }
        self.variables.is_uncertain = false;
        self.forget_numbers();
    }

    /// Called if something that is not understood is in force, perhaps a role. From here on the session shares its results with no other.
    pub fn become_private(&mut self, contexts: &Contexts) {
        self.has_set_role = true;
        if self.variables.knowledge != Knowledge::Lost {
            self.variables.become_private(contexts.private());
        }
        self.forget_numbers();
    }

    /// Called after a statement that may have set anything. The session shares no results from here on. If the flags of a response do not
    /// show everything about parsing, the server is queried for that before the next read.
    pub fn stop_sharing(&mut self, contexts: &Contexts) {
        self.become_private(contexts);
        if !self.flavour().modes.flags_show_ansi_quotes {
            self.variables.mark_uncertain(true);
        }
    }

    /// Called if not even the lexical mode is known. Nothing is cached for this session until its settings are reset.
    pub fn stop_caching(&mut self) {
        self.variables.knowledge = Knowledge::Lost;
        self.forget_numbers();
    }

    fn forget_numbers(&mut self) {
        self.numbers = None;
    }

    /// True if the session expects of each read a side effect that an answer from the cache does not have: a trace, a report about the
    /// transaction, a GTID of its own, a wait for other members of a group. Every read must then run on the server, and the engine may send no
    /// queries of its own.
    pub fn expects_side_effects(&self) -> bool {
        let side_effects = self.variables.side_effects;
        side_effects.traces
            || side_effects.numbers
            || side_effects.waits
            || side_effects.reports && self.has(capability::SESSION_TRACK)
    }

    /// True if the server reports to the client where a transaction begins. The engine must then not begin one at another moment.
    pub fn client_tracks_transactions(&self) -> bool {
        self.has(capability::SESSION_TRACK) && self.flavour().statements.reports_transactions
    }

    /// Returns the number of this context for the text (false) or binary (true) protocol; equal contexts have equal numbers. None if the
    /// session must not be cached. `known_hosts` is the value of `Settings::known_hosts` now.
    pub fn number(&mut self, contexts: &Contexts, known_hosts: Option<u64>, is_binary: bool) -> Option<u64> {
        // Numbers that were computed without knowing the hosts stay valid: they only share less. So a hit need not take a lock to find
        // out that it could share more.
        let is_outdated = self.numbers_under.is_some() && self.numbers_under != known_hosts;
        if self.numbers.is_none() || is_outdated {
            self.numbers_under = known_hosts;
            self.numbers = self.compute(contexts);
        }
        self.numbers.map(|numbers| numbers[usize::from(is_binary)])
    }

    /// Called after a miss. If the numbers were computed without knowing the hosts, they are computed again, so that the next read may
    /// find a result of another session.
    pub fn may_share_from_here(&mut self, known_hosts: Option<u64>) {
        if self.numbers_under.is_none() && known_hosts.is_some() {
            self.forget_numbers();
        }
    }

    /// Computes the numbers of this session context for the text and the binary protocol. Sessions with equal numbers
    /// share results. None if results of the session must not be cached.
    fn compute(&self, contexts: &Contexts) -> Option<[u64; 2]> {
        let account = self.account.as_ref()?;
        if self.variables.knowledge == Knowledge::Lost || self.variables.is_uncertain {
            return None;
        }
        if self.must_run || self.expects_side_effects() || !self.is_database_known {
            return None;
        }
        let mut parts = Parts::default();
        parts.push(&account.user).push(&account.host).push(&self.database);
        let knows_hosts = self.numbers_under.is_some();
        if !account.is_pattern() || !knows_hosts || contexts.has_several_hosts(&account.user) {
            parts.push(b"address").push(&account.address);
        }
        parts.push(&(self.capabilities & self.flavour().capabilities.shaping).to_le_bytes());
        parts.push(&self.charset.to_le_bytes()).push(&self.collation.to_le_bytes());
        parts.push(&[self.cache_type, u8::from(self.variables.mode.ignore_space)]);
        parts.push(&self.inherited.to_le_bytes());
        self.granted.iter().for_each(|number| _ = parts.push(&number.to_le_bytes()));
        if let Some(number) = self.trial {
            parts.push(b"trial").push(&number.to_le_bytes());
        }
        if let Knowledge::Private(number) = self.variables.knowledge {
            parts.push(&number.to_le_bytes());
        }
        for (name, value) in self.variables.iter() {
            parts.push(name).push(value);
        }
        let text = contexts.number(parts.bytes());
        parts.push(b"binary");
        Some([text, contexts.number(parts.bytes())])
    }
}
