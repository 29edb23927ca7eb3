//! Release numbers, with which version strings begin.

/// A release number: major, minor and patch, ordered by them. A number that the version lacks is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release([u32; 3]);

impl Release {
    /// Returns the release that a version string begins with. One that cannot be parsed gives 0.0.0, which is older than every release.
    pub fn of(version: &str) -> Release {
        let mut numbers = Release::number(version).split('.').map_while(|number| number.parse().ok());
        Release([(); 3].map(|()| numbers.next().unwrap_or(0)))
    }

    /// Returns the digits and dots that a version string begins with: `8.0.36` for `8.0.36-28`, empty if it begins with neither. The prefix
    /// `5.5.5-`, which MariaDB 10 puts before its version in the greeting, is skipped.
    pub fn number(version: &str) -> &str {
        const BEFORE_MARIADB_10: &str = "5.5.5-";
        let of_mariadb = version.strip_prefix(BEFORE_MARIADB_10).filter(|_| version.contains("MariaDB"));
        let version = of_mariadb.unwrap_or(version);
        let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
        &version[..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_by_their_numbers() {
        let ascending = [
            "",
            "5.5.62",
            "5.7.9",
            "5.7.22-log",
            "8.0",
            "8.0.15",
            "8.0.36-28",
            "8.2",
            "9.7.4-2",
            "5.5.5-10.11.6-MariaDB",
        ];
        assert!(ascending.map(Release::of).is_sorted_by(|one, next| one < next));
        assert_eq!(Release::of("10.11.6-MariaDB"), Release::of("5.5.5-10.11.6-MariaDB-log"));
        assert!(["what", "", "-", "MariaDB"].iter().all(|text| Release::of(text) == Release([0; 3])));
    }
}
