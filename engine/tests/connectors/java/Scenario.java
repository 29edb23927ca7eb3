// The scenario for MariaDB Connector/J, started from source. useServerPrepStmts chooses the protocol.

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;
import java.util.StringJoiner;

class Scenario {
    static final String READ = "SELECT id, name, note, price, day, moment FROM c.item WHERE id = ?";
    static final int ROUNDS = 20;

    public static void main(String[] arguments) throws SQLException {
        try (Connection text = open(false); Connection binary = open(true)) {
            both("first", text, binary, 1);
            run(binary, "UPDATE item SET price = price + 1 WHERE id = ?", 1);
            both("fresh", text, binary, 1);
            for (Connection line : new Connection[] {text, binary}) {
                line.setAutoCommit(false);
                run(line, "UPDATE item SET note = 'gone' WHERE id = ?", 1);
                say("inside " + (line == text ? "text" : "prepared"), line, 1);
                line.rollback();
                line.setAutoCommit(true);
            }
            both("rolled back", text, binary, 1);
            binary.setAutoCommit(false);
            run(binary, "UPDATE item SET name = ? WHERE id = 1", "ʎʇıʌ 🐬");
            binary.commit();
            binary.setAutoCommit(true);
            both("committed", text, binary, 1);
            both("empty", text, binary, 99);
        }
    }

    static Connection open(boolean isBinary) throws SQLException {
        String address = "jdbc:mariadb://127.0.0.1:" + System.getenv("FQC_PORT") + "/c?user=root&sslMode=disable";
        return DriverManager.getConnection(address + "&useServerPrepStmts=" + isBinary);
    }

    static void run(Connection line, String statement, Object argument) throws SQLException {
        try (PreparedStatement prepared = line.prepareStatement(statement)) {
            prepared.setObject(1, argument);
            prepared.executeUpdate();
        }
    }

    static void both(String step, Connection text, Connection binary, int key) throws SQLException {
        say(step + " text", text, key);
        say(step + " prepared", binary, key);
    }

    static void say(String step, Connection line, int key) throws SQLException {
        Set<String> answers = new HashSet<>();
        try (PreparedStatement prepared = line.prepareStatement(READ)) {
            for (int round = 0; round < ROUNDS; round++) {
                prepared.setInt(1, key);
                answers.add(worded(prepared.executeQuery()));
            }
        }
        if (answers.size() != 1) {
            throw new IllegalStateException(step + ": reads differ: " + answers);
        }
        System.out.println(step + ": " + answers.iterator().next());
    }

    static String worded(ResultSet rows) throws SQLException {
        StringJoiner lines = new StringJoiner(";");
        while (rows.next()) {
            StringJoiner words = new StringJoiner("|");
            for (int column = 1; column <= rows.getMetaData().getColumnCount(); column++) {
                String value = rows.getString(column);
                words.add(value == null ? "NULL" : value);
            }
            lines.add(words.toString());
        }
        return lines.toString();
    }
}
