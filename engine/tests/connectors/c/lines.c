/* Runs statements from standard input, as python/lines.py does, through the client library of C. `prepared` as an argument runs reads as
   prepared statements; the last one stays prepared. */

#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MYSQL *line;
static int is_prepared;
static MYSQL_STMT *prepared;
static char *text_of_prepared;

/* Runs a statement as text. Writes the first value of the first row, `-` without rows or `error N` to `first`. */
static void by_text(const char *statement, char *first, size_t room)
{
	MYSQL_RES *result;
	MYSQL_ROW row;

	if (mysql_query(line, statement)) {
		snprintf(first, room, "error %u", mysql_errno(line));
		return;
	}
	result = mysql_store_result(line);
	row = result ? mysql_fetch_row(result) : NULL;
	snprintf(first, room, "%s", row ? (row[0] ? row[0] : "NULL") : "-");
	mysql_free_result(result);
}

/* Does what by_text does, as a prepared statement. */
static void by_statement(const char *statement, char *first, size_t room)
{
	MYSQL_BIND bind;

	if (!text_of_prepared || strcmp(text_of_prepared, statement)) {
		if (prepared)
			mysql_stmt_close(prepared);
		free(text_of_prepared);
		text_of_prepared = strdup(statement);
		prepared = mysql_stmt_init(line);
		if (mysql_stmt_prepare(prepared, statement, strlen(statement)))
			goto failed;
	}
	memset(&bind, 0, sizeof bind);
	bind.buffer_type = MYSQL_TYPE_STRING;
	bind.buffer = first;
	bind.buffer_length = room;
	if (mysql_stmt_execute(prepared) || mysql_stmt_bind_result(prepared, &bind) || mysql_stmt_store_result(prepared))
		goto failed;
	if (mysql_stmt_fetch(prepared))
		snprintf(first, room, "-");
	mysql_stmt_free_result(prepared);
	return;
failed:
	snprintf(first, room, "error %u", mysql_stmt_errno(prepared));
}

static void answer(const char *statement, char *first, size_t room)
{
	memset(first, 0, room);
	if (is_prepared && !strncmp(statement, "SELECT", 6))
		by_statement(statement, first, room);
	else
		by_text(statement, first, room);
}

int main(int count, char **arguments)
{
	static char text[1 << 16], first[256], other[256];
	const char *port = getenv("FQC_PORT"), *socket = getenv("FQC_SOCKET");
	char *statement, *end;
	long times;

	is_prepared = count > 1 && !strcmp(arguments[1], "prepared");
	line = mysql_init(NULL);
	if (!mysql_real_connect(line, socket ? "localhost" : "127.0.0.1", "root", "", NULL, port ? atoi(port) : 0, socket, 0)) {
		fprintf(stderr, "%s\n", mysql_error(line));
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(text, sizeof text, stdin)) {
		text[strcspn(text, "\n")] = 0;
		times = 1;
		statement = text;
		if (!strncmp(text, "repeat ", 7)) {
			times = strtol(text + 7, &end, 10);
			statement = end + 1;
		}
		answer(statement, first, sizeof first);
		while (--times > 0) {
			answer(statement, other, sizeof other);
			if (strcmp(first, other)) {
				snprintf(first, sizeof first, "different answers");
				break;
			}
		}
		puts(first);
	}
	mysql_close(line);
	return 0;
}
