/* Preloaded into the client of MariaDB's regression suite, or of MySQL's: every plain read reaches the server several times, and the client
 * gets the last answer. The first is sent at once and repeated only when its answer is read, so that a read that another
 * connection has to let go still waits as the test expects. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/* The pause between repetitions, in which the engine looks up tables that are new to it. */
enum { REPEATS = 3, PAUSE_MS = 20 };
enum { SOCKETS = 1024, MORE_RESULTS = 8 };
enum { MYSQL = 1, DEPRECATE_EOF = 1 << 24, QUERY_ATTRIBUTES = 1 << 27 };
enum { QUERY = 0x03, PREPARE = 0x16, EXECUTE = 0x17, CURSORS = 7 };

typedef ssize_t sender(int, const void *, size_t, int);
typedef ssize_t receiver(int, void *, size_t, int);

/* The state of each socket's connection. The index is the descriptor of the socket. */
static struct connection {
  uint32_t capabilities;
  int has_prepared_a_read; /* The last prepared statement is a read. */
  unsigned char *read; /* The command whose answer has not been read yet. */
  size_t read_length;
  unsigned char *answer; /* The part of the answer that the client has not read yet. */
  size_t length, taken;
} connections[SOCKETS];

static sender *real_send;
static receiver *real_recv;

__attribute__((constructor)) static void begin(void) {
  real_send = (sender *)dlsym(RTLD_NEXT, "send");
  real_recv = (receiver *)dlsym(RTLD_NEXT, "recv");
  unsetenv("LD_PRELOAD"); /* Programs that the client starts do not load this library. */
}

/* True if the text contains the word, in upper or lower case. */
static int says(const unsigned char *text, size_t length, const char *word) {
  size_t width = strlen(word);
  for (size_t at = 0; at + width <= length; at++)
    if (!strncasecmp((const char *)text + at, word, width)) return 1;
  return 0;
}

/* True for a read without an effect that a test waits for or counts. */
static int is_plain_read(const unsigned char *text, size_t length) {
  static const char *effects[] = {";", "into", "for update", "share mode", "lock(", "sleep", "nextval", "lastval",
                                  "benchmark", "rand(", "uuid", "row_count", "warning_count", ":=", "last_insert_id",
                                  "found_rows()"};
  while (length && strchr(" \t\r\n(", *text)) text++, length--;
  if (length < 6 || strncasecmp((const char *)text, "select", 6)) return 0;
  for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
    if (says(text, length, effects[i])) return 0;
  return 1;
}

/* Returns where the text of a query begins: after the command and, from MySQL's client, after the number of attributes. */
static size_t begin_of_text(const struct connection *c, const unsigned char *command, size_t length) {
  if (!(c->capabilities & MYSQL) || !(c->capabilities & QUERY_ATTRIBUTES)) return 1;
  return length > 3 && command[1] == 0 && command[2] == 1 ? 3 : length;
}

/* True if the command is to be repeated. The suites' client prepares a statement, executes it and closes it before the next one. */
static int is_repeated(struct connection *c, const unsigned char *command, size_t length) {
  size_t head = *command == QUERY ? begin_of_text(c, command, length) : 1;
  if (*command == PREPARE) c->has_prepared_a_read = is_plain_read(command + head, length - head);
  if (*command == EXECUTE) return c->has_prepared_a_read && !(command[5] & CURSORS);
  return *command == QUERY && is_plain_read(command + head, length - head);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
  const unsigned char *packet = bytes;
  if (fd >= 0 && fd < SOCKETS && length > 8) {
    struct connection *c = &connections[fd];
    size_t payload = packet[0] | packet[1] << 8 | packet[2] << 16;
    int is_whole = payload + 4 == length;
    if (is_whole && packet[3] == 1 && payload >= 32) memcpy(&c->capabilities, packet + 4, 4);
    if (is_whole && packet[3] == 0 && is_repeated(c, packet + 4, payload)) {
      c->read = realloc(c->read, length);
      memcpy(c->read, packet, length);
      c->read_length = length;
    }
  }
  return real_send(fd, bytes, length, flags);
}

/* Reads as many further bytes of the answer, and waits for them. Returns 0 if the connection has ended. */
static int fill(int fd, struct connection *c, size_t more) {
  c->answer = realloc(c->answer, c->length + more);
  while (more) {
    ssize_t got = real_recv(fd, c->answer + c->length, more, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN && poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1) >= 0) continue;
    if (got <= 0) return 0;
    c->length += got, more -= got;
  }
  return 1;
}

/* Reads one packet. Returns its payload, which the next call may move, or null if the connection has ended. */
static unsigned char *packet(int fd, struct connection *c, size_t *payload) {
  size_t at = c->length;
  if (!fill(fd, c, 4)) return NULL;
  *payload = c->answer[at] | c->answer[at + 1] << 8 | c->answer[at + 2] << 16;
  return fill(fd, c, *payload) ? c->answer + at + 4 : NULL;
}

/* Skips a length-encoded integer. */
static const unsigned char *after_integer(const unsigned char *at) { return at + (*at < 251 ? 1 : *at == 252 ? 3 : *at == 253 ? 4 : 9); }

/* Reads a whole answer. True if it is one result set, after which nothing is pending on either side. */
static int whole(int fd, struct connection *c) {
  size_t payload;
  int ends = c->capabilities & DEPRECATE_EOF ? 1 : 2;
  unsigned char *bytes = packet(fd, c, &payload);
  if (!bytes || bytes[0] == 0xff || bytes[0] == 0xfb || bytes[0] == 0) return 0;
  size_t columns = bytes[0]; /* Results with more columns are not repeated. */
  if (columns > 250) return 0;
  while (columns--)
    if (!packet(fd, c, &payload)) return 0;
  while (ends) {
    if (!(bytes = packet(fd, c, &payload))) return 0;
    if (bytes[0] == 0xff) return 0;
    if (bytes[0] == 0xfe && payload < 0xffffff) {
      if (ends == 2 && payload > 5) continue;
      ends--;
    }
  }
  const unsigned char *status = c->capabilities & DEPRECATE_EOF ? after_integer(after_integer(bytes + 1)) : bytes + 3;
  return !(status[0] & MORE_RESULTS);
}

/* Reads the answer to the pending read, and repeats the read. Only the last answer is left for the client. */
static void answer(int fd, struct connection *c) {
  c->length = c->taken = 0;
  for (int times = 0; whole(fd, c) && times < REPEATS; times++) {
    if (!times) poll(NULL, 0, PAUSE_MS);
    if (real_send(fd, c->read, c->read_length, MSG_NOSIGNAL) < 0) break;
    c->length = 0;
  }
  c->read_length = 0;
}

ssize_t recv(int fd, void *bytes, size_t length, int flags) {
  if (fd >= 0 && fd < SOCKETS) {
    struct connection *c = &connections[fd];
    if (c->read_length) answer(fd, c);
    size_t left = c->length - c->taken;
    if (left) {
      if (left > length) left = length;
      memcpy(bytes, c->answer + c->taken, left);
      c->taken += left;
      return left;
    }
  }
  return real_recv(fd, bytes, length, flags);
}
