/*
 * Functions on memory that newlib has in assembly for the simulator's processor, where the compiler cannot say what they take: what
 * they move is told to the caches, and their calls are estimated.
 */

#include <atoll/spent.h>
#include <string.h>

#ifdef __x86_64__

/* Cycles of a call, and of what is not moved by whole words. */
enum { CALL_CYCLES = 30 };

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    void *end = to;
    atoll_estimate(CALL_CYCLES);
    atoll_moves(to, from, bytes);
    __asm__ volatile("rep movsb" : "+D"(end), "+S"(from), "+c"(bytes) : : "memory");
    return to;
}

void *memset(void *to, int byte, size_t bytes)
{
    void *end = to;
    atoll_estimate(CALL_CYCLES);
    atoll_fills(to, bytes);
    __asm__ volatile("rep stosb" : "+D"(end), "+c"(bytes) : "a"(byte) : "memory");
    return to;
}

#endif
