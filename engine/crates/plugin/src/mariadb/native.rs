//! The server's own query cache, which the plugin takes the place of.

use crate::mariadb::local::Local;
use crate::mariadb::log;
use crate::mariadb::variables;
use host::{Link, number};
use session::Engine;

/// What the server's own query cache was set to, as last seen.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Native {
    cache_type: u64,
    size: u64,
    limit: u64,
}

/// Takes over what was set for the server's own query cache, and switches that off. Such settings come from the option
/// file, and later from connections older than the plugin, whose statements it does not see.
pub fn adopt(engine: &Engine, link: &mut Local, last: Option<Native>) -> Result<Native, String> {
    let rows = link.query(
        "SELECT FIELD(@@GLOBAL.query_cache_type, 'ON', 'DEMAND'), @@GLOBAL.query_cache_size, \
         @@GLOBAL.query_cache_limit, @@GLOBAL.lower_case_table_names, @@GLOBAL.fqc_size",
    )?;
    let numbers: Vec<u64> = rows.first().into_iter().flatten().map(number).collect();
    let [cache_type, size, limit, lower_case, own_size] = numbers[..] else {
        return Err("the server did not tell the settings of its query cache".into());
    };
    engine.settings().set_tells_case(lower_case == 0);
    let native = Native { cache_type, size, limit };
    let last = last.unwrap_or(if own_size == 0 { Native::default() } else { native });
    if size != last.size {
        link.query(&format!("SET GLOBAL fqc_size = {}", size.min(variables::SIZE_MAX)))?;
    }
    if limit != last.limit {
        link.query(&format!("SET GLOBAL fqc_limit = {limit}"))?;
    }
    if cache_type != 0 {
        link.query(&format!("SET GLOBAL fqc_type = {cache_type}"))?;
        link.query("SET GLOBAL query_cache_type = OFF")?;
        log::note("what was set for the server's own query cache was taken over, and that cache is off");
    }
    Ok(Native { cache_type: 0, ..native })
}
