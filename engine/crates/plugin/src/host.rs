//! Start and stop of the plugin, and the callbacks that the server makes.

use crate::abi::Thd;
use crate::{log, server, status};
use std::ffi::{c_uint, c_void};

pub fn start() -> Result<(), String> {
    let server = server::find()?;
    if !status::redirect() {
        status::restore();
        return Err("the server's Qcache_ status rows were not found".into());
    }
    log::note(&format!("loaded into server {}", server.version()));
    Ok(())
}

pub fn stop() {
    status::restore();
    log::note("unloaded");
}

pub fn settings_changed() {}
pub fn type_changed(_: *mut Thd, _: u8) {}
pub unsafe extern "C" fn event(_: *mut Thd, _: c_uint, _: *const c_void) {}
