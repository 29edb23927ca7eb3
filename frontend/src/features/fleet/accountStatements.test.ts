import { expect, test } from 'vitest';
import { CUSTOM } from '@/lib/customSize';
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

const typed = {
  instanceClass: null,
  memory: '',
  cpus: '',
  isTlsRequired: false,
  tlsCa: '',
  publicKey: '',
} as const;
const server = { ...typed, name: 'shop', host: 'db-1.example.com', port: 3307, username: '$(id)' };
const address = "fqc instance add shop --host db-1.example.com --port 3307 --username '$(id)'";
const silent = '--password-stdin --yes --wait < password.txt';

test('the command adds what was entered, asks nothing, and the shell reads it as one word each', () => {
  expect(addCommand(server)).toBe(`${address} --memory 16G ${silent}`);
});

test('the command has the class or the size, and how the server is verified', () => {
  const classed = { ...server, instanceClass: 'fqc.n4.large', isTlsRequired: true, tlsCa: 'PEM' };
  expect(addCommand(classed)).toBe(`${address} --class fqc.n4.large --tls --tls-ca ca.pem ${silent}`);
  const sized = { ...server, instanceClass: CUSTOM, memory: '1 GiB', cpus: 2, publicKey: 'PEM' };
  expect(addCommand(sized)).toBe(
    `${address} --memory 1073741824 --cpus 2 --public-key public_key.pem ${silent}`,
  );
});
