//! Whether the plugin loads into a server of this line, as `engine/servers.tsv` says and the administrator asks.

use crate::declared::variables;
use crate::exports;
use flavour::servers::{self, Admission};

/// Ok if the plugin may be loaded into this server; the error says why not, and what would let it.
pub fn check() -> Result<(), String> {
    let version = exports::server_version()?;
    let refuse = |words: &str| {
        let product = servers::product(&version);
        let tested = servers::tested(product).join(", ");
        Err(format!("this is {product} {version}, and only {tested} has been tested with this engine{words}"))
    };
    match servers::line(&version).plugin {
        Admission::Tested | Admission::Warns => Ok(()),
        Admission::Asked if variables::allows_untested_server() => Ok(()),
        Admission::Asked => refuse("; to load it all the same, start the server with fqc_allow_untested_server = ON"),
        Admission::Never => refuse(", which cannot be loaded into it"),
    }
}

/// Product and version of a server that the engine has not been tested on; none of a tested one.
pub fn untested(version: &str) -> Option<String> {
    let is_tested = servers::line(version).plugin == Admission::Tested;
    (!is_tested).then(|| format!("{} {version}", servers::product(version)))
}

/// The line for the error log about such a server; to be written once a load.
pub fn warning(server: &str) -> String {
    let asked = if variables::allows_untested_server() {
        "; it was loaded because fqc_allow_untested_server is ON"
    } else {
        ""
    };
    format!("{server}: this server version has not been tested with this engine{asked}")
}
