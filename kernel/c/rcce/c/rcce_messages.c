/* RCCE: messages; and those of the gory interface, through buffers and flags of the program. */

#define ATOLL_RCCE_LIBRARY
#include <RCCE.h>
#include <atoll/rcce.h>

static int result(int code)
{
    return atoll_rcce_result(ATOLL_COMM, code);
}

/* What is wrong with a message, if something is. */
static int wrong(const char *message, size_t size, int null_message)
{
    return !message && size ? null_message : atoll_rcce_is_too_long(size) ? 4 : 0;
}

int RCCE_send(char *message, size_t size, int to)
{
    int code = wrong(message, size, 2);
    return result(code ? code : ATOLL(send, message, size, to, 0));
}

int RCCE_recv(char *message, size_t size, int from)
{
    int code = wrong(message, size, 1);
    return result(code ? code : ATOLL(receive, message, size, from, NULL));
}

int RCCE_recv_test(char *message, size_t size, int from, int *test)
{
    int32_t received = 0;
    int code = !test ? 13 : wrong(message, size, 1);
    if (!code)
        code = ATOLL(receive, message, size, from, &received);
    if (test)
        *test = received;
    return result(code);
}

int RCCE_send_gory(char *message, t_vcharp buffer, size_t chunk, RCCE_FLAG *ready, RCCE_FLAG *sent, size_t size,
                   int to);
int RCCE_recv_gory(char *message, t_vcharp buffer, size_t chunk, RCCE_FLAG *ready, RCCE_FLAG *sent, size_t size,
                   int from);
int RCCE_recv_test_gory(char *message, t_vcharp buffer, size_t chunk, RCCE_FLAG *ready, RCCE_FLAG *sent, size_t size,
                        int from, int *test);

static int check(const char *message, t_vcharp buffer, size_t chunk, const RCCE_FLAG *ready, const RCCE_FLAG *sent,
                 size_t size, int peer, int null_message)
{
    if (!message && size)
        return null_message;
    if (atoll_rcce_place(buffer) < 0)
        return 3 - null_message;
    if ((uintptr_t)buffer % RCCE_LINE_SIZE)
        return 8;
    if (chunk == 0 || chunk % RCCE_LINE_SIZE)
        return 4;
    if (!ready || !sent)
        return 5;
    return peer < 0 || peer >= RCCE_num_ues() ? 3 : 0;
}

/* A chunk waits in the sender's buffer until the receiver has got it, and said so. */
int RCCE_send_gory(char *message, t_vcharp buffer, size_t chunk, RCCE_FLAG *ready, RCCE_FLAG *sent, size_t size,
                   int to)
{
    int code = check(message, buffer, chunk, ready, sent, size, to, 2);
    if (code)
        return result(code);
    for (size_t start = 0, bytes; start < size; start += bytes) {
        bytes = size - start < chunk ? size - start : chunk;
        if ((code = RCCE_put(buffer, (t_vcharp)message + start, bytes, RCCE_ue()))
            || (code = RCCE_flag_write(sent, RCCE_FLAG_SET, to)) || (code = RCCE_wait_until(*ready, RCCE_FLAG_SET))
            || (code = RCCE_flag_write(ready, RCCE_FLAG_UNSET, RCCE_ue())))
            return code;
    }
    return RCCE_SUCCESS;
}

int RCCE_recv_gory(char *message, t_vcharp buffer, size_t chunk, RCCE_FLAG *ready, RCCE_FLAG *sent, size_t size,
                   int from)
{
    int code = check(message, buffer, chunk, ready, sent, size, from, 1);
    if (code)
        return result(code);
    for (size_t start = 0, bytes; start < size; start += bytes) {
        bytes = size - start < chunk ? size - start : chunk;
        if ((code = RCCE_wait_until(*sent, RCCE_FLAG_SET))
            || (code = RCCE_flag_write(sent, RCCE_FLAG_UNSET, RCCE_ue()))
            || (code = RCCE_get((t_vcharp)message + start, buffer, bytes, from))
            || (code = RCCE_flag_write(ready, RCCE_FLAG_SET, from)))
            return code;
    }
    return RCCE_SUCCESS;
}

int RCCE_recv_test_gory(char *message, t_vcharp buffer, size_t chunk, RCCE_FLAG *ready, RCCE_FLAG *sent, size_t size,
                        int from, int *test)
{
    int code = check(message, buffer, chunk, ready, sent, size, from, 1);
    if (code || !test)
        return result(code ? code : 13);
    *test = 1;
    if (size > 0 && (code = RCCE_test_flag(*sent, RCCE_FLAG_SET, test)))
        return code;
    return *test ? RCCE_recv_gory(message, buffer, chunk, ready, sent, size, from) : RCCE_SUCCESS;
}
