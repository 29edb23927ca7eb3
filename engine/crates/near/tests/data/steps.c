/* Steps a process's wall clock by two seconds, there and back, fifty times a second; or, with BEHIND, sets it back by so many seconds. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS 20000000

static time_t step(void) {
#ifdef BEHIND
    return -BEHIND;
#else
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return now.tv_nsec / STEP_NS % 2 ? 2 : 0;
#endif
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int outcome = (int)syscall(SYS_clock_gettime, clock, now);
    if (outcome == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += step();
    return outcome;
}

int gettimeofday(struct timeval *now, void *zone) {
    int outcome = (int)syscall(SYS_gettimeofday, now, zone);
    if (outcome == 0)
        now->tv_sec += step();
    return outcome;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
