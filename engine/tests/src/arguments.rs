//! `--name value` arguments of the testers' programs.

use std::io;
use std::path::PathBuf;

use crate::server::Product;

/// The arguments of a tester's program, in the form `--name value`. Methods take a name without its dashes.
pub struct Arguments(Vec<(String, String)>);

impl Arguments {
    /// Reads this process's arguments. Fails at a name that `usage` does not show as `[--name `, and at a name without a value.
    pub fn read(usage: &str) -> io::Result<Self> {
        let mut words = std::env::args().skip(1);
        let mut pairs = Vec::new();
        while let Some(name) = words.next() {
            if !usage.contains(&format!("[{name} ")) {
                return Err(io::Error::other(format!("unknown argument {name}")));
            }
            let value = words.next().ok_or_else(|| io::Error::other(format!("{name} needs a value")))?;
            pairs.push((name[2..].to_string(), value));
        }
        Ok(Self(pairs))
    }

    /// The values of all arguments of this name, in their order.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |pair| pair.0 == name).map(|pair| pair.1.as_str())
    }

    /// The last value of this name. None if it was not given.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.all(name).last().map(PathBuf::from)
    }

    /// The product that `--product` names: MariaDB by default. Fails at any other word than `mariadb` and `mysql`.
    pub fn product(&self) -> io::Result<Product> {
        match self.all("product").last() {
            None | Some("mariadb") => Ok(Product::MariaDb),
            Some("mysql") => Ok(Product::MySql),
            Some(other) => Err(io::Error::other(format!("--product is mariadb or mysql, not {other}"))),
        }
    }

    /// The last value of this name, or `default` if it was not given. Fails if the value is no whole number.
    pub fn number(&self, name: &str, default: u64) -> io::Result<u64> {
        let Some(value) = self.all(name).last() else { return Ok(default) };
        value.parse().map_err(|_| io::Error::other(format!("--{name} needs a whole number, not `{value}`")))
    }
}
