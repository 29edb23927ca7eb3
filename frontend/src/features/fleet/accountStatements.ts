// What makes the account of a server that is added, and the same step by the command line. Pure.

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
const shellQuoted = (text: string) =>
  /^[\w.:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** They hold on MariaDB and MySQL. What more the account needs, the prerequisites say once the server is added. */
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

export function addCommand({ name, host, port, username }: Added): string {
  const words = ['fqc instance add', shellQuoted(name || 'NAME'), '--host', shellQuoted(host)];
  return [...words, '--port', port, '--username', shellQuoted(username || 'fqc'), '--memory 16G'].join(' ');
}
