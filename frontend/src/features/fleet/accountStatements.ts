// Statements that create the account on a server to be added, and the equivalent command line. Pure.
import { parseBytes } from '@/lib/bytes';
import { CUSTOM } from '@/lib/customSize';

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
const shellQuoted = (text: string) =>
  /^[\w.:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * The SQL statements that create the control plane's account on a server, on MariaDB and MySQL. `host` is where the
 * account connects from. It still lacks privileges that the check of the prerequisites names later.
 */
export function accountStatements(username: string, host: string): string[] {
  const account = `${quoted(username || 'fqc')}@${quoted(host)}`;
  return [
    `CREATE USER ${account} IDENTIFIED BY '<the password that you enter below>';`,
    `GRANT PROCESS ON *.* TO ${account};`,
  ];
}

interface Added {
  name: string;
  host: string;
  port: number;
  username: string;
  instanceClass: string | null;
  memory: string;
  cpus: number | '';
  isTlsRequired: boolean;
  tlsCa: string;
  publicKey: string;
}

/**
 * The command line that registers the server, for a script: it asks nothing, and reads the password from a file.
 * Arguments are quoted for a shell. Certificates and keys are left to files of the usual names.
 */
export function addCommand(server: Added): string {
  const { name, host, port, username } = server;
  return [
    ...['fqc instance add', shellQuoted(name || 'NAME'), '--host', shellQuoted(host), '--port', port],
    ...['--username', shellQuoted(username || 'fqc'), ...sizeOptions(server), ...tlsOptions(server)],
    '--password-stdin --yes --wait < password.txt',
  ].join(' ');
}

function sizeOptions({ instanceClass, memory, cpus }: Added): string[] {
  if (instanceClass && instanceClass !== CUSTOM) return ['--class', shellQuoted(instanceClass)];
  return ['--memory', parseBytes(memory) ?? '16G', ...(cpus ? ['--cpus', cpus] : [])].map(String);
}

function tlsOptions({ isTlsRequired, tlsCa, publicKey }: Added): string[] {
  if (isTlsRequired) return ['--tls', ...(tlsCa ? ['--tls-ca ca.pem'] : [])];
  return publicKey ? ['--public-key public_key.pem'] : [];
}
