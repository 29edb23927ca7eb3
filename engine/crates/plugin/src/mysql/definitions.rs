//! Observes changes of definitions: the server notifies storage engines before it locks a name exclusively, and after it has unlocked it.
//!
//! The bytes of the lock's key are the only private layout that is read. They are checked at load, against a table that the self-test
//! creates (`selftest`), and again each time before anything is read from them.

use crate::mysql::abi::Thd;
use crate::mysql::reports;
use crate::mysql::selftest::{self, Seam, SeamReport};
use crate::mysql::vtables::{Slots, Vtable};
use session::Report;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The server's key of a metadata lock: the lengths of the whole, of the database's name and of the object's name; then a byte for the kind
/// of object and both names, each terminated by a NUL.
#[repr(C)]
pub struct Key {
    length: u16,
    db_length: u16,
    name_length: u16,
    bytes: [u8; LONGEST],
}
const LONGEST: usize = 387;

const TABLE: u8 = 4;
/// The kinds of objects, as the key of a metadata lock encodes them, whose keys hold each name twice: in the form that
/// is compared, and then as the statement wrote it.
const NAMED_TWICE: [u8; 6] = [5, 6, 7, 8, 15, 18];

type Before = unsafe extern "C" fn(*mut Thd, *const Key, *mut bool) -> bool;
type After = unsafe extern "C" fn(*mut Thd, *const Key);

static BEFORE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static AFTER: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

impl Key {
    /// Returns database and name of the table or view that the lock is on; none for anything else, or if the bytes are not as expected.
    fn table(&self) -> Option<(&[u8], &[u8])> {
        let (db_length, name_length) = (usize::from(self.db_length), usize::from(self.name_length));
        let end = 1 + db_length + 1 + name_length;
        let is_as_expected = self.bytes[0] == TABLE
            && !NAMED_TWICE.contains(&self.bytes[0])
            && usize::from(self.length) == end + 1
            && end < LONGEST
            && self.bytes[1 + db_length] == 0
            && self.bytes[end] == 0;
        is_as_expected.then(|| (&self.bytes[1..1 + db_length], &self.bytes[2 + db_length..end]))
    }
}

/// Runs before the server locks a name exclusively: reports that a definition may change, then calls the server's own function and returns
/// its result. The arguments are those of the server.
unsafe extern "C" fn before(thd: *mut Thd, key: *const Key, is_victim: *mut bool) -> bool {
    // SAFETY: the server's own key, which lives as long as the call.
    let table = unsafe { key.as_ref() }.and_then(Key::table);
    selftest::note(|| SeamReport {
        seam: Seam::Definition,
        name: table.map(|(db, name)| (db.to_vec(), name.to_vec())),
        writes: true,
    });
    reports::on_call(thd, |session| {
        // An object that is no table may be a routine or a schema: for a background thread either marks everything as being written.
        let (db, name) = table.unwrap_or((b"mysql", b"a definition"));
        reports::deliver(session, false, |report| report(Report::Defined { db, name }));
    });
    // SAFETY: the function that `install` has stored, with the server's arguments.
    unsafe { std::mem::transmute::<*mut c_void, Before>(BEFORE.load(Ordering::Acquire))(thd, key, is_victim) }
}

/// Runs after the server has unlocked a name: reports that the change of its definition has ended, then calls the server's own function.
unsafe extern "C" fn after(thd: *mut Thd, key: *const Key) {
    reports::on_call(thd, |session| reports::has_ended(session, true));
    // SAFETY: as above.
    unsafe { std::mem::transmute::<*mut c_void, After>(AFTER.load(Ordering::Acquire))(thd, key) }
}

static SLOTS: Slots = Slots::none();

/// Puts the plugin's functions into the virtual function table of the server's sessions (`THD`). An error leaves it unchanged.
pub fn install() -> Result<(), String> {
    SLOTS.install(|| {
        let table = Vtable::find(c"_ZTV3THD")?;
        let first = table.slot(table.position(c"_ZN3THD33notify_hton_pre_acquire_exclusiveEPK7MDL_keyPb")?);
        let second = table.slot(table.position(c"_ZN3THD34notify_hton_post_release_exclusiveEPK7MDL_key")?);
        Ok(vec![(first, before as *mut c_void, &BEFORE), (second, after as *mut c_void, &AFTER)])
    })
}

/// Restores the virtual function table of the server's sessions (`THD`). An error if that is not possible.
pub fn remove() -> Result<(), String> {
    SLOTS.remove()
}
