//! Declares the `loom` configuration, in which the model checker replaces the atomics.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(loom)");
    println!("cargo::rerun-if-changed=build.rs");
}
