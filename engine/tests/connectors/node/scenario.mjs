// The scenario for mysql2: `query` is the text protocol, `execute` the binary one.

import assert from 'node:assert/strict';
import mysql from 'mysql2/promise';

const READ = 'SELECT id, name, note, price, day, moment FROM c.item WHERE id = ?';
const ROUNDS = 20;

const line = await mysql.createConnection({
  host: '127.0.0.1',
  port: Number(process.env.FQC_PORT),
  user: 'root',
  database: 'c',
  charset: 'utf8mb4',
  dateStrings: true,
});

const worded = (row) => Object.values(row).map((value) => value ?? 'NULL').join('|');

async function both(step, key) {
  for (const [name, way] of [['text', 'query'], ['prepared', 'execute']]) {
    const answers = new Set();
    for (let round = 0; round < ROUNDS; round++) {
      const [rows] = await line[way](READ, [key]);
      answers.add(rows.map(worded).join(';'));
    }
    assert.equal(answers.size, 1, `${step}: ${name} reads differ: ${[...answers]}`);
    console.log(`${step} ${name}: ${[...answers][0]}`);
  }
}

await both('first', 1);
await line.execute('UPDATE item SET price = price + 1 WHERE id = ?', [1]);
await both('fresh', 1);
await line.beginTransaction();
await line.query("UPDATE item SET note = 'gone' WHERE id = 1");
await both('inside', 1);
await line.rollback();
await both('rolled back', 1);
await line.beginTransaction();
await line.execute('UPDATE item SET name = ? WHERE id = 1', ['ʎʇıʌ 🐬']);
await line.commit();
await both('committed', 1);
await both('empty', 99);
await line.end();
