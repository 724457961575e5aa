/* Fails system calls on files in one folder. Loaded with LD_PRELOAD into the real command.
 *
 * TORTURE_ROOT   the folder; other files are left alone
 * TORTURE_MODE   full      the n-th call that writes fails with ENOSPC, as do all later ones
 *                once      the n-th call that writes fails with ENOSPC, later ones succeed
 *                partial   like full, but half of the n-th write is written
 *                readonly  every call that changes something fails with EROFS
 *                vanish    the n-th file that is opened for reading is gone
 *                broken    the n-th read fails with EIO
 *                clock     the clock runs backwards, a second per look at it
 * TORTURE_AT     n, counted in each process
 * TORTURE_MARK   a file that is created when a call has failed
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static char root[4096];
static const char *mode = "", *mark;
static long at;
static atomic_long calls;

__attribute__((constructor)) static void read_settings(void) {
    const char *folder = getenv("TORTURE_ROOT"), *name = getenv("TORTURE_MODE");
    const char *number = getenv("TORTURE_AT");
    if (folder) snprintf(root, sizeof root, "%s", folder);
    if (name) mode = name;
    mark = getenv("TORTURE_MARK");
    at = number ? atol(number) : 0;
}

static int is_mode(const char *name) { return strcmp(mode, name) == 0; }

static int in_root(const char *path) {
    char absolute[4096];
    if (!root[0] || !path) return 0;
    if (path[0] != '/') {
        if (!getcwd(absolute, sizeof absolute)) return 0;
        return strncmp(absolute, root, strlen(root)) == 0;
    }
    return strncmp(path, root, strlen(root)) == 0;
}

static int fd_in_root(int fd) {
    char link[64], path[4096];
    if (fd <= 2 || !root[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = syscall(SYS_readlink, link, path, sizeof path - 1);
    if (size <= 0) return 0;
    path[size] = 0;
    return strncmp(path, root, strlen(root)) == 0;
}

static void leave_mark(void) {
    if (mark) {
        long fd = syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY, 0600);
        if (fd >= 0) syscall(SYS_close, fd);
    }
}

/* Whether this call, one of those that are counted, is to fail. */
static int due(void) {
    long number = atomic_fetch_add(&calls, 1) + 1;
    int fails = is_mode("once") || is_mode("vanish") || is_mode("broken") ? number == at : number >= at;
    if (fails) leave_mark();
    return fails;
}

static int writes(void) { return is_mode("full") || is_mode("once") || is_mode("partial"); }

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define FAIL_CHANGE(inside) \
    if (is_mode("readonly") && (inside)) { leave_mark(); errno = EROFS; return -1; } \
    if (writes() && (inside) && due()) { errno = ENOSPC; return -1; }

/* A write fails, or writes a half before the disk is full. */
static int fails_now(int fd, size_t *size) {
    if (is_mode("readonly") || !writes() || !fd_in_root(fd)) return 0;
    long number = atomic_load(&calls) + 1;
    if (!due()) return 0;
    if (is_mode("partial") && number == at && *size > 1) { *size /= 2; return 0; }
    errno = ENOSPC;
    return 1;
}

ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    return fails_now(fd, &size) ? -1 : real(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t place) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    return fails_now(fd, &size) ? -1 : real(fd, data, size, place);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t place) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    return fails_now(fd, &size) ? -1 : real(fd, data, size, place);
}

int fsync(int fd) {
    REAL(int, "fsync", int);
    FAIL_CHANGE(fd_in_root(fd))
    return real(fd);
}

int fdatasync(int fd) {
    REAL(int, "fdatasync", int);
    FAIL_CHANGE(fd_in_root(fd))
    return real(fd);
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    FAIL_CHANGE(in_root(to))
    return real(from, to);
}

int link(const char *from, const char *to) {
    REAL(int, "link", const char *, const char *);
    FAIL_CHANGE(in_root(to))
    return real(from, to);
}

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    if (is_mode("readonly") && in_root(path)) { leave_mark(); errno = EROFS; return -1; }
    return real(path);
}

int ftruncate(int fd, off_t size) {
    REAL(int, "ftruncate", int, off_t);
    FAIL_CHANGE(fd_in_root(fd))
    return real(fd, size);
}

int ftruncate64(int fd, off64_t size) {
    REAL(int, "ftruncate64", int, off64_t);
    FAIL_CHANGE(fd_in_root(fd))
    return real(fd, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, "writev", int, const struct iovec *, int);
    FAIL_CHANGE(fd_in_root(fd))
    return real(fd, parts, count);
}

ssize_t sendfile(int to, int from, off_t *place, size_t size) {
    REAL(ssize_t, "sendfile", int, int, off_t *, size_t);
    FAIL_CHANGE(fd_in_root(to))
    return real(to, from, place, size);
}

ssize_t sendfile64(int to, int from, off64_t *place, size_t size) {
    REAL(ssize_t, "sendfile64", int, int, off64_t *, size_t);
    FAIL_CHANGE(fd_in_root(to))
    return real(to, from, place, size);
}

ssize_t copy_file_range(int from, off64_t *first, int to, off64_t *second, size_t size, unsigned flags) {
    REAL(ssize_t, "copy_file_range", int, off64_t *, int, off64_t *, size_t, unsigned);
    FAIL_CHANGE(fd_in_root(to))
    return real(from, first, to, second, size, flags);
}

int mkdir(const char *path, mode_t bits) {
    REAL(int, "mkdir", const char *, mode_t);
    FAIL_CHANGE(in_root(path))
    return real(path, bits);
}

static int open_fails(const char *path, int flags) {
    int changes = flags & (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC);
    if (is_mode("readonly") && changes && in_root(path)) { leave_mark(); errno = EROFS; return 1; }
    if (writes() && (flags & O_CREAT) && in_root(path) && access(path, F_OK) != 0 && due()) {
        errno = ENOSPC;
        return 1;
    }
    if (is_mode("vanish") && !changes && !(flags & O_DIRECTORY) && in_root(path) && due()) {
        errno = ENOENT;
        return 1;
    }
    return 0;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, #name, const char *, int, ...); \
        va_list rest; va_start(rest, flags); mode_t bits = va_arg(rest, mode_t); va_end(rest); \
        return open_fails(path, flags) ? -1 : real(path, flags, bits); \
    }
OPEN(open)
OPEN(open64)

ssize_t read(int fd, void *data, size_t size) {
    REAL(ssize_t, "read", int, void *, size_t);
    if (is_mode("broken") && fd_in_root(fd) && due()) { errno = EIO; return -1; }
    return real(fd, data, size);
}

int clock_gettime(clockid_t clock, struct timespec *moment) {
    REAL(int, "clock_gettime", clockid_t, struct timespec *);
    int result = real(clock, moment);
    if (is_mode("clock") && clock == CLOCK_REALTIME) moment->tv_sec -= at + atomic_fetch_add(&calls, 1);
    return result;
}
