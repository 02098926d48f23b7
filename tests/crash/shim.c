/* Stands between a program and the C library (LD_PRELOAD): what the program does to the files in one
   folder is written down in order, and made to fail or to wait when a test asks for it.

   DISK_FOLDER   the folder; everything else is passed through.
   DISK_LOG      where to write down; nothing is without it.
   DISK_CONTROL  a file of int32, mapped into memory, by which faults are switched on and off.

   shim.py compiles it, and reads what it writes. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { HANDLES = 4096 };
enum { OPEN = 1, CREATE, WRITE, TRUNCATE, SYNC, RENAME, UNLINK, MKDIR, MARK };

/* The fields of the control file; shim.py has the same list. */
typedef struct {
    int32_t write_errno, sync_errno, open_errno, read_errno, names_errno;
    int32_t room;       /* bytes until ENOSPC, -1 without end */
    int32_t gate;       /* syncs wait while it is not 0 */
    int32_t waiting;    /* syncs that wait at this moment */
    int32_t delay_ms;   /* each sync takes so much longer */
    int32_t refused;    /* calls that were made to fail */
} Control;

static Control none = {.room = -1};
static Control *control = &none;
static const char *folder;
static size_t folder_length;
static int log_fd = -1;
static int32_t handle_of[HANDLES], last_handle;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static void note(uint8_t kind, int32_t handle, int64_t offset, const char *path, const char *other,
                 const void *data, int64_t size)
{
    if (log_fd < 0)
        return;
    struct __attribute__((packed)) {
        uint8_t kind;
        int32_t handle;
        int64_t offset, size;
        uint16_t path, other;
    } head = {kind, handle, offset, data ? size : 0, path ? strlen(path) : 0,
              other ? strlen(other) : 0};
    syscall(SYS_write, log_fd, &head, sizeof head);
    if (path)
        syscall(SYS_write, log_fd, path, head.path);
    if (other)
        syscall(SYS_write, log_fd, other, head.other);
    if (data)
        syscall(SYS_write, log_fd, data, size);
}

__attribute__((constructor)) static void begin(void)
{
    folder = getenv("DISK_FOLDER");
    folder_length = folder ? strlen(folder) : 0;
    const char *path = getenv("DISK_LOG");
    if (path)
        log_fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    path = getenv("DISK_CONTROL");
    int fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0) : -1;
    if (fd >= 0) {
        void *shared = mmap(NULL, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (shared != MAP_FAILED)
            control = shared;
    }
}

/* Called by the program itself: something it promises from here on. */
void disk_mark(const char *text)
{
    pthread_mutex_lock(&guard);
    note(MARK, 0, 0, text, NULL, NULL, 0);
    pthread_mutex_unlock(&guard);
}

static int watched(const char *path)
{
    return folder && path && !strncmp(path, folder, folder_length) &&
           (path[folder_length] == '/' || !path[folder_length]);
}

static int32_t handle(int fd)
{
    return fd >= 0 && fd < HANDLES ? handle_of[fd] : 0;
}

static int refuse(int error)
{
    __atomic_add_fetch(&control->refused, 1, __ATOMIC_SEQ_CST);
    errno = error;
    return -1;
}

#define NEXT(name) \
    static __typeof__(name) *next; \
    if (!next) \
        next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static int opened(int at, const char *path, int flags, mode_t mode)
{
    if (!watched(path))
        return syscall(SYS_openat, at, path, flags, mode);
    int writes = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);
    if (writes && control->open_errno)
        return refuse(control->open_errno);
    pthread_mutex_lock(&guard);
    struct stat found;
    int there = !fstatat(AT_FDCWD, path, &found, 0);
    if (!there && flags & O_CREAT && !control->room) {
        pthread_mutex_unlock(&guard);
        return refuse(ENOSPC);
    }
    int fd = syscall(SYS_openat, at, path, flags, mode);
    if (fd >= 0 && fd < HANDLES) {
        handle_of[fd] = ++last_handle;
        if (!there)
            note(CREATE, 0, 0, path, NULL, NULL, 0);
        note(OPEN, handle_of[fd], 0, path, NULL, NULL, 0);
        if (there && flags & O_TRUNC)
            note(TRUNCATE, handle_of[fd], 0, NULL, NULL, NULL, 0);
    }
    pthread_mutex_unlock(&guard);
    return fd;
}

#define OPENING(name, parameters, at) \
    int name parameters \
    { \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { \
            va_list more; \
            va_start(more, flags); \
            mode = va_arg(more, int); \
            va_end(more); \
        } \
        return opened(at, path, flags, mode); \
    }

OPENING(open, (const char *path, int flags, ...), AT_FDCWD)
OPENING(open64, (const char *path, int flags, ...), AT_FDCWD)
OPENING(openat, (int at, const char *path, int flags, ...), at)
OPENING(openat64, (int at, const char *path, int flags, ...), at)

int close(int fd)
{
    if (handle(fd)) {
        pthread_mutex_lock(&guard);
        handle_of[fd] = 0;
        pthread_mutex_unlock(&guard);
    }
    return syscall(SYS_close, fd);
}

/* How many of the bytes there is room for; 0 with errno set when the write fails. */
static size_t allowed(size_t size)
{
    if (control->write_errno)
        return refuse(control->write_errno), 0;
    if (control->room < 0 || !size)
        return size;
    if (!control->room)
        return refuse(ENOSPC), 0;
    if ((int64_t)size > control->room)
        size = control->room;
    control->room -= size;
    return size;
}

static ssize_t written(int fd, const void *data, size_t size, off_t offset, int at_place)
{
    if (!handle(fd))
        return at_place ? syscall(SYS_pwrite64, fd, data, size, offset)
                        : syscall(SYS_write, fd, data, size);
    pthread_mutex_lock(&guard);
    size_t most = allowed(size);
    ssize_t done = -1;
    if (most || !size) {
        if (!at_place)
            offset = syscall(SYS_lseek, fd, 0, SEEK_CUR);
        done = at_place ? syscall(SYS_pwrite64, fd, data, most, offset)
                        : syscall(SYS_write, fd, data, most);
        if (done > 0)
            note(WRITE, handle(fd), offset, NULL, NULL, data, done);
    }
    pthread_mutex_unlock(&guard);
    return done;
}

ssize_t write(int fd, const void *data, size_t size)
{
    return written(fd, data, size, 0, 0);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    return written(fd, data, size, offset, 1);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset)
{
    return written(fd, data, size, offset, 1);
}

#define READING(name, parameters, given) \
    ssize_t name parameters \
    { \
        NEXT(name); \
        if (control->read_errno && handle(fd)) \
            return refuse(control->read_errno); \
        return next given; \
    }

READING(read, (int fd, void *data, size_t size), (fd, data, size))
READING(pread, (int fd, void *data, size_t size, off_t offset), (fd, data, size, offset))
READING(pread64, (int fd, void *data, size_t size, off_t offset), (fd, data, size, offset))

static int truncated(int fd, off_t size)
{
    if (!handle(fd))
        return syscall(SYS_ftruncate, fd, size);
    if (control->write_errno)
        return refuse(control->write_errno);
    pthread_mutex_lock(&guard);
    int done = syscall(SYS_ftruncate, fd, size);
    if (!done)
        note(TRUNCATE, handle(fd), size, NULL, NULL, NULL, 0);
    pthread_mutex_unlock(&guard);
    return done;
}

int ftruncate(int fd, off_t size)
{
    return truncated(fd, size);
}

int ftruncate64(int fd, off_t size)
{
    return truncated(fd, size);
}

static void pause_ms(int ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

static int synced(int fd, long call)
{
    if (!handle(fd))
        return syscall(call, fd);
    if (control->delay_ms)
        pause_ms(control->delay_ms);
    __atomic_add_fetch(&control->waiting, 1, __ATOMIC_SEQ_CST);
    while (*(volatile int32_t *)&control->gate)
        pause_ms(1);
    __atomic_sub_fetch(&control->waiting, 1, __ATOMIC_SEQ_CST);
    if (control->sync_errno)
        return refuse(control->sync_errno);
    pthread_mutex_lock(&guard);
    /* What is simulated is lost anyway when the plug is really pulled: no need to wait for it. */
    int done = log_fd < 0 ? syscall(call, fd) : 0;
    note(SYNC, handle(fd), 0, NULL, NULL, NULL, 0);
    pthread_mutex_unlock(&guard);
    return done;
}

int fsync(int fd)
{
    return synced(fd, SYS_fsync);
}

int fdatasync(int fd)
{
    return synced(fd, SYS_fdatasync);
}

#define NAMING(name, parameters, given, kind, first, second) \
    int name parameters \
    { \
        NEXT(name); \
        if (!watched(first)) \
            return next given; \
        if (control->names_errno) \
            return refuse(control->names_errno); \
        pthread_mutex_lock(&guard); \
        int done = next given; \
        if (!done) \
            note(kind, 0, 0, first, second, NULL, 0); \
        pthread_mutex_unlock(&guard); \
        return done; \
    }

NAMING(rename, (const char *old, const char *new), (old, new), RENAME, old, new)
NAMING(renameat, (int at, const char *old, int to, const char *new), (at, old, to, new), RENAME,
       old, new)
NAMING(unlink, (const char *path), (path), UNLINK, path, NULL)
NAMING(unlinkat, (int at, const char *path, int flags), (at, path, flags), UNLINK, path, NULL)
NAMING(mkdir, (const char *path, mode_t mode), (path, mode), MKDIR, path, NULL)
NAMING(mkdirat, (int at, const char *path, mode_t mode), (at, path, mode), MKDIR, path, NULL)
