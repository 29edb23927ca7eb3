//! Decides whether the plugin loads into this server version, from `engine/servers.tsv` and the administrator's setting.

use crate::declared::variables;
use crate::exports;
use flavour::servers::{self, PluginSupport};

/// Returns Ok if the plugin may be loaded into this server, by its version and `fqc_allow_untested_server`. The error says why not, and
/// which setting would allow it.
pub fn check() -> Result<(), String> {
    let version = exports::server_version()?;
    let refuse = |words: &str| {
        let product = servers::product(&version);
        let tested = servers::tested(product).join(", ");
        Err(format!("this is {product} {version}, and only {tested} has been tested with this engine{words}"))
    };
    match servers::support(&version).plugin {
        PluginSupport::Tested | PluginSupport::Warns => Ok(()),
        PluginSupport::IfAllowed if variables::allows_untested_server() => Ok(()),
        PluginSupport::IfAllowed => {
            refuse("; to load it all the same, start the server with fqc_allow_untested_server = ON")
        }
        PluginSupport::Never => refuse(", which cannot be loaded into it"),
    }
}

/// Returns product and version of the server, for messages, if the engine has not been tested on servers of this version. None if it has.
pub fn untested(version: &str) -> Option<String> {
    let is_tested = servers::support(version).plugin == PluginSupport::Tested;
    (!is_tested).then(|| format!("{} {version}", servers::product(version)))
}

/// Returns the error log's warning about an untested server, to be logged once per load. `server` is its product and version, from
/// `untested`.
pub fn warning(server: &str) -> String {
    let asked = if variables::allows_untested_server() {
        "; it was loaded because fqc_allow_untested_server is ON"
    } else {
        ""
    };
    format!("{server}: this server version has not been tested with this engine{asked}")
}
