//! Scalars, aggregates and conditions over the columns of one table, as SQL text.

use super::Generator;
use super::model::{Table, Type, type_of};

impl Generator {
    /// The column list of a read without aggregates.
    pub(super) fn selection(&mut self, table: &Table) -> String {
        match self.random.below(10) {
            0..=3 => "*".into(),
            4..=6 => {
                let count = 1 + self.random.below(3);
                let columns: Vec<_> = (0..count).map(|_| table.column(&mut self.random).to_string()).collect();
                columns.join(", ")
            }
            _ => {
                let count = 1 + self.random.below(2);
                let list: Vec<_> = (0..count).map(|_| self.scalar(table)).collect();
                list.join(", ")
            }
        }
    }

    /// An expression whose value depends on a column's, and often on the settings of the session.
    pub(super) fn scalar(&mut self, table: &Table) -> String {
        let column = table.column(&mut self.random).to_string();
        let pattern: &str = match type_of(&column) {
            Type::Int | Type::Unsigned => self.random.word(&[
                "{} + 1",
                "{} / 7",
                "{} DIV 3",
                "{} % 4",
                "-{}",
                "{} || 'x'",
                "FROM_UNIXTIME({} * 86400)",
                "NOT {} BETWEEN -1 AND 3",
                "{} - 10",
                "CONCAT({}, \"q\")",
                "HEX({})",
                "IF({} > 4, 'big', 'small')",
                "CAST({} AS CHAR)",
                "LPAD({}, 6, '0')",
                "FORMAT({}, 2)",
                "1 / ({} - 3)",
                "{} IS NULL",
                "COALESCE({}, -1)",
                "MAKEDATE(2024, ABS({}) + 1)",
                "BIN({})",
            ]),
            Type::Text | Type::LongText | Type::Blob => self.random.word(&[
                "UPPER({})",
                "CONCAT({}, 'é\\n')",
                "LENGTH({})",
                "CHAR_LENGTH({})",
                "{} = 'A'",
                "{} LIKE 'a%'",
                "HEX({})",
                "{} + 0",
                "MD5({})",
                "CHARSET({})",
                "COLLATION({})",
                "SUBSTR({}, 1, 2)",
                "{} COLLATE utf8mb4_bin = 'a'",
                "TRIM({})",
                "{} = \"ab\"",
                "STRCMP({}, 'b')",
                "CONVERT({} USING latin1)",
                "REPLACE({}, 'a', 'o')",
                "CRC32({})",
                "CAST({} AS SIGNED)",
                "COERCIBILITY({})",
            ]),
            Type::Decimal => self.random.word(&[
                "{} / 3",
                "ROUND({}, 1)",
                "{} * {}",
                "TRUNCATE({}, 0)",
                "{} / 7.0 / 3",
                "CAST({} AS SIGNED)",
            ]),
            Type::DateTime => self.random.word(&[
                "DATE_FORMAT({}, '%W %M %a %b')",
                "DAYNAME({})",
                "MONTHNAME({})",
                "WEEK({})",
                "UNIX_TIMESTAMP({})",
                "DATE({})",
                "CONVERT_TZ({}, '+00:00', '+02:00')",
                "YEARWEEK({})",
                "{} > NOW()",
                "DATE_ADD({}, INTERVAL 1 MONTH)",
                "CAST({} AS CHAR)",
                "DATEDIFF({}, CURRENT_DATE)",
                "TIMESTAMPDIFF(DAY, {}, '2025-01-01')",
                "{} + INTERVAL 1 DAY",
            ]),
            Type::Json => self.random.word(&[
                "JSON_EXTRACT({}, '$.k')",
                "JSON_VALUE({}, '$.w')",
                "JSON_LENGTH({})",
                "JSON_KEYS({})",
            ]),
        };
        pattern.replace("{}", &column)
    }

    pub(super) fn aggregate(&mut self, table: &Table) -> String {
        let column = table.column(&mut self.random).to_string();
        let number = ["id", "a", "d"].into_iter().find(|one| table.has(one)).unwrap_or("1");
        match self.random.below(9) {
            0 | 1 => "COUNT(*)".into(),
            2 => format!("COUNT(DISTINCT {column})"),
            3 => format!("MAX(BINARY {column})"),
            4 => format!("MIN(BINARY {column})"),
            5 => format!("SUM({number})"),
            6 => format!("AVG({number})"),
            7 => format!("GROUP_CONCAT({column} ORDER BY BINARY {column} SEPARATOR '-')"),
            _ => format!("BIT_XOR({number})"),
        }
    }

    /// A condition for WHERE, often one on the key `id`.
    pub(super) fn condition(&mut self, table: &Table) -> String {
        if self.random.percent(45) && table.has("id") {
            return self.key_condition("id");
        }
        let column = table.column(&mut self.random).to_string();
        let operator = self.random.word(&["=", "<", ">=", "<>", "<=>"]);
        match self.random.below(8) {
            0 => format!("{column} IS NOT NULL"),
            1 if type_of(&column) == Type::Text => format!("{column} LIKE '%a%'"),
            2 => {
                let (low, high) = (self.value_of(&column), self.value_of(&column));
                format!("{column} BETWEEN {low} AND {high}")
            }
            3 => {
                let left = self.value_of(&column);
                format!("({column} {operator} {left} OR {})", self.condition(table))
            }
            4 => {
                let left = self.value_of(&column);
                format!("{column} {operator} {left} AND {}", self.condition(table))
            }
            5 => format!("{column} {operator} {}", self.word()),
            _ => format!("{column} {operator} {}", self.value_of(&column)),
        }
    }

    /// A condition on this key column. Mostly the engine can determine from it which rows are touched; some only look like that.
    pub(super) fn key_condition(&mut self, column: &str) -> String {
        match self.random.below(14) {
            0..=5 => format!("{column} = {}", self.key()),
            6 => {
                let keys: Vec<_> = (0..1 + self.random.below(4)).map(|_| self.key()).collect();
                format!("{column} IN ({})", keys.join(", "))
            }
            7 | 8 => {
                let (low, high) = (self.key(), self.key());
                format!("{column} BETWEEN {low} AND {high}")
            }
            9 => format!("{column} > {}", self.key()),
            10 => format!("{} = {column}", self.key()),
            11 => format!("{column} = {} OR {column} = 3", self.key()),
            12 => format!("{column} = '{}'", self.random.between(1, 40)),
            _ => self
                .random
                .word(&[
                    "{} = 3.0",
                    "{} = '7 '",
                    "{} = 0x05",
                    "{} = 4 + 1",
                    "{} = TRUE",
                    "{} = -1",
                    "{} = 2e0",
                    "NOT {} = 3",
                    "{} = ' 9'",
                ])
                .replace("{}", column),
        }
    }
}
