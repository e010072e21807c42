/* RCCE: flags. */

#define ATOLL_RCCE_LIBRARY
#include <RCCE.h>
#include <RCCE_lib.h>
#include <atoll/rcce.h>

static int result(int code)
{
    return atoll_rcce_result(ATOLL_SYNCH, code);
}

/* The flag as the Rust side knows it; 0, or why it is none. */
static int flag_of(const RCCE_FLAG *flag, struct atoll_rcce_flag *of)
{
    int line = flag ? atoll_rcce_place(flag->line_address) : -1;
    if (!flag || flag->location < 0 || !flag->line_address)
        return 5;
    if (line < 0)
        return 10;
    *of = (struct atoll_rcce_flag){.line = line, .location = flag->location};
    return 0;
}

/* Tells flags of different lines apart. */
enum { BITS_OF_A_LINE = RCCE_LINE_SIZE * 8 };

static int allocate(RCCE_FLAG *flag, int kind, uintptr_t caller)
{
    struct atoll_rcce_flag of;
    int code = flag ? ATOLL(flag_allocate, kind, &of) : 5;
    if (code)
        return result(code);
    int byte = kind == ATOLL_FLAG_BIT ? of.location / 8 : of.location * sizeof(int);
    flag->location = of.location;
    flag->line_address = atoll_rcce_pointer(of.line);
    flag->flag_addr = flag->line_address + byte;
    ATOLL(note_block, ATOLL_BLOCK_FLAG, of.line * BITS_OF_A_LINE + of.location, sizeof(int), caller);
    return RCCE_SUCCESS;
}

int RCCE_flag_alloc_bit(RCCE_FLAG *flag);
int atoll_rcce_flag_alloc_line(RCCE_FLAG *flag);

int RCCE_flag_alloc(RCCE_FLAG *flag)
{
    return allocate(flag, ATOLL_FLAG_WORD, ATOLL_CALLER);
}

int RCCE_flag_alloc_bit(RCCE_FLAG *flag)
{
    return allocate(flag, ATOLL_FLAG_BIT, ATOLL_CALLER);
}

int atoll_rcce_flag_alloc_line(RCCE_FLAG *flag)
{
    return allocate(flag, ATOLL_FLAG_LINE, ATOLL_CALLER);
}

int RCCE_flag_free(RCCE_FLAG *flag)
{
    struct atoll_rcce_flag of;
    int code = flag_of(flag, &of);
    if (!code)
        code = ATOLL(flag_free, of);
    if (!code)
        ATOLL(note_block, ATOLL_BLOCK_FLAG, of.line * BITS_OF_A_LINE + of.location, 0, 0);
    if (!code)
        *flag = (RCCE_FLAG){.location = -1};
    return result(code);
}

int RCCE_flag_write(RCCE_FLAG *flag, RCCE_FLAG_STATUS value, int ue)
{
    struct atoll_rcce_flag of;
    int code = flag_of(flag, &of);
    return result(code ? code : ATOLL(flag_write, of, value, ue, NULL, 0));
}

int RCCE_flag_read(RCCE_FLAG flag, RCCE_FLAG_STATUS *value, int ue)
{
    struct atoll_rcce_flag of;
    uint32_t found = 0;
    int code = flag_of(&flag, &of);
    if (!code)
        code = value ? ATOLL(flag_read, of, &found, ue, NULL, 0) : 13;
    if (!code)
        *value = found;
    return result(code);
}

int RCCE_wait_until(RCCE_FLAG flag, RCCE_FLAG_STATUS value)
{
    struct atoll_rcce_flag of;
    int code = flag_of(&flag, &of);
    return result(code ? code : ATOLL(flag_wait, of, value, NULL));
}

int RCCE_test_flag(RCCE_FLAG flag, RCCE_FLAG_STATUS value, int *test)
{
    struct atoll_rcce_flag of;
    int32_t has = 0;
    int code = flag_of(&flag, &of);
    if (!code)
        code = test ? ATOLL(flag_wait, of, value, &has) : 13;
    if (!code)
        *test = has;
    return result(code);
}

int RCCE_probe(RCCE_FLAG flag)
{
    int has = 0;
    return RCCE_test_flag(flag, RCCE_FLAG_SET, &has) == RCCE_SUCCESS && has;
}

/* In the gory interface a flag has two values. */
int RCCE_flag_write_gory(RCCE_FLAG *flag, RCCE_FLAG_STATUS value, int ue);
int RCCE_wait_until_gory(RCCE_FLAG flag, RCCE_FLAG_STATUS value);

int RCCE_flag_write_gory(RCCE_FLAG *flag, RCCE_FLAG_STATUS value, int ue)
{
    return value == RCCE_FLAG_SET || value == RCCE_FLAG_UNSET ? RCCE_flag_write(flag, value, ue) : result(11);
}

int RCCE_wait_until_gory(RCCE_FLAG flag, RCCE_FLAG_STATUS value)
{
    return value == RCCE_FLAG_SET || value == RCCE_FLAG_UNSET ? RCCE_wait_until(flag, value) : result(11);
}
