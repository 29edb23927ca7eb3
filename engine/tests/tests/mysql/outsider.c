/* A storage engine that is no part of the server, and has no tables. Layouts as in MySQL's mysql/plugin.h; SERVER is the number
   of its version. */
#include <stddef.h>

struct plugin {
  int kind;
  const void *info;
  const char *name, *author, *description;
  int license;
  int (*init)(void *), (*check_uninstall)(void *), (*deinit)(void *);
  unsigned int version;
  const void *status, *variables;
  void *reserved;
  unsigned long flags;
};

enum { STORAGE_ENGINE = 1, BSD = 2 };

/* The server asks the engine to fill in `handlerton`. Its first field says whether the engine is available, and is preset to yes, so nothing
   is to be done. */
static int init(void *handlerton) {
  (void)handlerton;
  return 0;
}

static const int interface_version = SERVER << 8;

const int _mysql_plugin_interface_version_ = 0x010b;
const int _mysql_sizeof_struct_st_plugin_ = sizeof(struct plugin);
const struct plugin _mysql_plugin_declarations_[] = {
    {STORAGE_ENGINE, &interface_version, "outsider", "tests", "has no tables", BSD, init, NULL, NULL, 1, NULL, NULL, NULL, 0},
    {0},
};
