//! Takes over the settings of the server's own query cache, which the plugin replaces.

use crate::declared::checks;
use crate::log;
use crate::signal;
use host::{Link, number};
use session::Engine;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// True if the settings of the server's own query cache may have changed since they were last read.
static TOUCHED: AtomicBool = AtomicBool::new(false);

/// The pause between two looks at the settings of the server's own query cache while no statements are reported.
const PAUSE: Duration = Duration::from_secs(1);

/// The settings of the server's own query cache, as last seen.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Native {
    cache_type: u64,
    size: u64,
    limit: u64,
}

thread_local! {
    /// The settings that the worker saw last. Used on the worker's thread only; none before its first look.
    static LAST: Cell<Option<Native>> = const { Cell::new(None) };
    /// When the worker last looked at the settings because no statements were reported.
    static LOOKED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Forgets which settings were seen last, when the worker starts, so that its first round reads them.
pub fn begin() {
    LAST.set(None);
    LOOKED.set(Some(Instant::now()));
    doubt();
}

/// Makes the worker read the settings of the server's own query cache in its next round.
pub fn doubt() {
    TOUCHED.store(true, Ordering::Relaxed);
}

/// Makes the worker read the settings of the server's own query cache at once: a session may just have changed them.
pub fn settings_may_have_changed() {
    doubt();
    signal::wake();
}

/// Takes over the settings of the server's own query cache if they may have changed, and returns true if it has read them.
/// `reports_no_statements`: the server reports no statements, so the settings are read every second. An error is that of a failed query.
/// For the worker's thread only.
pub fn adopt_settings(engine: &Engine, link: &mut dyn Link, reports_no_statements: bool) -> Result<bool, String> {
    if reports_no_statements && LOOKED.get().is_none_or(|looked| looked.elapsed() >= PAUSE) {
        LOOKED.set(Some(Instant::now()));
        doubt();
    }
    let is_due = TOUCHED.swap(false, Ordering::Relaxed);
    if is_due {
        LAST.set(Some(adopt(engine, link, LAST.get())?));
    }
    Ok(is_due)
}

/// Takes over the settings that are not as in `last`, and switches the server's own query cache off. The settings come from the option
/// file, and later from connections older than the plugin, whose statements it does not see. Returns the settings now.
fn adopt(engine: &Engine, link: &mut dyn Link, last: Option<Native>) -> Result<Native, String> {
    let rows = link.query(
        "SELECT FIELD(@@GLOBAL.query_cache_type, 'ON', 'DEMAND'), @@GLOBAL.query_cache_size, \
         @@GLOBAL.query_cache_limit, @@GLOBAL.lower_case_table_names, @@GLOBAL.fqc_size",
    )?;
    let numbers: Vec<u64> = rows.first().into_iter().flatten().map(number).collect();
    let [cache_type, size, limit, lower_case, own_size] = numbers[..] else {
        return Err("the server did not tell the settings of its query cache".into());
    };
    engine.settings().set_has_case_sensitive_names(lower_case == 0);
    let native = Native { cache_type, size, limit };
    let last = last.unwrap_or(if own_size == 0 { Native::default() } else { native });
    if size != last.size {
        link.query(&format!("SET GLOBAL fqc_size = {}", size.min(checks::SIZE_MAX)))?;
    }
    if limit != last.limit {
        link.query(&format!("SET GLOBAL fqc_limit = {limit}"))?;
    }
    if cache_type != 0 {
        link.query(&format!("SET GLOBAL fqc_type = {cache_type}"))?;
        link.query("SET GLOBAL query_cache_type = OFF")?;
        log::note("the settings of the server's own query cache were taken over, and that cache was turned off");
    }
    Ok(Native { cache_type: 0, ..native })
}
