/* Another audit plugin: it counts the ends of statements that the server reports to it, and shows their number.
   Layouts as in the server's mysql/plugin.h and mysql/plugin_audit.h. */
#include <stddef.h>

struct status {
  const char *name;
  void *value;
  int kind;
};

struct audit {
  int interface_version;
  void (*release)(void *thd);
  void (*notify)(void *thd, unsigned int class, const void *event);
  unsigned long classes[1];
};

struct plugin {
  int kind;
  const void *info;
  const char *name, *author, *description;
  int license;
  int (*init)(void *), (*deinit)(void *);
  unsigned int version;
  const struct status *status;
  const void *variables;
  const char *version_text;
  unsigned int maturity;
};

enum { GENERAL_CLASS = 0, GENERAL_STATUS = 3, AUDIT_PLUGIN = 5, SHOW_ULONGLONG = 4, BSD = 2, STABLE = 5 };

static unsigned long long heard;

static void notify(void *thd, unsigned int class, const void *event) {
  (void)thd;
  if (class == GENERAL_CLASS && *(const unsigned int *)event == GENERAL_STATUS)
    __atomic_add_fetch(&heard, 1, __ATOMIC_SEQ_CST);
}

static const struct audit listener = {0x0302, NULL, notify, {1UL << GENERAL_CLASS}};
static const struct status status[] = {{"Listener_heard", &heard, SHOW_ULONGLONG}, {NULL, NULL, 0}};

const int _maria_plugin_interface_version_ = 0x010f;
const int _maria_sizeof_struct_st_plugin_ = sizeof(struct plugin);
const struct plugin _maria_plugin_declarations_[] = {
    {AUDIT_PLUGIN, &listener, "listener", "tests", "counts statements", BSD, NULL, NULL, 1, status, NULL, "1", STABLE},
    {0},
};
