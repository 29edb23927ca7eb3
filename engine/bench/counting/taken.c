/*
 * Preloaded into a server that is measured: counts how often each thread takes which mutex or read-write lock of the C library.
 * The counts are in the file that LOCKS_TAKEN names, for another process to read at any time. Nothing here is part of the product.
 *
 * The file is an array of blocks, one for each thread that took anything: its number in the kernel, and pairs of an address and a
 * count. What a thread takes beyond the room of its block is counted under the address 1.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BLOCKS = 512, PAIRS = 2047 };

struct pair { uint64_t address, count; };
struct block { uint64_t thread, unused; struct pair pairs[PAIRS + 1]; };

static _Atomic(struct block *) blocks;
static atomic_uint used;
static __thread struct block *own;

__attribute__((constructor)) static void map_counts(void)
{
    const char *path = getenv("LOCKS_TAKEN");
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, BLOCKS * sizeof(struct block), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        blocks = mapped;
}

/* Counts that this thread takes the lock. Does nothing if there is no file or no block left. */
static void note(const void *lock)
{
    if (!own) {
        unsigned number = blocks ? atomic_fetch_add(&used, 1) : BLOCKS;
        if (number >= BLOCKS)
            return;
        own = blocks + number;
        own->thread = syscall(SYS_gettid);
    }
    uint64_t address = (uint64_t)lock;
    unsigned first = (address >> 3) * 2654435761u % PAIRS;
    for (unsigned tries = 0; tries < 64; tries++) {
        struct pair *pair = own->pairs + (first + tries) % PAIRS;
        if (!pair->address)
            pair->address = address;
        if (pair->address == address) {
            pair->count++;
            return;
        }
    }
    own->pairs[PAIRS].address = 1;
    own->pairs[PAIRS].count++;
}

#define COUNTED(name, type)                                        \
    int name(type *lock)                                           \
    {                                                              \
        static int (*original)(type *);                            \
        if (!original)                                             \
            original = (int (*)(type *))dlsym(RTLD_NEXT, #name);   \
        note(lock);                                                \
        return original(lock);                                     \
    }

COUNTED(pthread_mutex_lock, pthread_mutex_t)
COUNTED(pthread_mutex_trylock, pthread_mutex_t)
COUNTED(pthread_rwlock_rdlock, pthread_rwlock_t)
COUNTED(pthread_rwlock_wrlock, pthread_rwlock_t)
COUNTED(pthread_rwlock_tryrdlock, pthread_rwlock_t)
COUNTED(pthread_rwlock_trywrlock, pthread_rwlock_t)
