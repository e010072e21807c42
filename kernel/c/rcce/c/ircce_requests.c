/* iRCCE: messages that go on while the program does something else. */

#define ATOLL_RCCE_LIBRARY
#include <atoll/rcce.h>
#include <iRCCE.h>

const int iRCCE_ANY_LENGTH = -1;
const int iRCCE_ANY_SOURCE = -1;

/* Of the last message that was received or found. */
static int last_source = -1, last_length;

static int result(int code)
{
    return atoll_rcce_result(ATOLL_COMM, code);
}

int iRCCE_init(void)
{
    return RCCE_num_ues() ? iRCCE_SUCCESS : result(22);
}

/* Goes on with a send; it is finished unless it is pending. */
static int look_at_send(iRCCE_SEND_REQUEST *request, int waits)
{
    struct atoll_rcce_request of = {.number = request->number};
    if (request->finished)
        return request->result;
    int code = ATOLL(look, &of, waits);
    if (code < 0)
        return code;
    request->finished = 1;
    return request->result = result(code);
}

static int look_at_receive(iRCCE_RECV_REQUEST *request, int waits)
{
    struct atoll_rcce_request of = {.number = request->number, .len = request->size, .peer = request->source};
    if (request->finished)
        return request->result;
    int code = ATOLL(look, &of, waits);
    if (code < 0)
        return code;
    request->finished = 1;
    if (code == 0) {
        request->size = last_length = of.len;
        request->source = last_source = of.peer;
    }
    return request->result = result(code);
}

static int begin_send(char *message, ssize_t size, int to, iRCCE_SEND_REQUEST *request)
{
    iRCCE_SEND_REQUEST own, *of = request ? request : &own;
    *of = (iRCCE_SEND_REQUEST){.privbuf = message, .size = size < 0 ? 0 : size, .dest = to};
    struct atoll_rcce_request wanted = {.bytes = message, .len = of->size, .is_send = 1, .peer = to};
    int code = !message && size > 0 ? 2 : atoll_rcce_is_too_long(of->size) ? 4 : ATOLL(start, &wanted);
    /* What is refused is over. */
    if (code) {
        of->finished = 1;
        return of->result = result(code);
    }
    of->number = wanted.number;
    return look_at_send(of, !request);
}

int iRCCE_issend(char *message, ssize_t size, int to, iRCCE_SEND_REQUEST *request)
{
    if (size < 0 && request)
        *request = (iRCCE_SEND_REQUEST){.privbuf = message, .dest = to, .finished = 1};
    return size < 0 ? iRCCE_SUCCESS : begin_send(message, size, to, request);
}

/* A message of no bytes is none. */
int iRCCE_isend(char *message, ssize_t size, int to, iRCCE_SEND_REQUEST *request)
{
    return iRCCE_issend(message, size == 0 ? -1 : size, to, request);
}

static int begin_receive(char *message, ssize_t size, int from, iRCCE_RECV_REQUEST *request)
{
    iRCCE_RECV_REQUEST own, *of = request ? request : &own;
    int any_length = size == iRCCE_ANY_LENGTH;
    *of = (iRCCE_RECV_REQUEST){.privbuf = message, .size = any_length ? 0 : size, .source = from};
    if (size < 0 && !any_length) {
        of->finished = 1;
        return iRCCE_SUCCESS;
    }
    struct atoll_rcce_request wanted = {
        .bytes = message, .len = of->size, .any_len = any_length, .peer = from == iRCCE_ANY_SOURCE ? -1 : from};
    int code = !message && size != 0 ? 1 : atoll_rcce_is_too_long(of->size) ? 4 : from < -1 ? 3 : ATOLL(start, &wanted);
    if (code) {
        of->finished = 1;
        return of->result = result(code);
    }
    of->number = wanted.number;
    return look_at_receive(of, !request);
}

int iRCCE_isrecv(char *message, ssize_t size, int from, iRCCE_RECV_REQUEST *request)
{
    return begin_receive(message, size, from, request);
}

int iRCCE_irecv(char *message, ssize_t size, int from, iRCCE_RECV_REQUEST *request)
{
    if (size == 0 && request)
        *request = (iRCCE_RECV_REQUEST){.privbuf = message, .source = from, .finished = 1};
    return size == 0 ? iRCCE_SUCCESS : begin_receive(message, size, from, request);
}

int iRCCE_ssend(char *message, ssize_t size, int to)
{
    if (size < 0)
        return iRCCE_SUCCESS;
    return result(!message && size ? 2 : atoll_rcce_is_too_long(size) ? 4 : ATOLL(send, message, size, to, 1));
}

int iRCCE_srecv(char *message, ssize_t size, int from)
{
    return begin_receive(message, size, from, NULL);
}

int iRCCE_srecv_test(char *message, ssize_t size, int from, int *test)
{
    int found = from, there = 1;
    if (!test)
        return iRCCE_srecv(message, size, from);
    if (size > 0 || size == iRCCE_ANY_LENGTH) {
        int code = iRCCE_iprobe(from, &found, &there);
        if (code)
            return code;
    }
    *test = there;
    if (!there)
        return iRCCE_PENDING;
    return size == 0 ? iRCCE_SUCCESS : iRCCE_srecv(message, size, found);
}

int iRCCE_isend_push(void)
{
    return result(ATOLL(push, 1, 0));
}

int iRCCE_irecv_push(void)
{
    return result(ATOLL(push, 0, 0));
}

static int tested(int code, int *test)
{
    if (test)
        *test = code == iRCCE_SUCCESS;
    return code;
}

int iRCCE_isend_test(iRCCE_SEND_REQUEST *request, int *test)
{
    return tested(request ? look_at_send(request, 0) : iRCCE_isend_push(), test);
}

int iRCCE_irecv_test(iRCCE_RECV_REQUEST *request, int *test)
{
    return tested(request ? look_at_receive(request, 0) : iRCCE_irecv_push(), test);
}

int iRCCE_isend_wait(iRCCE_SEND_REQUEST *request)
{
    return request ? look_at_send(request, 1) : result(ATOLL(push, 1, 1));
}

int iRCCE_irecv_wait(iRCCE_RECV_REQUEST *request)
{
    return request ? look_at_receive(request, 1) : result(ATOLL(push, 0, 1));
}

static int cancelled(unsigned number, int finished, int *test)
{
    int code = finished ? iRCCE_NOT_ENQUEUED : ATOLL(cancel, number);
    if (test)
        *test = code == iRCCE_SUCCESS;
    return result(code);
}

int iRCCE_isend_cancel(iRCCE_SEND_REQUEST *request, int *test)
{
    int code = request ? cancelled(request->number, request->finished, test) : iRCCE_NOT_ENQUEUED;
    if (code == iRCCE_SUCCESS)
        request->finished = 1;
    return code;
}

int iRCCE_irecv_cancel(iRCCE_RECV_REQUEST *request, int *test)
{
    int code = request ? cancelled(request->number, request->finished, test) : iRCCE_NOT_ENQUEUED;
    if (code == iRCCE_SUCCESS)
        request->finished = 1;
    return code;
}

static int look_for(int from, int *found_in, int *test)
{
    int32_t source = from, there = 1;
    uint32_t length = 0;
    int code = ATOLL(incoming, &source, &length, test ? &there : NULL);
    if (test)
        *test = !code && there;
    if (!code && there)
        last_source = source, last_length = length;
    if (found_in)
        *found_in = !code && there ? source : iRCCE_ANY_SOURCE;
    return result(code);
}

int iRCCE_probe(int from, int *found_in)
{
    return look_for(from, found_in, NULL);
}

int iRCCE_iprobe(int from, int *found_in, int *test)
{
    int there;
    return look_for(from, found_in, test ? test : &there);
}

int iRCCE_get_dest(iRCCE_SEND_REQUEST *request)
{
    return request ? request->dest : iRCCE_ERROR;
}

int iRCCE_get_source(iRCCE_RECV_REQUEST *request)
{
    return request ? request->source : last_source;
}

int iRCCE_get_size(iRCCE_SEND_REQUEST *send, iRCCE_RECV_REQUEST *receive)
{
    return send ? (int)send->size : receive ? (int)receive->size : last_length;
}

int iRCCE_get_length(void)
{
    return last_length;
}
