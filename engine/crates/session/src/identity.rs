//! Who asks, as far as it can change a result: two sessions of one identity share what is stored.

pub mod account;
pub mod contexts;
pub mod habits;
pub mod variables;
