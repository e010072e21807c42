/* iRCCE: several requests at a time. */

#include <atoll/rcce.h>
#include <iRCCE.h>

void iRCCE_init_wait_list(iRCCE_WAIT_LIST *list)
{
    *list = (iRCCE_WAIT_LIST){0};
}

static void append(iRCCE_WAIT_LIST *list, int type, void *request)
{
    iRCCE_WAIT_LISTELEM *element = malloc(sizeof *element);
    if (!element) {
        ATOLL(say, "iRCCE_add_to_wait_list: malloc has no room for an element");
        exit(1);
    }
    *element = (iRCCE_WAIT_LISTELEM){.type = type, .req = request};
    if (list->last)
        list->last->next = element;
    else
        list->first = element;
    list->last = element;
}

void iRCCE_add_to_wait_list(iRCCE_WAIT_LIST *list, iRCCE_SEND_REQUEST *send, iRCCE_RECV_REQUEST *receive)
{
    if (send)
        append(list, iRCCE_WAIT_LIST_SEND_TYPE, send);
    if (receive)
        append(list, iRCCE_WAIT_LIST_RECV_TYPE, receive);
}

static int test_one(const iRCCE_WAIT_LISTELEM *element)
{
    if (element->type == iRCCE_WAIT_LIST_SEND_TYPE)
        return iRCCE_isend_test(element->req, NULL);
    return iRCCE_irecv_test(element->req, NULL);
}

/* Takes the element behind `before` out of the list, or the first. */
static void take_out(iRCCE_WAIT_LIST *list, iRCCE_WAIT_LISTELEM *before)
{
    iRCCE_WAIT_LISTELEM **link = before ? &before->next : &list->first, *element = *link;
    *link = element->next;
    if (list->last == element)
        list->last = before;
    free(element);
}

/* An error ends a request as well: it is what the function returns at the end. */
int iRCCE_test_all(iRCCE_WAIT_LIST *list, int *test)
{
    int error = iRCCE_SUCCESS;
    iRCCE_WAIT_LISTELEM *before = NULL, *element = list->first;
    while (element) {
        int code = test_one(element);
        iRCCE_WAIT_LISTELEM *next = element->next;
        if (code < 0)
            before = element;
        else
            take_out(list, before);
        if (code > 0)
            error = code;
        element = next;
    }
    if (test)
        *test = !list->first;
    return list->first ? iRCCE_PENDING : error;
}

int iRCCE_wait_all(iRCCE_WAIT_LIST *list)
{
    int error = iRCCE_SUCCESS;
    while (list->first) {
        iRCCE_WAIT_LISTELEM *element = list->first;
        int is_send = element->type == iRCCE_WAIT_LIST_SEND_TYPE;
        int code = is_send ? iRCCE_isend_wait(element->req) : iRCCE_irecv_wait(element->req);
        if (code > 0)
            error = code;
        take_out(list, NULL);
    }
    return error;
}

int iRCCE_test_any(iRCCE_WAIT_LIST *list, iRCCE_SEND_REQUEST **send, iRCCE_RECV_REQUEST **receive)
{
    iRCCE_WAIT_LISTELEM *before = NULL;
    if (send)
        *send = NULL;
    if (receive)
        *receive = NULL;
    for (iRCCE_WAIT_LISTELEM *element = list->first; element; before = element, element = element->next) {
        int code = test_one(element);
        if (code < 0)
            continue;
        if (element->type == iRCCE_WAIT_LIST_SEND_TYPE && send)
            *send = element->req;
        if (element->type == iRCCE_WAIT_LIST_RECV_TYPE && receive)
            *receive = element->req;
        take_out(list, before);
        return code;
    }
    return list->first ? iRCCE_PENDING : iRCCE_NOT_ENQUEUED;
}

int iRCCE_wait_any(iRCCE_WAIT_LIST *list, iRCCE_SEND_REQUEST **send, iRCCE_RECV_REQUEST **receive)
{
    int code;
    while ((code = iRCCE_test_any(list, send, receive)) == iRCCE_PENDING)
        ATOLL(await_any);
    return code;
}
