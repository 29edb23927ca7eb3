//! Prints the cost of reading a text, in nanoseconds of processor time: `cargo run --release -p fqc-sql --example classifying`.

use flavour::MARIADB;
use sql::{LexMode, classify, shape};
use std::hint::black_box;

const TEXTS: [&str; 6] = [
    "SELECT c FROM sbtest1 WHERE id=5023",
    "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 5023 AND 5122 ORDER BY c",
    "SELECT `u`.`id`, `u`.`name`, COUNT(`o`.`id`) AS `n` FROM `users` AS `u` LEFT JOIN `orders` AS `o` ON `o`.`user` = \
     `u`.`id` WHERE `u`.`email` = 'somebody@example.org' AND COALESCE(`o`.`state`, 'new') <> 'gone' GROUP BY `u`.`id` LIMIT 20",
    "UPDATE sbtest1 SET k=k+1 WHERE id=5023",
    "INSERT INTO sbtest1 (id, k, c, pad) VALUES (0, 499284, '83868641912-28773972837', '67847967377-48000963322')",
    "SET autocommit=0",
];
const CALLS: u32 = 300_000;
const TURNS: usize = 7;

fn main() {
    let mode = black_box(LexMode::new(&MARIADB));
    let mut out = Vec::new();
    for text in TEXTS.map(str::as_bytes) {
        let classifying = cost(|| drop(black_box(classify(black_box(text), mode))));
        let shaping = cost(|| {
            out.clear();
            black_box(shape(black_box(text), mode, &mut out));
        });
        println!("{classifying:7.1} {shaping:7.1}  {}", String::from_utf8_lossy(&text[..text.len().min(60)]));
    }
}

/// Returns the processor time of one call in nanoseconds, the least of several measurements, because other work only adds to it.
fn cost(mut call: impl FnMut()) -> f64 {
    let mut turn = || {
        let start = cpu_nanoseconds();
        (0..CALLS).for_each(|_| call());
        (cpu_nanoseconds() - start) as f64 / f64::from(CALLS)
    };
    (0..TURNS).map(|_| turn()).fold(f64::INFINITY, f64::min)
}

/// Returns the processor time that this thread has used so far, in nanoseconds.
fn cpu_nanoseconds() -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    told.split(' ').next().and_then(|first| first.parse().ok()).expect("a number comes first")
}
