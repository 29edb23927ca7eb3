// Statements that create the account on a server to be added, and the equivalent command line. Pure.

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
}

/** The command line that registers the server, with arguments quoted for a shell. */
export function addCommand({ name, host, port, username }: Added): string {
  const words = ['fqc instance add', shellQuoted(name || 'NAME'), '--host', shellQuoted(host)];
  return [...words, '--port', port, '--username', shellQuoted(username || 'fqc'), '--memory 16G'].join(' ');
}
