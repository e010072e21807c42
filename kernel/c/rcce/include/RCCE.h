/*
 * RCCE, the communication library of the SCC, as its manual (release 1.1) has it.
 *
 * A program compiled with -D GORY has the gory interface: its own buffers and flags in the MPBs, and messages through these. With
 * -D SINGLEBITFLAGS a flag is a bit, else a word of a line. With -D RC_POWER_MANAGEMENT there is RCCE_P_COMM.
 * What each function does here is in the table of kernel/c/rcce/README.md.
 */
#ifndef RCCE_H
#define RCCE_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#define RCCE_VERSION "1.1 on Atoll"
#define _RCCE RCCE_VERSION

/* The entry of a program. */
#define RCCE_APP main

#define STDERR stdout

#define LOG2_LINE_SIZE 5
#define RCCE_LINE_SIZE (1 << LOG2_LINE_SIZE)
#define RCCE_BUFF_SIZE_MAX (1 << 13)
#define RCCE_SHM_SIZE_MAX (1 << 26)
/* Programs for more UEs are compiled with more: their arrays have so many elements. */
#ifndef RCCE_MAXNP
#define RCCE_MAXNP 48
#endif

#define RCCE_SUCCESS 0
#define RCCE_ERROR_BASE 1234321
#define RCCE_ERROR_TARGET (RCCE_ERROR_BASE + 1)
#define RCCE_ERROR_SOURCE (RCCE_ERROR_BASE + 2)
#define RCCE_ERROR_ID (RCCE_ERROR_BASE + 3)
#define RCCE_ERROR_MESSAGE_LENGTH (RCCE_ERROR_BASE + 4)
#define RCCE_ERROR_FLAG_UNDEFINED (RCCE_ERROR_BASE + 5)
#define RCCE_ERROR_NUM_UES (RCCE_ERROR_BASE + 6)
#define RCCE_ERROR_DATA_OVERLAP (RCCE_ERROR_BASE + 7)
#define RCCE_ERROR_ALIGNMENT (RCCE_ERROR_BASE + 8)
#define RCCE_ERROR_DEBUG_FLAG (RCCE_ERROR_BASE + 9)
#define RCCE_ERROR_FLAG_NOT_IN_COMM_BUFFER (RCCE_ERROR_BASE + 10)
#define RCCE_ERROR_FLAG_STATUS_UNDEFINED (RCCE_ERROR_BASE + 11)
#define RCCE_ERROR_FLAG_NOT_ALLOCATED (RCCE_ERROR_BASE + 12)
#define RCCE_ERROR_VAL_UNDEFINED (RCCE_ERROR_BASE + 13)
#define RCCE_ERROR_INVALID_ERROR_CODE (RCCE_ERROR_BASE + 14)
#define RCCE_ERROR_RPC_NOT_ALLOCATED (RCCE_ERROR_BASE + 15)
#define RCCE_ERROR_RPC_INTERNAL (RCCE_ERROR_BASE + 16)
#define RCCE_ERROR_MULTIPLE_RPC_REQUESTS (RCCE_ERROR_BASE + 17)
#define RCCE_ERROR_FDIVIDER (RCCE_ERROR_BASE + 18)
#define RCCE_ERROR_FREQUENCY_EXCEEDED (RCCE_ERROR_BASE + 19)
#define RCCE_ERROR_NO_ACTIVE_RPC_REQUEST (RCCE_ERROR_BASE + 20)
#define RCCE_ERROR_STALE_RPC_REQUEST (RCCE_ERROR_BASE + 21)
#define RCCE_ERROR_COMM_UNDEFINED (RCCE_ERROR_BASE + 22)
#define RCCE_ERROR_ILLEGAL_OP (RCCE_ERROR_BASE + 23)
#define RCCE_ERROR_ILLEGAL_TYPE (RCCE_ERROR_BASE + 24)
#define RCCE_ERROR_MALLOC (RCCE_ERROR_BASE + 25)
#define RCCE_ERROR_COMM_INITIALIZED (RCCE_ERROR_BASE + 26)
#define RCCE_ERROR_CORE_NOT_IN_HOSTFILE (RCCE_ERROR_BASE + 27)
#define RCCE_MAX_ERROR_STRING 45

#define RCCE_DEBUG_ALL 111111
#define RCCE_DEBUG_SYNCH 111444
#define RCCE_DEBUG_COMM 111555
#define RCCE_DEBUG_RPC 111666
#define RCCE_DEBUG_DEBUG 111888

#define RCCE_FLAG_SET 1
#define RCCE_FLAG_UNSET 0

#define RCCE_NUM_OPS 4
#define RCCE_OP_BASE 23232323
#define RCCE_SUM (RCCE_OP_BASE)
#define RCCE_MIN (RCCE_OP_BASE + 1)
#define RCCE_MAX (RCCE_OP_BASE + 2)
#define RCCE_PROD (RCCE_OP_BASE + 3)

#define RCCE_TYPE_BASE 63636363
#define RCCE_INT (RCCE_TYPE_BASE)
#define RCCE_LONG (RCCE_TYPE_BASE + 1)
#define RCCE_FLOAT (RCCE_TYPE_BASE + 2)
#define RCCE_DOUBLE (RCCE_TYPE_BASE + 3)

#define RCCE_POWER_DEFAULT -99999

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A place in the MPBs: by it the same place of every UE's MPB is meant. It is for the functions below, and can be computed
 * with; a program that loads or stores there itself ends with a fault.
 */
typedef volatile unsigned char *t_vcharp;
typedef volatile unsigned char t_vchar;

typedef struct {
    int location;
    t_vcharp flag_addr;
    t_vcharp line_address;
} RCCE_FLAG;

typedef int RCCE_FLAG_STATUS;

typedef struct {
    int size;
    int my_rank;
    int initialized;
    int *member;
    RCCE_FLAG gather;
    RCCE_FLAG release;
} RCCE_COMM;

typedef struct {
    int release;
    int old_voltage_level;
    int new_voltage_level;
    int old_frequency_divider;
    int new_frequency_divider;
    long long start_cycle;
} RCCE_REQUEST;

extern RCCE_COMM RCCE_COMM_WORLD;

/* The functions that are others in one of the interfaces. */
#if defined(GORY) && defined(RC_POWER_MANAGEMENT)
#define ATOLL_INIT "RCCE_init_gory_power"
#elif defined(GORY)
#define ATOLL_INIT "RCCE_init_gory"
#elif defined(RC_POWER_MANAGEMENT)
#define ATOLL_INIT "RCCE_init_power"
#else
#define ATOLL_INIT "RCCE_init"
#endif
#ifdef GORY
#define ATOLL_GORY(name) __asm__(name "_gory")
#else
#define ATOLL_GORY(name)
#endif
#ifdef SINGLEBITFLAGS
#define ATOLL_FLAG_ALLOC __asm__("RCCE_flag_alloc_bit")
#else
#define ATOLL_FLAG_ALLOC
#endif

/* How many UEs the program has room for. */
__attribute__((weak)) const int atoll_rcce_maxnp = RCCE_MAXNP;

int RCCE_init(int *, char ***) __asm__(ATOLL_INIT);
int RCCE_finalize(void);
double RCCE_wtime(void);
int RCCE_ue(void);
int RCCE_num_ues(void);

t_vcharp RCCE_malloc(size_t);
t_vcharp RCCE_malloc_request(size_t, size_t *);
void RCCE_free(t_vcharp);
int RCCE_put(t_vcharp, t_vcharp, int, int) ATOLL_GORY("RCCE_put");
int RCCE_get(t_vcharp, t_vcharp, int, int) ATOLL_GORY("RCCE_get");
int RCCE_flag_alloc(RCCE_FLAG *) ATOLL_FLAG_ALLOC;
int RCCE_flag_free(RCCE_FLAG *);
int RCCE_flag_write(RCCE_FLAG *, RCCE_FLAG_STATUS, int) ATOLL_GORY("RCCE_flag_write");
int RCCE_flag_read(RCCE_FLAG, RCCE_FLAG_STATUS *, int);
int RCCE_wait_until(RCCE_FLAG, RCCE_FLAG_STATUS) ATOLL_GORY("RCCE_wait_until");
int RCCE_test_flag(RCCE_FLAG, RCCE_FLAG_STATUS, int *);

#ifdef GORY
int RCCE_send(char *, t_vcharp, size_t, RCCE_FLAG *, RCCE_FLAG *, size_t, int) ATOLL_GORY("RCCE_send");
int RCCE_recv(char *, t_vcharp, size_t, RCCE_FLAG *, RCCE_FLAG *, size_t, int) ATOLL_GORY("RCCE_recv");
int RCCE_recv_test(char *, t_vcharp, size_t, RCCE_FLAG *, RCCE_FLAG *, size_t, int, int *)
    ATOLL_GORY("RCCE_recv_test");
#else
int RCCE_send(char *, size_t, int);
int RCCE_recv(char *, size_t, int);
int RCCE_recv_test(char *, size_t, int, int *);
#endif
int RCCE_allreduce(char *, char *, int, int, int, RCCE_COMM);
int RCCE_reduce(char *, char *, int, int, int, int, RCCE_COMM);
int RCCE_bcast(char *, size_t, int, RCCE_COMM);

int RCCE_comm_split(int (*)(int, void *), void *, RCCE_COMM *);
int RCCE_comm_free(RCCE_COMM *);
int RCCE_comm_size(RCCE_COMM, int *);
int RCCE_comm_rank(RCCE_COMM, int *);
int RCCE_barrier(RCCE_COMM *);
void RCCE_fence(void);

int RCCE_acquire_lock(int);
int RCCE_try_lock(int);
int RCCE_release_lock(int);

t_vcharp RCCE_shmalloc(size_t);
void RCCE_shfree(t_vcharp);
void RCCE_shflush(void);
int RCCE_DCMflush(void);

int RCCE_error_string(int, char *, int *);
int RCCE_debug_set(int);
int RCCE_debug_unset(int);

extern RCCE_COMM RCCE_P_COMM;
int RCCE_power_domain(void);
int RCCE_power_domain_master(void);
int RCCE_power_domain_size(void);
int RCCE_iset_power(int, RCCE_REQUEST *, int *, int *);
int RCCE_wait_power(RCCE_REQUEST *);
int RCCE_set_frequency_divider(int, int *);

#ifdef __cplusplus
}
#endif

#endif
