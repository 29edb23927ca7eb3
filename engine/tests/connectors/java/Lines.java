// Runs statements from standard input, as python/lines.py does, by Connector/J of MariaDB or of MySQL, started from source. The first
// argument is `mariadb` or `mysql`; a second one, `prepared`, runs reads as prepared statements of the server, each prepared once.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;

class Lines {
    static Connection line;
    static boolean isPrepared;
    static final Map<String, PreparedStatement> STATEMENTS = new HashMap<>();

    public static void main(String[] arguments) throws IOException, SQLException {
        isPrepared = arguments.length > 1 && arguments[1].equals("prepared");
        String place = "://127.0.0.1:" + System.getenv("FQC_PORT") + "/?user=root&sslMode=";
        // An execution that is sent together with its preparation names no statement, so a near cache passes all of them on from there.
        String mode = arguments[0].equals("mariadb") ? "disable&disablePipeline=true" : "DISABLED&allowPublicKeyRetrieval=true";
        line = DriverManager.getConnection("jdbc:" + arguments[0] + place + mode + "&useServerPrepStmts=" + isPrepared);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String text = input.readLine(); text != null; text = input.readLine()) {
            String[] words = text.strip().split(" ", 3);
            if (!words[0].equals("repeat")) {
                System.out.println(answer(text.strip()));
                continue;
            }
            TreeSet<String> seen = new TreeSet<>();
            for (int count = Integer.parseInt(words[1]); count > 0; count--) {
                seen.add(answer(words[2]));
            }
            System.out.println(String.join(",", seen));
        }
    }

    static String answer(String statement) {
        try {
            PreparedStatement prepared = STATEMENTS.get(statement);
            if (prepared == null) {
                prepared = line.prepareStatement(statement);
                STATEMENTS.put(statement, prepared);
            }
            if (!prepared.execute()) {
                return "-";
            }
            try (ResultSet rows = prepared.getResultSet()) {
                return rows.next() ? rows.getString(1) : "-";
            }
        } catch (SQLException error) {
            return "error " + error.getErrorCode();
        }
    }
}
