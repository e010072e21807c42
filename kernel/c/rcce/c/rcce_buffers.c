/* RCCE: memory of the MPBs, put and get, locks. */

#define ATOLL_RCCE_LIBRARY
#include <RCCE.h>
#include <RCCE_lib.h>
#include <atoll/rcce.h>
#include <string.h>

/*
 * Places in the MPBs are pointers to the end of the address space, where no program has memory: who follows one gets a
 * fault instead of something else's bytes.
 */
#define FIRST ((uintptr_t)0 - (1 << 14))

int atoll_rcce_place(const volatile void *pointer)
{
    uintptr_t place = (uintptr_t)pointer - FIRST;
    return (uintptr_t)pointer >= FIRST && place <= RCCE_BUFF_SIZE_MAX ? (int)place : -1;
}

t_vcharp atoll_rcce_pointer(uint32_t place)
{
    return (t_vcharp)(FIRST + place);
}

static int result(int code)
{
    return atoll_rcce_result(ATOLL_COMM, code);
}

static t_vcharp allocate(size_t size, uintptr_t caller)
{
    uint32_t place;
    if (size > RCCE_BUFF_SIZE_MAX || result(ATOLL(allocate, size, &place)))
        return NULL;
    ATOLL(note_block, ATOLL_BLOCK_MALLOC, place, size, caller);
    return atoll_rcce_pointer(place);
}

t_vcharp RCCE_malloc(size_t size)
{
    return allocate(size, ATOLL_CALLER);
}

t_vcharp RCCE_malloc_request(size_t size, size_t *chunk)
{
    t_vcharp block = NULL;
    uint32_t most;
    if (!chunk || ATOLL(most_bytes, &most))
        return NULL;
    size = PAD32byte(size);
    while (size > most)
        size = PAD32byte(size / 2);
    while (size >= RCCE_LINE_SIZE && !(block = allocate(size, ATOLL_CALLER)))
        size = size == RCCE_LINE_SIZE ? 0 : PAD32byte(size / 2);
    *chunk = block ? size : 0;
    return block;
}

void RCCE_free(t_vcharp block)
{
    int place = atoll_rcce_place(block);
    int code = place < 0 ? 25 : ATOLL(free, place);
    if (!code)
        ATOLL(note_block, ATOLL_BLOCK_MALLOC, place, 0, 0);
    result(code);
}

int RCCE_put(t_vcharp target, t_vcharp source, int bytes, int ue)
{
    int to = atoll_rcce_place(target);
    if (to < 0)
        return result(1);
    if (!source)
        return result(2);
    return result(ATOLL(put, to, (const void *)source, atoll_rcce_place(source), bytes, ue));
}

int RCCE_get(t_vcharp target, t_vcharp source, int bytes, int ue)
{
    int from = atoll_rcce_place(source);
    if (!target)
        return result(1);
    if (from < 0)
        return result(2);
    return result(ATOLL(get, (void *)target, atoll_rcce_place(target), from, bytes, ue));
}

/* The gory interface moves whole lines. */
static int check_lines(t_vcharp in_mpb, int bytes)
{
    if (bytes < 0 || bytes % RCCE_LINE_SIZE)
        return 4;
    return (uintptr_t)in_mpb % RCCE_LINE_SIZE ? 8 : 0;
}

int RCCE_put_gory(t_vcharp target, t_vcharp source, int bytes, int ue);
int RCCE_get_gory(t_vcharp target, t_vcharp source, int bytes, int ue);

int RCCE_put_gory(t_vcharp target, t_vcharp source, int bytes, int ue)
{
    int code = target ? check_lines(target, bytes) : 1;
    return code ? result(code) : RCCE_put(target, source, bytes, ue);
}

int RCCE_get_gory(t_vcharp target, t_vcharp source, int bytes, int ue)
{
    int code = source ? check_lines(source, bytes) : 2;
    return code ? result(code) : RCCE_get(target, source, bytes, ue);
}

int RCCE_acquire_lock(int ue)
{
    return atoll_rcce_result(ATOLL_SYNCH, ATOLL(acquire, ue, NULL));
}

int RCCE_try_lock(int ue)
{
    int32_t acquired = 0;
    int code = atoll_rcce_result(ATOLL_SYNCH, ATOLL(acquire, ue, &acquired));
    return code ? code : acquired ? RCCE_SUCCESS : -1;
}

int RCCE_release_lock(int ue)
{
    return atoll_rcce_result(ATOLL_SYNCH, ATOLL(release, ue));
}

void RC_cache_invalidate(void)
{
    ATOLL(fence);
}

t_vcharp RCCE_shmalloc(size_t size)
{
    void *block = NULL;
    result(ATOLL(share, size, &block));
    if (block != NULL)
        ATOLL(note_block, ATOLL_BLOCK_SHMALLOC, (uintptr_t)block, size, ATOLL_CALLER);
    return block;
}

void RCCE_shfree(t_vcharp block)
{
    int code = ATOLL(unshare, (void *)block);
    if (!code)
        ATOLL(note_block, ATOLL_BLOCK_SHMALLOC, (uintptr_t)block, 0, 0);
    result(code);
}

void RCCE_shflush(void)
{
    ATOLL(flush);
}

int RCCE_DCMflush(void)
{
    return result(ATOLL(flush));
}
