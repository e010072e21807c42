/*
 * What the Rust side does for a program in C. The same table as `services.rs` fills, entry by entry.
 *
 * Every function gets the context first. Both are statics of the program (start.c), so that every rank has its own.
 */
#ifndef ATOLL_SERVICES_H
#define ATOLL_SERVICES_H

#include <stddef.h>
#include <stdint.h>

struct atoll_misses;
struct atoll_rcce;
struct atoll_mpi;

/* How a file is opened. */
enum { ATOLL_WRITE = 1, ATOLL_CREATE = 2, ATOLL_EMPTY = 4, ATOLL_APPEND = 8, ATOLL_NEW = 16 };

struct atoll_services {
    /* Bytes of the table as the Rust side knows it. */
    uint32_t bytes;

    /* Files: descriptors, or counts of bytes, or errno below zero. */
    int32_t (*open)(void *context, const char *path, uint32_t mode);
    int32_t (*close)(void *context, int32_t file);
    int32_t (*read)(void *context, int32_t file, void *bytes, uint32_t count);
    int32_t (*write)(void *context, int32_t file, const void *bytes, uint32_t count);
    /* `from`: 0 the start, 1 the place that is read or written next, 2 the end. */
    int64_t (*seek)(void *context, int32_t file, int64_t offset, int32_t from);
    int32_t (*unlink)(void *context, const char *path);

    /* The memory that malloc gives out: its start, and its bytes by `bytes`. */
    void *(*heap)(void *context, size_t *bytes);
    /* Says that there was no room in it for so many bytes more. */
    void (*heap_is_full)(void *context, size_t bytes);

    /* Nanoseconds since the machine began. */
    uint64_t (*now_ns)(void *context);
    /* Lets so many nanoseconds pass. */
    void (*sleep_ns)(void *context, uint64_t ns);

    int32_t (*rank)(void *context);
    int32_t (*ranks)(void *context);

    /* For a machine that checks programs, else NULL: bits of pages whose loads and stores it wants to know of, and how it is told.
       Several pages have one bit. */
    const uint8_t *watched;
    void (*accesses)(void *context, size_t start, size_t bytes, int32_t stores);

    /* For a machine where computation takes the time that it is told, else NULL: what misses of L1 take. And where the program
       adds up what it has taken (spent.h). */
    const struct atoll_misses *misses;
    void (*spends)(void *context, const uint64_t *spent, const uint64_t *estimated);

    /* One table for each family of functions; its own header says what is in it. */
    const struct atoll_rcce *rcce;
    const struct atoll_mpi *mpi;
};

extern const struct atoll_services *atoll_services;
extern void *atoll_context;

/* Ends the program, as exit does, without a word to atexit's functions. */
_Noreturn void atoll_leave(int status, int signal);

/* Bytes of the heap, of which malloc has fetched some. */
size_t atoll_heap_bytes(void);

/* Ends the program, since this call would wait for another thread of the rank, and there is none. */
_Noreturn void atoll_waits_for_itself(const char *call);

#endif
