import { expect, test } from 'vitest';
import { accountStatements, addCommand } from './accountStatements';

test('the statements make the account that was entered, whatever its name holds', () => {
  expect(accountStatements('', '%')).toEqual([
    "CREATE USER 'fqc'@'%' IDENTIFIED BY '<the password that you enter below>';",
    "GRANT PROCESS ON *.* TO 'fqc'@'%';",
  ]);
  expect(accountStatements(String.raw`o'n\e`, '%')[1]).toBe(
    String.raw`GRANT PROCESS ON *.* TO 'o''n\\e'@'%';`,
  );
});

test('the command adds what was entered, and the shell reads it as one word each', () => {
  const server = { name: 'shop', host: 'db-1.example.com', port: 3307, username: '$(id)' };
  expect(addCommand(server)).toBe(
    "fqc instance add shop --host db-1.example.com --port 3307 --username '$(id)' --memory 16G",
  );
});
