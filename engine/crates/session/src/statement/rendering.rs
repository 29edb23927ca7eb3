//! Responses that are rewritten before the client gets them.

use sql::surface::Renamed;

/// How a response is changed before the client gets it. It is held back until it is complete.
pub(crate) enum Rendering {
    /// Column names and error texts get the variable names that the client wrote, instead of those that the server
    /// knows.
    Names(Vec<Renamed>),
    /// Replaces the values of the server's own query cache, which is switched off.
    Values(Vec<(&'static str, String)>),
    /// The statement only tested a privilege. If it succeeds, this response is sent instead.
    Report(Vec<u8>),
}

impl Rendering {
    /// Returns the changed response. None if the response is to be sent unchanged.
    pub fn apply(&self, response: &[u8], capabilities: u64) -> Option<Vec<u8>> {
        match self {
            Rendering::Names(renamed) if is_error(response) => Some(rename_in_error(response, renamed)),
            Rendering::Names(renamed) => {
                let names: Vec<_> = renamed.iter().map(|name| (name.ours.as_bytes(), name.theirs.as_slice())).collect();
                wire::surface::rename_columns(response, capabilities, &names)
            }
            Rendering::Values(values) => {
                let values: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
                wire::surface::replace_values(response, capabilities, &values)
            }
            Rendering::Report(report) => (!is_error(response)).then(|| report.clone()),
        }
    }
}

/// True for an error packet with an SQLSTATE and a message.
fn is_error(response: &[u8]) -> bool {
    response.get(4) == Some(&0xFF) && response.len() >= 13
}

/// Replaces the variable name in the server's error message by the one that the client wrote.
fn rename_in_error(response: &[u8], renamed: &[Renamed]) -> Vec<u8> {
    let mut payload = String::from_utf8_lossy(&response[13..]).into_owned();
    for name in renamed {
        payload = payload.replace(name.ours, &String::from_utf8_lossy(&name.theirs));
    }
    let mut packet = Vec::new();
    let head = &response[4..13];
    wire::push_packet(&mut packet, &mut { response[3] }, &[head, payload.as_bytes()].concat());
    packet
}
