//! Puts functions of the plugin between the parts of Group Replication's library.
//!
//! The library exports its functions, and calls them through its import table. The plugin exchanges entries there, as it does in the
//! server's own table. Each function is looked up by its exported name, which for C++ holds the types of all parameters.

use crate::pointers::{Pointer, ReplacedSlots};
use crate::sockets::got::Library;
use locks::Mutex;
use std::ffi::{CStr, c_void};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicPtr, Ordering};

const FILE: &str = "group_replication.so";

/// A function of the library, the plugin's function that is called instead, and where the address of the library's own is stored.
pub struct Hook {
    pub name: &'static CStr,
    pub ours: *mut c_void,
    pub original: &'static AtomicPtr<c_void>,
}

/// The library whose entries hold the plugin's functions.
struct Followed {
    /// The address at which the library is loaded. It is loaded again if Group Replication is installed again.
    base: u64,
    entries: Vec<(Pointer, usize)>,
    exchanged: ReplacedSlots,
}

static FOLLOWED: Mutex<Option<Followed>> = Mutex::new(None);

/// Puts all functions in, or none. Returns false if they were all there already. An error says what is missing.
pub fn install(hooks: &[Hook]) -> Result<bool, String> {
    let library = Library::find(FILE).ok_or_else(|| format!("{FILE} is not loaded"))?;
    let mut followed = FOLLOWED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_ours = |(entry, ours): &(Pointer, usize)| entry.current() as usize == *ours;
    if followed.as_ref().is_some_and(|one| one.base == library.base() && one.entries.iter().all(is_ours)) {
        return Ok(false);
    }
    let mut found = Vec::new();
    for hook in hooks {
        let both = library.entry(hook.name).zip(library.symbol(hook.name));
        found.push(both.ok_or_else(|| format!("{FILE} does not call {}", hook.name.to_string_lossy()))?);
    }
    // Entries of a library that was unloaded are gone with it.
    *followed = None;
    let mut exchanged = ReplacedSlots::none();
    let outcome = hooks.iter().zip(&found).try_for_each(|(hook, (entry, function))| {
        exchanged.exchange(*entry, hook.ours, |_| hook.original.store(*function, Ordering::Release))
    });
    if let Err(error) = outcome {
        let _ = exchanged.put_back();
        return Err(format!("the table of {FILE} could not be changed: {error}"));
    }
    let entries = found.iter().zip(hooks).map(|((entry, _), hook)| (*entry, hook.ours as usize)).collect();
    *followed = Some(Followed { base: library.base(), entries, exchanged });
    Ok(true)
}

/// Restores the library's table, if the library is still loaded. An error if an entry could not be restored.
pub fn remove() -> Result<(), String> {
    let Some(mut followed) = FOLLOWED.lock().unwrap_or_else(PoisonError::into_inner).take() else { return Ok(()) };
    let library = Library::find(FILE).filter(|library| library.base() == followed.base);
    if library.is_none() {
        return Ok(());
    }
    followed.exchanged.put_back().map_err(|error| format!("the table of {FILE} could not be put back: {error}"))
}
