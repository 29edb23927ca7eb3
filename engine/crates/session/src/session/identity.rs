//! Who asks, as far as it can change a result.
//!
//! Invariant: the numbers always match the fields that they were computed from. Every change to such a field forgets them, which is
//! why the fields are private.

use crate::identity::account::Account;
use crate::identity::contexts::{Contexts, Parts};
use crate::identity::habits::Habits;
use crate::identity::variables::{Knowledge, Understanding, Variables};
use crate::reason::Own;
use flavour::Flavour;
use sql::{Assignment, Charset, LexMode};
use wire::{ClientHello, Greeting, capability, status};

/// What a client and its server have agreed on.
pub enum Agreement {
    Plain,
    /// TLS begins now; the rest follows inside it.
    Tls,
    /// The packets cannot be read.
    Foreign(Option<Own>),
}

pub struct Identity {
    /// Of the server.
    offered: u64,
    /// Of both sides.
    capabilities: u64,
    charset: u16,
    /// That of the client's texts, as the server tells: where it does not know the one that the client asked for, a reset gives
    /// the session whatever its thread had before.
    collation: u32,
    account: Option<Account>,
    database: Vec<u8>,
    is_database_known: bool,
    cache_type: u8,
    /// It has said itself that it wants no cache, so it is not observed: it would not be served if the cache were on.
    stays_out: bool,
    /// That of a session that tries the cache out: its results are its own.
    trial: Option<u64>,
    /// No read may pass the server by.
    must_run: bool,
    variables: Variables,
    inherited: u64,
    /// The same when the server looked up what is granted to the account, and for the current database: it keeps that until
    /// another login, or another database is chosen. A reset leaves it as it is.
    granted: [u64; 2],
    /// It has met a stored routine, or may have, or executed what was prepared in another database: each time when the server comes back
    /// from another database, it looks up anew what is granted for the current one.
    goes_elsewhere: bool,
    /// It has begun again without what `init_connect` says.
    was_reset: bool,
    /// A role may have been set: it outlives a reset and a change of user.
    has_set_role: bool,
    /// For the text and the binary protocol; none while they must be computed anew.
    numbers: Option<[u64; 2]>,
    /// What `Settings::known_hosts` said when they were computed.
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
            stays_out: false,
            trial: None,
            must_run: false,
            variables: Variables::new(LexMode::new(flavour)),
            inherited: 0,
            granted: [0; 2],
            goes_elsewhere: flavour.schemas.routines.is_none(),
            was_reset: false,
            has_set_role: false,
            numbers: None,
            numbers_under: None,
        }
    }

    fn flavour(&self) -> &'static Flavour {
        self.variables.mode.flavour
    }

    /// False if this is not the greeting of a server.
    pub fn greet(&mut self, bytes: &[u8]) -> bool {
        let greeting = wire::Packet::parse(bytes)
            .filter(|packet| packet.header.sequence == 0)
            .and_then(|packet| Greeting::parse(packet.payload));
        self.offered = greeting.as_ref().map_or(0, |greeting| greeting.capabilities);
        greeting.is_some()
    }

    /// The client's answer to the greeting, or, inside TLS, its second half.
    pub fn agree(&mut self, payload: &[u8]) -> Agreement {
        let Some(hello) = ClientHello::parse(payload) else { return Agreement::Foreign(None) };
        if hello.ssl_requested {
            return Agreement::Tls;
        }
        self.capabilities = hello.capabilities & self.offered;
        self.charset = hello.charset;
        self.database = hello.database.unwrap_or_default();
        // The server takes no notice of what it did not offer, so no more than what both have said is in force.
        if self.has(capability::COMPRESSED) {
            Agreement::Foreign(Some(Own::Compressed))
        } else if self.flavour().capabilities.unknown(self.capabilities) != 0 {
            Agreement::Foreign(Some(Own::UnknownCapability))
        } else {
            Agreement::Plain
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

    /// None: another one is about to be authenticated.
    pub fn set_account(&mut self, account: Option<Account>) {
        self.account = account;
        self.forget_numbers();
    }

    /// The current database, as it was last told.
    pub fn database(&self) -> &[u8] {
        &self.database
    }

    /// The current database, unless another one may have been chosen since it was told.
    pub fn known_database(&self) -> Option<&[u8]> {
        self.is_database_known.then_some(&self.database)
    }

    pub fn doubt_database(&mut self) {
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

    pub fn stays_out(&self) -> bool {
        self.stays_out
    }

    pub fn set_stays_out(&mut self, stays_out: bool) {
        self.stays_out = stays_out;
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

    pub fn habits(&self) -> Habits {
        self.variables.habits
    }

    /// A text may set whatever it says.
    pub fn note_habits(&mut self, text: &[u8]) {
        let flavour = self.flavour();
        self.variables.habits.note_text(flavour, text);
    }

    /// It may have any of them.
    pub fn doubt_habits(&mut self) {
        self.variables.habits = Habits::ALL;
    }

    /// As a response's flags tell how texts are read.
    pub fn set_mode_flags(&mut self, flags: u16) {
        if self.flavour().modes.tells_quotes {
            self.variables.mode.ansi_quotes = flags & status::ANSI_QUOTES != 0;
        }
        self.variables.mode.no_backslash_escapes = flags & status::NO_BACKSLASH_ESCAPES != 0;
    }

    /// The server keeps what is granted to the account from here on.
    pub fn set_granted(&mut self, number: u64) {
        self.granted = [number; 2];
        self.forget_numbers();
    }

    /// And what is granted for the database that was chosen now.
    pub fn set_granted_for_database(&mut self, number: u64) {
        self.granted[1] = number;
        self.forget_numbers();
    }

    pub fn granted_for_database(&self) -> u64 {
        self.granted[1]
    }

    pub fn go_elsewhere(&mut self) {
        self.goes_elsewhere = true;
    }

    pub fn goes_elsewhere(&self) -> bool {
        self.goes_elsewhere
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

    /// All settings are those of a new session. `habits`: none if it is not known how new sessions begin.
    pub fn begin(&mut self, inherited: u64, habits: Option<Habits>) {
        self.inherited = inherited;
        self.stays_out = false;
        let ignore_space = self.has(capability::IGNORE_SPACE);
        let charset = Charset::of_collation(self.charset, &self.flavour().charsets);
        self.variables = Variables::new(LexMode { ignore_space, charset, ..LexMode::new(self.flavour()) });
        self.variables.habits = habits.unwrap_or_default();
        (self.variables.is_uncertain, self.variables.is_unread) = (habits.is_none(), habits.is_none());
        self.variables.knows_habits = habits.is_some();
        self.forget_numbers();
    }

    /// The same for a session that has begun already, if it has set nothing by an expression since.
    pub fn begin_late(&mut self, beginnings: impl FnOnce(u64) -> Option<Habits>) {
        if let Some(habits) = self.variables.is_unread.then(|| beginnings(self.inherited)).flatten() {
            self.variables.begin_late(habits);
            self.forget_numbers();
        }
    }

    /// Its client may be told of every statement in a transaction, a question of ours included.
    pub fn may_report(&self) -> bool {
        self.has(capability::SESSION_TRACK) && !self.variables.knows_habits
    }

    pub fn set_charset(&mut self, charset: u16) {
        self.charset = charset;
        self.forget_numbers();
    }

    /// The session may have got another character set than that of its login, and the server is to be asked.
    pub fn doubt_charset(&mut self) {
        if !self.flavour().charsets.outlives_reset {
            (self.charset, self.collation) = (0, 0);
            self.variables.doubt(true);
            self.forget_numbers();
        }
    }

    /// An assignment that the server has accepted. False if it was not understood.
    pub fn apply(&mut self, assignment: &Assignment, inherited: u64) -> bool {
        self.has_set_role |= assignment.target == sql::Target::Role;
        let understanding = self.variables.apply(assignment, inherited);
        if understanding == Understanding::Changed {
            self.forget_numbers();
        }
        understanding != Understanding::NotUnderstood
    }

    /// Assignments that the server may have accepted in part. False if what they have set cannot be asked for.
    pub fn doubt(&mut self, assignments: &[Assignment]) -> bool {
        self.has_set_role |= assignments.iter().any(|a| a.target == sql::Target::Role);
        self.forget_numbers();
        self.variables.doubt_all(assignments)
    }

    /// The server has told the settings that were not certain; none if its answer was not understood.
    pub fn learn(&mut self, values: Option<&[Vec<u8>]>) {
        match values {
            Some(values) => self.variables.learn(values),
            None => self.variables.knowledge = Knowledge::Lost,
        }
        self.variables.is_uncertain = false;
        self.forget_numbers();
    }

    /// Something is in force that is not understood; a role may be, too.
    pub fn become_private(&mut self, contexts: &Contexts) {
        self.has_set_role = true;
        if self.variables.knowledge != Knowledge::Lost {
            self.variables.become_private(contexts.private());
        }
        self.forget_numbers();
    }

    /// Anything may have been set: also how texts are read, where the flags of a response do not tell.
    pub fn suspect(&mut self, contexts: &Contexts) {
        self.become_private(contexts);
        if !self.flavour().modes.tells_quotes {
            self.variables.doubt(true);
        }
    }

    /// Not even how its texts are read is known.
    pub fn lose(&mut self) {
        self.variables.knowledge = Knowledge::Lost;
        self.forget_numbers();
    }

    fn forget_numbers(&mut self) {
        self.numbers = None;
    }

    /// No read may pass the server by, and it may be asked nothing unseen.
    pub fn wants_all(&self) -> bool {
        let habits = self.variables.habits;
        habits.traces || habits.numbers || habits.reports && self.has(capability::SESSION_TRACK)
    }

    /// Its client is told where the server begins a transaction: the engine may not have that done at another moment.
    pub fn is_told_of_transactions(&self) -> bool {
        self.has(capability::SESSION_TRACK) && self.flavour().statements.tells_transactions
    }

    /// Its number for the text (false) or binary (true) protocol; none if the session must not be cached.
    /// `known_hosts`: what `Settings::known_hosts` says.
    pub fn number(&mut self, contexts: &Contexts, known_hosts: Option<u64>, is_binary: bool) -> Option<u64> {
        // What was computed without that knowledge stays true with it, and a hit takes no lock to learn that others share it.
        let is_outdated = self.numbers_under.is_some() && self.numbers_under != known_hosts;
        if self.numbers.is_none() || is_outdated {
            self.numbers_under = known_hosts;
            self.numbers = self.compute(contexts);
        }
        self.numbers.map(|numbers| numbers[usize::from(is_binary)])
    }

    /// A read was not found: under an identity that others share, the next may be.
    pub fn may_share_from_here(&mut self, known_hosts: Option<u64>) {
        if self.numbers_under.is_none() && known_hosts.is_some() {
            self.forget_numbers();
        }
    }

    fn compute(&self, contexts: &Contexts) -> Option<[u64; 2]> {
        let account = self.account.as_ref()?;
        if self.variables.knowledge == Knowledge::Lost || self.variables.is_uncertain {
            return None;
        }
        if self.must_run || self.wants_all() || !self.is_database_known {
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
