/*
 * iRCCE, the extension of RCCE by non-blocking communication (release 2.0).
 *
 * What each function does here is in the table of kernel/c/rcce/README.md.
 */
#ifndef IRCCE_H
#define IRCCE_H

#include "RCCE.h"

#ifdef __cplusplus
extern "C" {
#endif

#define iRCCE_VERSION "2.0 on Atoll"
#define iRCCE_FLAIR

#define iRCCE_SUCCESS RCCE_SUCCESS
#define iRCCE_ERROR -1
#define iRCCE_PENDING -2
#define iRCCE_RESERVED -3
#define iRCCE_NOT_ENQUEUED -4

/* A receive may leave its source or length open. */
#define _iRCCE_ANY_LENGTH_
extern const int iRCCE_ANY_LENGTH;
extern const int iRCCE_ANY_SOURCE;

/* The payload of a whole-line flag. */
#define iRCCE_MAX_TAGGED_LEN (RCCE_LINE_SIZE - sizeof(int))

typedef struct _iRCCE_SEND_REQUEST {
    char *privbuf;
    size_t size;
    int dest;
    int finished;
    unsigned number;
    struct _iRCCE_SEND_REQUEST *next;
} iRCCE_SEND_REQUEST;

typedef struct _iRCCE_RECV_REQUEST {
    char *privbuf;
    size_t size;
    int source;
    int finished;
    unsigned number;
    struct _iRCCE_RECV_REQUEST *next;
} iRCCE_RECV_REQUEST;

#define iRCCE_WAIT_LIST_RECV_TYPE 0
#define iRCCE_WAIT_LIST_SEND_TYPE 1

typedef struct _iRCCE_WAIT_LISTELEM {
    int type;
    struct _iRCCE_WAIT_LISTELEM *next;
    void *req;
} iRCCE_WAIT_LISTELEM;

typedef struct _iRCCE_WAIT_LIST {
    iRCCE_WAIT_LISTELEM *first;
    iRCCE_WAIT_LISTELEM *last;
} iRCCE_WAIT_LIST;

/* An atomic increment register. */
typedef volatile struct _iRCCE_AIR {
    unsigned number;
} iRCCE_AIR;

int iRCCE_init(void);

int iRCCE_isend(char *, ssize_t, int, iRCCE_SEND_REQUEST *);
int iRCCE_isend_test(iRCCE_SEND_REQUEST *, int *);
int iRCCE_isend_wait(iRCCE_SEND_REQUEST *);
int iRCCE_isend_push(void);
int iRCCE_irecv(char *, ssize_t, int, iRCCE_RECV_REQUEST *);
int iRCCE_irecv_test(iRCCE_RECV_REQUEST *, int *);
int iRCCE_irecv_wait(iRCCE_RECV_REQUEST *);
int iRCCE_irecv_push(void);

int iRCCE_ssend(char *, ssize_t, int);
int iRCCE_srecv(char *, ssize_t, int);
int iRCCE_srecv_test(char *, ssize_t, int, int *);
int iRCCE_issend(char *, ssize_t, int, iRCCE_SEND_REQUEST *);
int iRCCE_isrecv(char *, ssize_t, int, iRCCE_RECV_REQUEST *);

int iRCCE_put(t_vcharp, t_vcharp, int, int);
int iRCCE_get(t_vcharp, t_vcharp, int, int);
void *iRCCE_memcpy_put(void *, const void *, size_t);
void *iRCCE_memcpy_get(void *, const void *, size_t);
#define iRCCE_memcpy iRCCE_memcpy_put

int iRCCE_probe(int, int *);
int iRCCE_iprobe(int, int *, int *);

void iRCCE_init_wait_list(iRCCE_WAIT_LIST *);
void iRCCE_add_to_wait_list(iRCCE_WAIT_LIST *, iRCCE_SEND_REQUEST *, iRCCE_RECV_REQUEST *);
int iRCCE_test_all(iRCCE_WAIT_LIST *, int *);
int iRCCE_wait_all(iRCCE_WAIT_LIST *);
int iRCCE_test_any(iRCCE_WAIT_LIST *, iRCCE_SEND_REQUEST **, iRCCE_RECV_REQUEST **);
int iRCCE_wait_any(iRCCE_WAIT_LIST *, iRCCE_SEND_REQUEST **, iRCCE_RECV_REQUEST **);

int iRCCE_get_dest(iRCCE_SEND_REQUEST *);
int iRCCE_get_source(iRCCE_RECV_REQUEST *);
int iRCCE_get_size(iRCCE_SEND_REQUEST *, iRCCE_RECV_REQUEST *);
int iRCCE_get_length(void);

int iRCCE_isend_cancel(iRCCE_SEND_REQUEST *, int *);
int iRCCE_irecv_cancel(iRCCE_RECV_REQUEST *, int *);

int iRCCE_flag_alloc_tagged(RCCE_FLAG *);
int iRCCE_flag_free_tagged(RCCE_FLAG *);
int iRCCE_flag_write_tagged(RCCE_FLAG *, RCCE_FLAG_STATUS, int, void *, int);
int iRCCE_flag_read_tagged(RCCE_FLAG, RCCE_FLAG_STATUS *, int, void *, int);
int iRCCE_wait_tagged(RCCE_FLAG, RCCE_FLAG_STATUS, void *, int);
int iRCCE_test_tagged(RCCE_FLAG, RCCE_FLAG_STATUS, int *, void *, int);
int iRCCE_get_max_tagged_len(void);

int iRCCE_atomic_alloc(iRCCE_AIR **);
int iRCCE_atomic_inc(iRCCE_AIR *, int *);
int iRCCE_atomic_read(iRCCE_AIR *, int *);
int iRCCE_atomic_write(iRCCE_AIR *, int);

int iRCCE_barrier(RCCE_COMM *);
int iRCCE_bcast(char *, size_t, int, RCCE_COMM);
int iRCCE_mcast(char *, size_t, int);
int iRCCE_msend(char *, ssize_t);
int iRCCE_mrecv(char *, ssize_t, int);

t_vcharp iRCCE_malloc(size_t);
int iRCCE_flag_alloc(RCCE_FLAG *);
int iRCCE_flag_write(RCCE_FLAG *, RCCE_FLAG_STATUS, int);
int iRCCE_flag_read(RCCE_FLAG, RCCE_FLAG_STATUS *, int);
int iRCCE_wait_until(RCCE_FLAG, RCCE_FLAG_STATUS);

/* Names that programs use as well. */
#define RCCE_isend iRCCE_isend
#define RCCE_isend_test iRCCE_isend_test
#define RCCE_isend_wait iRCCE_isend_wait
#define RCCE_isend_push iRCCE_isend_push
#define RCCE_irecv iRCCE_irecv
#define RCCE_irecv_test iRCCE_irecv_test
#define RCCE_irecv_wait iRCCE_irecv_wait
#define RCCE_irecv_push iRCCE_irecv_push
#define RCCE_SEND_REQUEST iRCCE_SEND_REQUEST
#define RCCE_RECV_REQUEST iRCCE_RECV_REQUEST
#define iRCCE_send iRCCE_ssend
#define iRCCE_recv iRCCE_srecv
#define iRCCE_recv_test iRCCE_srecv_test
#define iRCCE_issend_test iRCCE_isend_test
#define iRCCE_issend_wait iRCCE_isend_wait
#define iRCCE_issend_push iRCCE_isend_push
#define iRCCE_isrecv_test iRCCE_irecv_test
#define iRCCE_isrecv_wait iRCCE_irecv_wait
#define iRCCE_isrecv_push iRCCE_irecv_push
#define iRCCE_add_send_to_wait_list(list, request) iRCCE_add_to_wait_list(list, request, NULL)
#define iRCCE_add_recv_to_wait_list(list, request) iRCCE_add_to_wait_list(list, NULL, request)

#ifdef __cplusplus
}
#endif

#endif
