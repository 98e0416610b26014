/* Loaded before the C library: lets one large allocation of a process find no memory.

   `fail_malloc(k, least)` counts allocations of at least so many bytes from here on and refuses
   number k (from 0); `count_malloc()` ends that and returns how many there were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

static long refused = -1;
static long counted = 0;
static size_t least = 0;

void fail_malloc(long k, size_t smallest) {
    counted = 0;
    least = smallest;
    refused = k;
}

long count_malloc(void) {
    refused = -1;
    return counted;
}

static int refuse(size_t size) {
    if (refused < 0 || size < least || __sync_fetch_and_add(&counted, 1) != refused) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) {
    static void *(*real)(size_t);
    if (!real) real = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    return refuse(size) ? NULL : real(size);
}

void *realloc(void *block, size_t size) {
    static void *(*real)(void *, size_t);
    if (!real) real = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    return refuse(size) ? NULL : real(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    static void *(*real)(size_t, size_t);
    if (!real) real = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
    return refuse(size) ? NULL : real(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    static int (*real)(void **, size_t, size_t);
    if (!real) real = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
    return refuse(size) ? ENOMEM : real(block, alignment, size);
}

void *calloc(size_t number, size_t size) {
    /* dlsym itself may ask for zeroed memory before the real function is known. */
    static void *(*real)(size_t, size_t);
    static char first[4096];
    static size_t used = 0;
    static int looking = 0;
    if (!real && looking) {
        void *block = first + used;
        used += (number * size + 15) & ~(size_t)15;
        return used <= sizeof first ? block : NULL;
    }
    if (!real) {
        looking = 1;
        real = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    }
    return refuse(number * size) ? NULL : real(number, size);
}
