//! The library must never be unmapped: a server thread may still be inside a hook when the plugin is removed.
fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
