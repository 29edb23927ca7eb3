//! The list of servers that the whole project shares.

const LIST: &str = include_str!("../../../servers.tsv");

/// Every run of the suites, or long runs of the testers, were on servers of this line.
pub fn is_tested(product: &str, version: &str) -> bool {
    let servers = LIST.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect::<Vec<_>>());
    servers.into_iter().any(|columns| match columns[..] {
        [its_product, line, "yes", ..] => {
            its_product == product && version.strip_prefix(line).is_some_and(|rest| rest.starts_with('.'))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::{MARIADB, MARIADB_11_5, MYSQL, mariadb};

    #[test]
    fn a_tested_line_is_known_by_the_start_of_its_versions() {
        for tested in ["10.11.19-MariaDB-0+deb12u1", "11.4.5-MariaDB-1", "11.8.9-MariaDB-0+deb13u1 from Debian"] {
            assert!(mariadb(tested).is_tested(tested), "{tested}");
        }
        for other in ["10.6.21-MariaDB", "11.80.1-MariaDB", "11.8", "12.1.2-MariaDB", "9.7.4", ""] {
            assert!(!mariadb(other).is_tested(other), "{other}");
        }
        assert!(MYSQL.is_tested("9.7.4-2") && !MYSQL.is_tested("8.4.6"));
    }

    #[test]
    fn a_version_has_its_lines_flavour_and_an_unknown_one_the_newest() {
        for old in ["10.11.19-MariaDB", "11.4.5-MariaDB-1"] {
            assert_eq!(mariadb(old), &MARIADB, "{old}");
        }
        for new in ["11.5.2-MariaDB", "11.8.9-MariaDB-0+deb13u1", "12.1.2-MariaDB", "", "eleven"] {
            assert_eq!(mariadb(new), &MARIADB_11_5, "{new}");
        }
    }
}
