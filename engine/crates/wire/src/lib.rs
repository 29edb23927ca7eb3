//! The client/server protocol as bytes: packets, the handshake, commands, ends of responses, parameters.
//!
//! Invariants: no I/O, and no panic on any input. Lengths are checked before they are used. Input that does not fit is `None` or
//! `Confused`, never a guess.
//! Deliberately absent: authentication, compression and TLS. The caller passes plain bytes, or does not follow the connection.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

mod change_user;
mod command;
mod fit;
mod greeting;
mod hello;
pub mod hit_report;
pub mod lenenc;
mod packet;
mod pieces;
mod prepared;
pub mod proxy;
mod query;
mod reply;
pub mod status;
pub mod surface;
mod tracker;

pub use change_user::ChangeUser;
pub use command::Command;
pub use fit::{Interpretation, ParameterTypes};
pub use flavour::capability;
pub use greeting::{Challenge, Greeting};
pub use hello::ClientHello;
pub use packet::{Framed, Header, MAX_PAYLOAD, Packet, first_command, lone_command, packets, push_packet};
pub use pieces::{Piece, Pieces};
pub use prepared::{
    Bound, BoundType, Execute, LAST_STATEMENT, NO_TYPE, Param, ParamIter, Params, execution, have_time, statement_id,
    types_alone, types_refused, with_types,
};
pub use query::{NO_ATTRIBUTES, Query};
pub use reply::{ErrPacket, OkPacket, column_count, columns_of, first_value, ok_packet, only_row, patch_status, value};
pub use tracker::{Expect, Outcome, OutcomeKind, Parameter, Progress, ResponseTracker, StatusOffsets, Unstorable};
