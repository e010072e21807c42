/*
 * What the functions of RCCE ask the Rust side for. The same table as `families/rcce/table.rs` fills, entry by entry.
 *
 * Services return RCCE's error numbers, counted from RCCE_ERROR_BASE, 0 if all is well, or a state of a request below
 * zero.
 */
#ifndef ATOLL_RCCE_H
#define ATOLL_RCCE_H

#include <atoll/services.h>

struct atoll_rcce_flag {
    uint32_t line;
    uint32_t location;
};

struct atoll_rcce_members {
    const int32_t *ranks;
    int32_t count;
    int32_t place;
};

struct atoll_rcce_request {
    void *bytes;
    uint32_t len;
    int32_t is_send;
    int32_t any_len;
    int32_t peer;
    uint32_t number;
};

/* Kinds of flags. */
enum { ATOLL_FLAG_BIT, ATOLL_FLAG_WORD, ATOLL_FLAG_LINE };

struct atoll_rcce {
    int32_t (*init)(void *context, int32_t gory);
    int32_t (*finalize)(void *context);

    /* Places in the MPBs are bytes from the program's first one; -1 stands for none. */
    int32_t (*allocate)(void *context, uint32_t bytes, uint32_t *place);
    int32_t (*free)(void *context, uint32_t place);
    int32_t (*most_bytes)(void *context, uint32_t *bytes);
    int32_t (*put)(void *context, uint32_t to, const void *source, int32_t own, int32_t bytes, int32_t ue);
    int32_t (*get)(void *context, void *target, int32_t own, uint32_t from, int32_t bytes, int32_t ue);

    int32_t (*flag_allocate)(void *context, uint32_t kind, struct atoll_rcce_flag *flag);
    int32_t (*flag_free)(void *context, struct atoll_rcce_flag flag);
    int32_t (*flag_write)(void *context, struct atoll_rcce_flag flag, uint32_t value, int32_t ue, const void *payload,
                          uint32_t bytes);
    int32_t (*flag_read)(void *context, struct atoll_rcce_flag flag, uint32_t *value, int32_t ue, void *payload,
                         uint32_t bytes);
    /* Where `test` is given, here and below: looks once, and says there what was found. */
    int32_t (*flag_wait)(void *context, struct atoll_rcce_flag flag, uint32_t value, int32_t *test);

    int32_t (*acquire)(void *context, int32_t ue, int32_t *test);
    int32_t (*release)(void *context, int32_t ue);

    int32_t (*send)(void *context, const void *message, uint32_t bytes, int32_t to, int32_t even_nothing);
    int32_t (*receive)(void *context, void *message, uint32_t bytes, int32_t from, int32_t *test);
    int32_t (*incoming)(void *context, int32_t *from, uint32_t *bytes, int32_t *test);

    int32_t (*start)(void *context, struct atoll_rcce_request *request);
    int32_t (*look)(void *context, struct atoll_rcce_request *request, int32_t waits);
    int32_t (*push)(void *context, int32_t send, int32_t waits);
    int32_t (*await_any)(void *context);
    int32_t (*cancel)(void *context, uint32_t number);

    int32_t (*barrier)(void *context, const struct atoll_rcce_members *members, uint32_t flags);
    int32_t (*new_barrier)(void *context, uint32_t members, uint32_t *flags);
    int32_t (*free_barrier)(void *context, uint32_t flags);
    int32_t (*broadcast)(void *context, const struct atoll_rcce_members *members, void *message, uint32_t bytes,
                         int32_t root);
    int32_t (*reduce)(void *context, const struct atoll_rcce_members *members, const void *operands, void *result,
                      int32_t count, int32_t element, int32_t operator_, int32_t root);
    int32_t (*fence)(void *context);

    int32_t (*share)(void *context, size_t bytes, void **block);
    int32_t (*unshare)(void *context, void *block);
    int32_t (*flush)(void *context);

    int32_t (*counter)(void *context, uint32_t *number);
    /* Adds 1 to a counter (1), reads it (0), or sets it (-1). */
    int32_t (*count)(void *context, uint32_t number, int32_t change, int32_t *value);

    /* What a function has given out that was called from `caller`, to be told if it is never freed; no bytes: it was freed. */
    int32_t (*note_block)(void *context, uint32_t kind, uintptr_t start, size_t bytes, uintptr_t caller);

    int32_t (*say)(void *context, const char *line);
};

/* What gives out blocks. */
enum { ATOLL_BLOCK_MALLOC, ATOLL_BLOCK_FLAG, ATOLL_BLOCK_SHMALLOC };

/* Where the function was called from that says this. */
#define ATOLL_CALLER ((uintptr_t)__builtin_return_address(0))

/* Calls a service. */
#define ATOLL(service, ...) (atoll_services->rcce->service(atoll_context __VA_OPT__(, ) __VA_ARGS__))

/* What an error belongs to, for RCCE_debug_set. */
enum atoll_rcce_topic { ATOLL_SYNCH = 1, ATOLL_COMM = 2, ATOLL_RPC = 4, ATOLL_DEBUG = 8 };

/* The result of a function, for what a service has returned; it is printed if its topic is debugged. */
int atoll_rcce_result(enum atoll_rcce_topic topic, int code);

/* Whether a message has more bytes than a service can be told. */
static inline int atoll_rcce_is_too_long(size_t bytes)
{
    return bytes > INT32_MAX;
}

/* Makes RCCE_P_COMM. */
int atoll_rcce_power_init(void);

/* What RCCE_COMM.initialized holds in a communicator. */
enum { ATOLL_INITIALIZED = 0x52434345 };

/* Where a pointer points to in the MPBs, or -1. */
int atoll_rcce_place(const volatile void *pointer);
volatile unsigned char *atoll_rcce_pointer(uint32_t place);

#endif
