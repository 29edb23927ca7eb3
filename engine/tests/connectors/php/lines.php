<?php
// Runs statements from standard input, as python/lines.py does. The first argument is `mysqli` or `pdo`; a second one runs reads as prepared
// statements: `prepared` prepares each once, `anew` for each read again. Connections are persistent.

[$library, $isAnew] = [$argv[1], in_array('anew', $argv)];
$isPrepared = $isAnew || in_array('prepared', $argv);
[$socket, $port] = [getenv('FQC_SOCKET') ?: null, (int) getenv('FQC_PORT')];

final class ByMysqli
{
    private mysqli $line;
    private array $statements = [];

    public function __construct(private bool $isPrepared, private bool $isAnew, ?string $socket, int $port)
    {
        mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
        $this->line = new mysqli($socket ? 'p:localhost' : 'p:127.0.0.1', 'root', '', '', $port, $socket);
    }

    public function first(string $statement): ?string
    {
        if (!$this->isPrepared || !str_starts_with($statement, 'SELECT')) {
            $result = $this->line->query($statement);
        } else {
            $prepared = $this->statements[$statement] ??= $this->line->prepare($statement);
            $prepared->execute();
            $result = $prepared->get_result();
            if ($this->isAnew) {
                $prepared->close();
                $this->statements = [];
            }
        }
        $rows = is_bool($result) ? [] : $result->fetch_all();
        return isset($rows[0]) ? (string) $rows[0][0] : null;
    }
}

final class ByPdo
{
    private PDO $line;
    private array $statements = [];

    public function __construct(bool $isPrepared, private bool $isAnew, ?string $socket, int $port)
    {
        $place = $socket ? "unix_socket=$socket" : "host=127.0.0.1;port=$port";
        $options = [PDO::ATTR_PERSISTENT => true, PDO::ATTR_EMULATE_PREPARES => !$isPrepared];
        $this->line = new PDO("mysql:$place", 'root', '', $options);
    }

    public function first(string $statement): ?string
    {
        $prepared = $this->statements[$statement] ??= $this->line->prepare($statement);
        $prepared->execute();
        $rows = $prepared->columnCount() ? $prepared->fetchAll(PDO::FETCH_NUM) : [];
        if ($this->isAnew) {
            $this->statements = [];
        }
        return isset($rows[0]) ? (string) $rows[0][0] : null;
    }
}

$class = $library === 'mysqli' ? ByMysqli::class : ByPdo::class;
$client = new $class($isPrepared, $isAnew, $socket, $port);
$answer = function (string $statement) use ($client): string {
    try {
        return $client->first($statement) ?? '-';
    } catch (mysqli_sql_exception | PDOException $error) {
        return 'error ' . $error->getCode();
    }
};
while (($line = fgets(STDIN)) !== false) {
    $words = explode(' ', trim($line), 3);
    if ($words[0] === 'repeat') {
        $seen = [];
        for ($count = (int) $words[1]; $count > 0; $count--) {
            $seen[$answer($words[2])] = true;
        }
        ksort($seen);
        echo implode(',', array_keys($seen)), "\n";
    } else {
        echo $answer(trim($line)), "\n";
    }
}
