//! Names that the engine and the control plane share. The control plane's tests read the same file.

const FILE: &str = include_str!("../../../../docs/reference/engine.json");

/// Returns the strings of the list with this name in docs/reference/engine.json. Panics if there is none of this name.
pub fn stated(key: &str) -> Vec<&'static str> {
    let (_, rest) = FILE.split_once(&format!("\"{key}\": [")).expect("a list of this name");
    let (list, _) = rest.split_once(']').expect("its end");
    list.split('"').skip(1).step_by(2).collect()
}
