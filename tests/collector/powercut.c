/* Writes down what a program writes and syncs in one folder, so that a power cut can be played at any moment.
   POWERCUT_FOLDER: the folder; POWERCUT_LOG: where it is written down. POWERCUT_READONLY: while there is a file of this
   name, nothing can be written, as on a disk that the system has made read-only after an error. Build: gcc -shared -fPIC -O2 -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void note_path(char what, const char *path, int64_t offset, const void *data, uint32_t length) {
    static int log = -1;
    static const char *folder;
    pthread_mutex_lock(&lock);
    if (log < 0) {
        folder = getenv("POWERCUT_FOLDER");
        log = open(getenv("POWERCUT_LOG"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    }
    if (strncmp(path, folder, strlen(folder)) == 0) {
        uint32_t name = (uint32_t)strlen(path);
        char head[17];
        head[0] = what;
        memcpy(head + 1, &name, 4);
        memcpy(head + 5, &offset, 8);
        memcpy(head + 13, &length, 4);
        struct iovec parts[3] = {{head, 17}, {(void *)path, name}, {(void *)data, data ? length : 0}};
        if (writev(log, parts, 3) < 0) abort();
    }
    pthread_mutex_unlock(&lock);
}

static void note(char what, int fd, int64_t offset, const void *data, uint32_t length) {
    char link[64], path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0) return;
    path[size] = 0;
    note_path(what, path, offset, data, length);
}

static int read_only(void) {
    const char *flag = getenv("POWERCUT_READONLY");
    if (flag == NULL || access(flag, F_OK) != 0) return 0;
    errno = EROFS;
    return 1;
}

#define REAL(name) __typeof__(name) *real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* A write is noted before it happens, a sync after it has: a cut in between loses what it may lose. */
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
    REAL(pwrite64);
    if (read_only()) return -1;
    note('w', fd, offset, data, (uint32_t)length);
    return real(fd, data, length, offset);
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
    REAL(pwrite);
    if (read_only()) return -1;
    note('w', fd, offset, data, (uint32_t)length);
    return real(fd, data, length, offset);
}
int ftruncate64(int fd, off64_t length) {
    REAL(ftruncate64);
    if (read_only()) return -1;
    note('t', fd, length, NULL, 0);
    return real(fd, length);
}
int ftruncate(int fd, off_t length) {
    REAL(ftruncate);
    if (read_only()) return -1;
    note('t', fd, length, NULL, 0);
    return real(fd, length);
}
int fdatasync(int fd) {
    REAL(fdatasync);
    if (read_only()) return -1;
    int done = real(fd);
    if (done == 0) note('s', fd, 0, NULL, 0);
    return done;
}
int fsync(int fd) {
    REAL(fsync);
    if (read_only()) return -1;
    int done = real(fd);
    if (done == 0) note('s', fd, 0, NULL, 0);
    return done;
}
int unlink(const char *path) {
    REAL(unlink);
    if (read_only()) return -1;
    note_path('u', path, 0, NULL, 0);
    return real(path);
}
