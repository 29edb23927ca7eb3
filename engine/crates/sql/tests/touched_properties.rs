//! Random conditions against a naive evaluator: the keys in the answer include those of every row for which the condition holds.

mod random;

use flavour::MARIADB;
use footprint::{KeyColumn, Keys};
use random::Random;
use sql::touched::{self, Text, WrittenRows};
use sql::{LexMode, Numbers, TableName};

/// A row of the table: its key, and the value of one more column.
type Row = (i64, Option<i64>);

enum Expression {
    Id(&'static str),
    A,
    Number(i64),
    Text(i64),
    Plus(Box<[Expression; 2]>),
    Compare(&'static str, Box<[Expression; 2]>),
    Between(bool, Box<[Expression; 3]>),
    In(bool, Box<Expression>, Vec<Expression>),
    IsNull(bool, Box<Expression>),
    Not(Box<Expression>),
    /// Two expressions joined by OR, XOR or AND.
    Join(&'static str, Box<[Expression; 2]>),
    Case(Box<[Expression; 3]>),
}

use Expression::*;

fn truth(value: bool) -> Option<i64> {
    Some(i64::from(value))
}

fn not(value: Option<i64>) -> Option<i64> {
    value.and_then(|value| truth(value == 0))
}

fn and(left: Option<i64>, right: Option<i64>) -> Option<i64> {
    match (left.map(|value| value != 0), right.map(|value| value != 0)) {
        (Some(false), _) | (_, Some(false)) => truth(false),
        (Some(true), Some(true)) => truth(true),
        _ => None,
    }
}

fn compare(sign: &str, left: Option<i64>, right: Option<i64>) -> Option<i64> {
    if sign == "<=>" {
        return truth(left == right);
    }
    let (left, right) = (left?, right?);
    truth(match sign {
        "=" => left == right,
        "<" => left < right,
        ">" => left > right,
        "<=" => left <= right,
        ">=" => left >= right,
        _ => left != right,
    })
}

impl Expression {
    fn value(&self, row: Row) -> Option<i64> {
        match self {
            Id(_) => Some(row.0),
            A => row.1,
            Number(number) | Text(number) => Some(*number),
            Plus(sides) => Some(sides[0].value(row)? + sides[1].value(row)?),
            Compare(sign, sides) => compare(sign, sides[0].value(row), sides[1].value(row)),
            Between(is_not, parts) => {
                let [value, low, high] = [0, 1, 2].map(|part| parts[part].value(row));
                let found = and(compare(">=", value, low), compare("<=", value, high));
                if *is_not { not(found) } else { found }
            }
            In(is_not, value, list) => {
                let value = value.value(row);
                let unequal = list.iter().map(|item| compare("<>", value, item.value(row))).reduce(and);
                let absent = unequal.expect("lists are not empty");
                if *is_not { absent } else { not(absent) }
            }
            IsNull(is_not, value) => truth(value.value(row).is_none() != *is_not),
            Not(value) => not(value.value(row)),
            Join(word, sides) => {
                let [left, right] = [0, 1].map(|side| sides[side].value(row));
                match *word {
                    "AND" => and(left, right),
                    "OR" => not(and(not(left), not(right))),
                    _ => truth((left? != 0) != (right? != 0)),
                }
            }
            Case(parts) => {
                let is_first = parts[0].value(row).is_some_and(|value| value != 0);
                parts[if is_first { 1 } else { 2 }].value(row)
            }
        }
    }

    /// Returns how tightly the expression's operator binds in the server's grammar; a greater number binds more tightly.
    fn level(&self) -> u8 {
        match self {
            Join("OR", _) => 1,
            Join("XOR", _) => 2,
            Join(..) => 3,
            Not(_) => 4,
            Compare(..) | IsNull(..) => 5,
            Between(..) | In(..) => 6,
            Plus(_) => 7,
            _ => 8,
        }
    }

    /// Returns the expression as SQL, in parentheses if it binds less tightly than `least`.
    fn text(&self, least: u8) -> String {
        let text = match self {
            Id(name) => name.to_string(),
            A => "a".into(),
            Number(number) => number.to_string(),
            Text(number) => format!("'{number}'"),
            Plus(sides) => format!("{} + {}", sides[0].text(7), sides[1].text(8)),
            Compare(sign, sides) => format!("{} {sign} {}", sides[0].text(5), sides[1].text(6)),
            Between(is_not, parts) => {
                let word = if *is_not { "NOT BETWEEN" } else { "BETWEEN" };
                format!("{} {word} {} AND {}", parts[0].text(7), parts[1].text(7), parts[2].text(6))
            }
            In(is_not, value, list) => {
                let list: Vec<_> = list.iter().map(|item| item.text(1)).collect();
                format!("{} {} ({})", value.text(7), if *is_not { "NOT IN" } else { "IN" }, list.join(", "))
            }
            IsNull(is_not, value) => format!("{} {}", value.text(5), if *is_not { "IS NOT NULL" } else { "IS NULL" }),
            Not(value) => format!("NOT {}", value.text(4)),
            Join(word, sides) => format!("{} {word} {}", sides[0].text(self.level()), sides[1].text(self.level() + 1)),
            Case(parts) => {
                let [when, then, other] = [0, 1, 2].map(|part| parts[part].text(1));
                format!("CASE WHEN {when} THEN {then} ELSE {other} END")
            }
        };
        if self.level() < least { format!("({text})") } else { text }
    }
}

const IDS: &[&str] = &["id", "id", "`id`", "ID", "t.id", "`t`.`Id`"];
const SIGNS: &[&str] = &["=", "=", "=", "<", ">", "<=", ">=", "<>", "<=>"];

impl Random {
    fn id(&mut self) -> Expression {
        Id(IDS[self.below(IDS.len())])
    }

    fn number(&mut self) -> Expression {
        Number(self.below(40) as i64 - 12)
    }

    fn simple(&mut self) -> Expression {
        match self.below(6) {
            0 | 1 => self.id(),
            2 => A,
            3 => Text(self.below(40) as i64 - 12),
            _ => self.number(),
        }
    }

    fn pair(&mut self, depth: usize) -> Box<[Expression; 2]> {
        Box::new([self.expression(depth), self.expression(depth)])
    }

    fn on_key(&mut self) -> Expression {
        match self.below(4) {
            0 => Between(false, Box::new([self.id(), self.number(), self.number()])),
            1 => In(false, Box::new(self.id()), (0..1 + self.below(3)).map(|_| self.number()).collect()),
            _ => Compare(SIGNS[self.below(SIGNS.len())], Box::new([self.id(), self.number()])),
        }
    }

    fn expression(&mut self, depth: usize) -> Expression {
        if depth == 0 {
            return if self.below(2) == 0 { self.on_key() } else { self.simple() };
        }
        let depth = depth - 1;
        match self.below(14) {
            0..=3 => Join("AND", self.pair(depth)),
            4 => Join("OR", self.pair(depth)),
            5 => Join("XOR", self.pair(depth)),
            6 => Not(Box::new(self.expression(depth))),
            7 => Compare(SIGNS[self.below(SIGNS.len())], self.pair(depth)),
            8 => Between(self.below(2) == 0, Box::new([self.simple(), self.simple(), self.expression(depth)])),
            9 => In(self.below(2) == 0, Box::new(self.simple()), vec![self.expression(depth), self.simple()]),
            10 => IsNull(self.below(2) == 0, Box::new(self.expression(depth))),
            11 => Plus(self.pair(depth)),
            12 => Case(Box::new([self.expression(depth), self.expression(0), self.expression(0)])),
            _ => self.on_key(),
        }
    }
}

fn column() -> KeyColumn {
    KeyColumn { position: Some(0), is_sole: true, ..KeyColumn::new(b"id".to_vec(), -128, 127) }
}

fn text(text: &str) -> Text<'_> {
    Text { text: text.as_bytes(), mode: LexMode::new(&MARIADB), bound: &[] }
}

/// Returns the rows that the statement writes, determined from its shape and its numbers. None if these do not determine them.
fn told_by_shape(statement: &str, column: &KeyColumn) -> Option<(TableName, WrittenRows)> {
    let (mode, mut shape, mut numbers) = (text(statement).mode, Vec::new(), Numbers::default());
    sql::shape_and_numbers(statement.as_bytes(), mode, &mut shape, &mut numbers).then_some(())?;
    let key_positions = touched::key_positions(&shape[1..], mode, column)?;
    let written = key_positions.written(statement.as_bytes(), &numbers, column)?;
    Some((key_positions.table, written))
}

#[test]
fn usual_writes_are_told_by_their_shapes() {
    let column = KeyColumn { is_generated: true, ..column() };
    for statement in [
        "UPDATE sbtest1 SET k=k+1 WHERE id=17",
        "UPDATE d.t AS x SET a = 'it''s', b = 3.5 WHERE x.b > 2 AND x.`ID` = 9 LIMIT 1",
        "DELETE FROM t WHERE id IN (3, 5) AND a = 'x'",
        "INSERT INTO t (a, id, b) VALUES (1, 2, 'x'), (3, 4, 'y')",
        "INSERT INTO t (a) VALUES (1)",
        "REPLACE INTO t VALUES (7, 8)",
        "INSERT INTO t VALUES (7, 8) ON DUPLICATE KEY UPDATE a = a + 1",
        "SELECT a FROM t WHERE id = 7 FOR UPDATE",
    ] {
        let told = told_by_shape(statement, &column);
        assert!(told.is_some() && told == touched::written(text(statement), &column), "{statement}: {told:?}");
    }
    for statement in [
        "UPDATE t SET a = 1 WHERE id = -7",
        "UPDATE t SET a = 1 WHERE id = 7.5",
        "UPDATE t SET a = 1 WHERE id = 300",
        "INSERT INTO t VALUES (0, 8)",
        "UPDATE t SET a = 1 WHERE id > 3 AND id < 9",
        "UPDATE t SET a = 1 WHERE id > 3 AND id < 2",
        "UPDATE t SET a = 1",
    ] {
        assert_eq!(told_by_shape(statement, &column), None, "{statement}");
    }
    let many: Vec<_> = (1..99).map(|key| key.to_string()).collect();
    assert_eq!(told_by_shape(&format!("DELETE FROM t WHERE id IN ({})", many.join(", ")), &column), None);
}

#[test]
fn every_row_that_a_condition_selects_is_in_the_footprint() {
    let mut random = Random(5);
    let column = column();
    let rows: Vec<Row> = (-15..30).flat_map(|id| [None, Some(0), Some(1), Some(7)].map(|a| (id, a))).collect();
    let (mut told, mut missing, mut by_shape) = (0, 0, 0);
    for _ in 0..20_000 {
        let depth = random.below(4);
        let condition = random.expression(depth);
        let wanted = condition.text(1);
        let tail = random.pick(&["", " ORDER BY a LIMIT 1", " LIMIT 2", ";"]);
        let statements = [
            format!("SELECT a, COUNT(*) FROM t WHERE {wanted}{tail}"),
            format!("UPDATE t SET a = a + 1 WHERE {wanted}{tail}"),
            format!("DELETE FROM t WHERE {wanted}{tail}"),
        ];
        let keys = statements.each_ref().map(|statement| match touched::written(text(statement), &column) {
            Some((_, WrittenRows::Keys(keys))) => Some(keys),
            _ => touched::read(text(statement), &column).map(|(_, keys)| keys),
        });
        for (statement, keys) in statements.iter().zip(keys) {
            let shaped = match told_by_shape(statement, &column) {
                Some((_, WrittenRows::Keys(keys))) => Some(keys),
                _ => None,
            };
            by_shape += usize::from(shaped.is_some());
            told += usize::from(keys.is_some());
            missing += usize::from(keys.is_none());
            // They need not be the same: either may heed conditions that the other does not.
            for keys in keys.iter().chain(&shaped) {
                let selected = rows.iter().filter(|row| condition.value(**row).is_some_and(|value| value != 0));
                for row in selected {
                    assert!(keys.contains(row.0.into()), "{statement}\nselects {row:?}, which is not in {keys:?}");
                }
            }
        }
    }
    assert!(told > 7_000 && missing > 7_000, "the cases prove little: {told} told, {missing} not");
    assert!(by_shape > 500, "the cases prove little: {by_shape} told by their shapes");
}

#[test]
fn every_row_that_an_insert_adds_is_in_the_footprint() {
    let mut random = Random(6);
    let (mut told, mut by_shape) = (0, 0);
    for _ in 0..20_000 {
        let position = random.below(3);
        let has_list = random.below(2) == 0;
        let column = KeyColumn { position: Some(position), ..column() };
        let mut names = vec!["a", "b"];
        names.insert(position, "Id");
        let keys: Vec<i64> = (0..1 + random.below(4)).map(|_| random.below(300) as i64 - 150).collect();
        let rows = keys.iter().map(|key| {
            let mut values: Vec<String> = (0..2)
                .map(|_| random.pick(&["1", "'(,)'", "f(1, 2)", "(3)", "NULL", "-1", "DEFAULT"]).into())
                .collect();
            values.insert(position, key.to_string());
            format!("({})", values.join(", "))
        });
        let rows: Vec<_> = rows.collect();
        let list = if has_list { format!("({})", names.join(", ")) } else { String::new() };
        let statement = format!("INSERT INTO t {list} VALUES {}", rows.join(", "));
        let written = touched::written(text(&statement), &column).map(|(_, written)| written);
        let are_all_held = keys.iter().all(|key| (-128..=127).contains(key));
        let points = Keys::Points(keys.iter().map(|key| (*key).into()).collect());
        assert_eq!(written, are_all_held.then_some(WrittenRows::Keys(points)), "{statement}");
        told += usize::from(are_all_held);
        let shaped = told_by_shape(&statement, &column).map(|(_, written)| written);
        assert!(shaped.is_none() || shaped == written, "{statement}: {shaped:?}");
        by_shape += usize::from(shaped.is_some());
    }
    assert!(told > 2_000 && by_shape > 200, "only {told} cases were told, {by_shape} by their shapes");
}

/// Analyses pieces of SQL in any order. It must never panic.
#[test]
fn any_text_gives_an_answer() {
    const FRAGMENTS: &[&str] = &[
        "SELECT", "UPDATE", "DELETE", "INSERT", "INTO", "FROM", "WHERE", "SET", "VALUES", "t", "id", "a", "=", "<",
        ">", "-", "7", "0", "'7'", "?", "(", ")", ",", "AND", "OR", "IN", "BETWEEN", "NULL", ";", ".", "`", "/*", "AS",
        "LIMIT",
    ];
    let mut random = Random(7);
    for _ in 0..50_000 {
        let count = 1 + random.below(14);
        let statement: Vec<_> = (0..count).map(|_| random.pick(FRAGMENTS)).collect();
        let statement = statement.join(" ");
        let text = Text { bound: &[Some(7)], ..text(&statement) };
        touched::read(text, &column());
        touched::written(text, &column());
        told_by_shape(&statement, &column());
    }
}
