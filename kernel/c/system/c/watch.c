/* Tells a machine that checks programs of loads and stores: those of programs, which are compiled with -fsanitize=thread, by
   the calls that this puts in; and those of the C library for them, by linking its functions under other names. */

#include <atoll/services.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BITS 12
#define PAGES 65536

static inline int is_watched(const uint8_t *watched, uintptr_t address)
{
    size_t page = address >> PAGE_BITS & (PAGES - 1);
    return watched[page / 8] >> page % 8 & 1;
}

static inline void note(const void *start, size_t bytes, int stores)
{
    const struct atoll_services *services = atoll_services;
    const uint8_t *watched = services ? services->watched : NULL;
    uintptr_t first = (uintptr_t)start;
    if (watched && bytes > 0
        && (bytes > 1 << PAGE_BITS || is_watched(watched, first) || is_watched(watched, first + bytes - 1)))
        services->accesses(atoll_context, first, bytes, stores);
}

/* Loads and stores. */
#define PLAIN(name, bytes, stores)                    \
    void __tsan_##name(void *address);                \
    void __tsan_##name(void *address)                 \
    {                                                 \
        note(address, bytes, stores);                 \
    }
#define SIZED(bytes)                                  \
    PLAIN(read##bytes, bytes, 0)                      \
    PLAIN(write##bytes, bytes, 1)                     \
    PLAIN(unaligned_read##bytes, bytes, 0)            \
    PLAIN(unaligned_write##bytes, bytes, 1)           \
    PLAIN(volatile_read##bytes, bytes, 0)             \
    PLAIN(volatile_write##bytes, bytes, 1)
SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)
SIZED(16)

void __tsan_read_range(void *address, size_t bytes);
void __tsan_write_range(void *address, size_t bytes);
void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

void __tsan_read_range(void *address, size_t bytes)
{
    note(address, bytes, 0);
}

void __tsan_write_range(void *address, size_t bytes)
{
    note(address, bytes, 1);
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void)
{
}

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Atomic operations, which those calls take the place of. */
#define UPDATE(bits, type, name)                                                                   \
    type __tsan_atomic##bits##_##name(volatile type *at, type value, int order);                   \
    type __tsan_atomic##bits##_##name(volatile type *at, type value, int order)                    \
    {                                                                                              \
        (void)order;                                                                               \
        note((const void *)at, bits / 8, 1);                                                       \
        return __atomic_##name(at, value, __ATOMIC_SEQ_CST);                                       \
    }
#define EXCHANGE(bits, type, kind)                                                                                    \
    int __tsan_atomic##bits##_compare_exchange_##kind(volatile type *at, type *expected, type value, int order, int other); \
    int __tsan_atomic##bits##_compare_exchange_##kind(volatile type *at, type *expected, type value, int order, int other)  \
    {                                                                                                                 \
        (void)order, (void)other;                                                                                     \
        note((const void *)at, bits / 8, 1);                                                                          \
        return __atomic_compare_exchange_n(at, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);               \
    }
#define ATOMICS(bits, type)                                                                        \
    type __tsan_atomic##bits##_load(const volatile type *at, int order);                           \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order);                    \
    type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order);                 \
    type __tsan_atomic##bits##_load(const volatile type *at, int order)                            \
    {                                                                                              \
        (void)order;                                                                               \
        note((const void *)at, bits / 8, 0);                                                       \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order)                     \
    {                                                                                              \
        (void)order;                                                                               \
        note((const void *)at, bits / 8, 1);                                                       \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                             \
    }                                                                                              \
    type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order)                  \
    {                                                                                              \
        (void)order;                                                                               \
        note((const void *)at, bits / 8, 1);                                                       \
        return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                   \
    }                                                                                              \
    UPDATE(bits, type, fetch_add)                                                                  \
    UPDATE(bits, type, fetch_sub)                                                                  \
    UPDATE(bits, type, fetch_and)                                                                  \
    UPDATE(bits, type, fetch_or)                                                                   \
    UPDATE(bits, type, fetch_xor)                                                                  \
    UPDATE(bits, type, fetch_nand)                                                                 \
    EXCHANGE(bits, type, strong)                                                                   \
    EXCHANGE(bits, type, weak)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* Functions of the library: what they load, then what they store. The names are those that `xtask/src/c/link.rs` wraps. */
#define WRAP(type, name, parameters, arguments, before)    \
    type __real_##name parameters;                         \
    type __wrap_##name parameters;                         \
    type __wrap_##name parameters                          \
    {                                                      \
        before;                                            \
        return __real_##name arguments;                    \
    }
size_t __real_strlen(const char *text);
size_t __real_strnlen(const char *text, size_t most);

static inline size_t text_bytes(const char *text)
{
    return __real_strlen(text) + 1;
}

static inline size_t at_most(const char *text, size_t most)
{
    size_t bytes = __real_strnlen(text, most);
    return bytes < most ? bytes + 1 : most;
}

WRAP(void *, memcpy, (void *to, const void *from, size_t bytes), (to, from, bytes),
     note(from, bytes, 0); note(to, bytes, 1))
WRAP(void *, memmove, (void *to, const void *from, size_t bytes), (to, from, bytes),
     note(from, bytes, 0); note(to, bytes, 1))
WRAP(void *, memset, (void *to, int byte, size_t bytes), (to, byte, bytes), note(to, bytes, 1))
WRAP(int, memcmp, (const void *one, const void *other, size_t bytes), (one, other, bytes),
     note(one, bytes, 0); note(other, bytes, 0))
/* It stops where it finds the byte. */
void *__real_memchr(const void *in, int byte, size_t bytes);
void *__wrap_memchr(const void *in, int byte, size_t bytes);
void *__wrap_memchr(const void *in, int byte, size_t bytes)
{
    void *found = __real_memchr(in, byte, bytes);
    note(in, found ? (size_t)((const char *)found - (const char *)in) + 1 : bytes, 0);
    return found;
}
WRAP(size_t, strlen, (const char *text), (text), note(text, text_bytes(text), 0))
WRAP(size_t, strnlen, (const char *text, size_t most), (text, most), note(text, at_most(text, most), 0))
WRAP(char *, strcpy, (char *to, const char *from), (to, from),
     note(from, text_bytes(from), 0); note(to, text_bytes(from), 1))
WRAP(char *, stpcpy, (char *to, const char *from), (to, from),
     note(from, text_bytes(from), 0); note(to, text_bytes(from), 1))
WRAP(char *, strncpy, (char *to, const char *from, size_t bytes), (to, from, bytes),
     note(from, at_most(from, bytes), 0); note(to, bytes, 1))
WRAP(char *, strcat, (char *to, const char *from), (to, from), note(to, text_bytes(to), 0);
     note(from, text_bytes(from), 0); note(to + __real_strlen(to), text_bytes(from), 1))
WRAP(char *, strncat, (char *to, const char *from, size_t most), (to, from, most), note(to, text_bytes(to), 0);
     note(from, at_most(from, most), 0); note(to + __real_strlen(to), __real_strnlen(from, most) + 1, 1))
WRAP(int, strcmp, (const char *one, const char *other), (one, other),
     note(one, text_bytes(one), 0); note(other, text_bytes(other), 0))
WRAP(int, strncmp, (const char *one, const char *other, size_t most), (one, other, most),
     note(one, at_most(one, most), 0); note(other, at_most(other, most), 0))
WRAP(char *, strchr, (const char *text, int letter), (text, letter), note(text, text_bytes(text), 0))
WRAP(char *, strrchr, (const char *text, int letter), (text, letter), note(text, text_bytes(text), 0))
WRAP(char *, strstr, (const char *text, const char *what), (text, what),
     note(text, text_bytes(text), 0); note(what, text_bytes(what), 0))
WRAP(int, atoi, (const char *text), (text), note(text, text_bytes(text), 0))
WRAP(long, atol, (const char *text), (text), note(text, text_bytes(text), 0))
WRAP(double, atof, (const char *text), (text), note(text, text_bytes(text), 0))
WRAP(long, strtol, (const char *text, char **end, int base), (text, end, base), note(text, text_bytes(text), 0))
WRAP(unsigned long, strtoul, (const char *text, char **end, int base), (text, end, base), note(text, text_bytes(text), 0))
WRAP(double, strtod, (const char *text, char **end), (text, end), note(text, text_bytes(text), 0))
WRAP(void, qsort, (void *all, size_t count, size_t bytes, int (*compare)(const void *, const void *)),
     (all, count, bytes, compare), note(all, count * bytes, 0); note(all, count * bytes, 1))
WRAP(int, _write, (int file, const void *from, size_t bytes), (file, from, bytes), note(from, bytes, 0))
WRAP(int, _read, (int file, void *to, size_t bytes), (file, to, bytes), note(to, bytes, 1))
