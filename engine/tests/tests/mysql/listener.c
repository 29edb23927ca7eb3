/* Another audit plugin: it counts the ends of statements that the server reports to it, and shows their number.
   Layouts as in MySQL's mysql/plugin.h and mysql/plugin_audit.h. */
#include <stddef.h>

struct status {
  const char *name;
  void *value;
  int kind, scope;
};

struct audit {
  int interface_version;
  void (*release)(void *thd);
  int (*notify)(void *thd, unsigned int class, const void *event);
  unsigned long classes[13];
};

struct plugin {
  int kind;
  const void *info;
  const char *name, *author, *description;
  int license;
  int (*init)(void *), (*check_uninstall)(void *), (*deinit)(void *);
  unsigned int version;
  const struct status *status;
  const void *variables;
  void *reserved;
  unsigned long flags;
};

enum { GENERAL_CLASS = 0, GENERAL_STATUS = 1 << 3, AUDIT_PLUGIN = 5, SHOW_LONGLONG = 4, GLOBAL = 1, BSD = 2 };

static unsigned long long heard;

static int notify(void *thd, unsigned int class, const void *event) {
  (void)thd;
  if (class == GENERAL_CLASS && *(const unsigned int *)event == GENERAL_STATUS)
    __atomic_add_fetch(&heard, 1, __ATOMIC_SEQ_CST);
  return 0;
}

static const struct audit listener = {0x0401, NULL, notify, {GENERAL_STATUS}};
static const struct status status[] = {{"Listener_heard", &heard, SHOW_LONGLONG, GLOBAL}, {NULL, NULL, 0, 0}};

const int _mysql_plugin_interface_version_ = 0x010b;
const int _mysql_sizeof_struct_st_plugin_ = sizeof(struct plugin);
const struct plugin _mysql_plugin_declarations_[] = {
    {AUDIT_PLUGIN, &listener, "listener", "tests", "counts statements", BSD, NULL, NULL, NULL, 1, status, NULL, NULL, 0},
    {0},
};
