/* iRCCE: transfers of any length, whole-line flags, counters, operations of all. */

#include <atoll/rcce.h>
#include <iRCCE.h>
#include <string.h>

int atoll_rcce_flag_alloc_line(RCCE_FLAG *flag);

static int result(int code)
{
    return atoll_rcce_result(ATOLL_COMM, code);
}

int iRCCE_put(t_vcharp target, t_vcharp source, int bytes, int ue)
{
    return RCCE_put(target, source, bytes, ue);
}

int iRCCE_get(t_vcharp target, t_vcharp source, int bytes, int ue)
{
    return RCCE_get(target, source, bytes, ue);
}

/* To or from the own MPB, or within private memory. */
void *iRCCE_memcpy_put(void *to, const void *from, size_t bytes)
{
    if (atoll_rcce_place(to) >= 0) {
        RCCE_put(to, (t_vcharp)from, bytes, RCCE_ue());
        return to;
    }
    return iRCCE_memcpy_get(to, from, bytes);
}

void *iRCCE_memcpy_get(void *to, const void *from, size_t bytes)
{
    if (atoll_rcce_place(from) < 0)
        return memcpy(to, from, bytes);
    RCCE_get(to, (t_vcharp)from, bytes, RCCE_ue());
    return to;
}

t_vcharp iRCCE_malloc(size_t bytes)
{
    return RCCE_malloc(bytes);
}

int iRCCE_flag_alloc_tagged(RCCE_FLAG *flag)
{
    return atoll_rcce_flag_alloc_line(flag);
}

int iRCCE_flag_free_tagged(RCCE_FLAG *flag)
{
    return RCCE_flag_free(flag);
}

int iRCCE_get_max_tagged_len(void)
{
    return iRCCE_MAX_TAGGED_LEN;
}

static int flag_of(const RCCE_FLAG *flag, struct atoll_rcce_flag *of, const void *payload, int bytes)
{
    int line = flag ? atoll_rcce_place(flag->line_address) : -1;
    if (line < 0 || flag->location < 0)
        return 5;
    if (bytes < 0 || bytes > (int)iRCCE_MAX_TAGGED_LEN || (bytes > 0 && !payload))
        return 4;
    *of = (struct atoll_rcce_flag){.line = line, .location = flag->location};
    return 0;
}

int iRCCE_flag_write_tagged(RCCE_FLAG *flag, RCCE_FLAG_STATUS value, int ue, void *payload, int bytes)
{
    struct atoll_rcce_flag of;
    int code = flag_of(flag, &of, payload, payload ? bytes : 0);
    return result(code ? code : ATOLL(flag_write, of, value, ue, payload, payload ? bytes : 0));
}

int iRCCE_flag_read_tagged(RCCE_FLAG flag, RCCE_FLAG_STATUS *value, int ue, void *payload, int bytes)
{
    struct atoll_rcce_flag of;
    uint32_t found = 0;
    int code = flag_of(&flag, &of, payload, payload ? bytes : 0);
    if (!code)
        code = ATOLL(flag_read, of, &found, ue, payload, payload ? bytes : 0);
    if (!code && value)
        *value = found;
    return result(code);
}

int iRCCE_wait_tagged(RCCE_FLAG flag, RCCE_FLAG_STATUS value, void *payload, int bytes)
{
    int code = RCCE_wait_until(flag, value);
    return code ? code : iRCCE_flag_read_tagged(flag, NULL, RCCE_ue(), payload, bytes);
}

int iRCCE_test_tagged(RCCE_FLAG flag, RCCE_FLAG_STATUS value, int *test, void *payload, int bytes)
{
    int has = 0, code = RCCE_test_flag(flag, value, &has);
    if (test)
        *test = has;
    return code || !has ? code : iRCCE_flag_read_tagged(flag, NULL, RCCE_ue(), payload, bytes);
}

int iRCCE_flag_alloc(RCCE_FLAG *flag)
{
    return iRCCE_flag_alloc_tagged(flag);
}

int iRCCE_flag_write(RCCE_FLAG *flag, RCCE_FLAG_STATUS value, int ue)
{
    return RCCE_flag_write(flag, value, ue);
}

int iRCCE_flag_read(RCCE_FLAG flag, RCCE_FLAG_STATUS *value, int ue)
{
    return RCCE_flag_read(flag, value, ue);
}

int iRCCE_wait_until(RCCE_FLAG flag, RCCE_FLAG_STATUS value)
{
    return RCCE_wait_until(flag, value);
}

int iRCCE_atomic_alloc(iRCCE_AIR **counter)
{
    uint32_t number;
    struct _iRCCE_AIR *made = counter ? malloc(sizeof *made) : NULL;
    if (!made || ATOLL(counter, &number)) {
        free(made);
        return iRCCE_ERROR;
    }
    made->number = number;
    *counter = made;
    return iRCCE_SUCCESS;
}

static int count(iRCCE_AIR *counter, int change, int *value)
{
    int32_t found = value ? *value : 0;
    int code = counter ? ATOLL(count, counter->number, change, &found) : 13;
    if (!code && value)
        *value = found;
    return code ? iRCCE_ERROR : iRCCE_SUCCESS;
}

int iRCCE_atomic_inc(iRCCE_AIR *counter, int *value)
{
    return count(counter, 1, value);
}

int iRCCE_atomic_read(iRCCE_AIR *counter, int *value)
{
    return count(counter, 0, value);
}

int iRCCE_atomic_write(iRCCE_AIR *counter, int value)
{
    return count(counter, -1, &value);
}

int iRCCE_barrier(RCCE_COMM *comm)
{
    return RCCE_barrier(comm ? comm : &RCCE_COMM_WORLD);
}

int iRCCE_bcast(char *message, size_t size, int root, RCCE_COMM comm)
{
    return RCCE_bcast(message, size, root, comm);
}

int iRCCE_mcast(char *message, size_t size, int root)
{
    return RCCE_bcast(message, size, root, RCCE_COMM_WORLD);
}

int iRCCE_msend(char *message, ssize_t size)
{
    return size < 0 ? iRCCE_SUCCESS : iRCCE_mcast(message, size, RCCE_ue());
}

int iRCCE_mrecv(char *message, ssize_t size, int root)
{
    return size < 0 ? iRCCE_SUCCESS : iRCCE_mcast(message, size, root);
}
