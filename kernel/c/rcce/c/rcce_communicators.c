/* RCCE: communicators, and what their members do together. */

#define ATOLL_RCCE_LIBRARY
#include <RCCE.h>
#include <RCCE_lib.h>
#include <atoll/rcce.h>

RCCE_COMM RCCE_COMM_WORLD;
RCCE_COMM RCCE_P_COMM;

static int result(int code)
{
    return atoll_rcce_result(ATOLL_COMM, code);
}

/* Members with each colour are known to all, since colours are computed. */
int RCCE_comm_split(int (*color)(int, void *), void *aux, RCCE_COMM *comm)
{
    uint32_t flags, most = 0;
    if (!comm || !color || RCCE_NP == 0)
        return result(22);
    int *colors = malloc(RCCE_NP * sizeof(int)), *members = malloc(RCCE_NP * sizeof(int));
    if (!colors || !members) {
        free(colors), free(members);
        return result(25);
    }
    for (int ue = 0; ue < RCCE_NP; ue++)
        colors[ue] = color(ue, aux);
    for (int ue = 0; ue < RCCE_NP; ue++) {
        uint32_t size = 0;
        for (int other = 0; other < RCCE_NP; other++)
            size += colors[other] == colors[ue];
        most = size > most ? size : most;
    }
    *comm = (RCCE_COMM){.member = members};
    for (int ue = 0; ue < RCCE_NP; ue++) {
        if (ue == RCCE_IAM)
            comm->my_rank = comm->size;
        if (colors[ue] == colors[RCCE_IAM])
            members[comm->size++] = ue;
    }
    free(colors);
    int code = ATOLL(new_barrier, most, &flags);
    if (code) {
        free(members);
        return result(code);
    }
    comm->initialized = ATOLL_INITIALIZED;
    comm->gather.line_address = comm->release.line_address = atoll_rcce_pointer(flags);
    comm->gather.flag_addr = comm->release.flag_addr = comm->gather.line_address;
    return RCCE_SUCCESS;
}

int RCCE_comm_free(RCCE_COMM *comm)
{
    if (!comm || comm->initialized != ATOLL_INITIALIZED || comm->member == RCCE_COMM_WORLD.member)
        return result(22);
    int code = ATOLL(free_barrier, atoll_rcce_place(comm->gather.line_address));
    free(comm->member);
    *comm = (RCCE_COMM){0};
    return result(code);
}

int RCCE_comm_size(RCCE_COMM comm, int *size)
{
    if (comm.initialized != ATOLL_INITIALIZED)
        return result(22);
    if (!size)
        return result(13);
    *size = comm.size;
    return RCCE_SUCCESS;
}

int RCCE_comm_rank(RCCE_COMM comm, int *rank)
{
    if (comm.initialized != ATOLL_INITIALIZED)
        return result(22);
    if (!rank)
        return result(13);
    *rank = comm.my_rank;
    return RCCE_SUCCESS;
}

static struct atoll_rcce_members members(const RCCE_COMM *comm)
{
    return (struct atoll_rcce_members){.ranks = comm->member, .count = comm->size, .place = comm->my_rank};
}

int RCCE_barrier(RCCE_COMM *comm)
{
    if (!comm || comm->initialized != ATOLL_INITIALIZED)
        return result(22);
    struct atoll_rcce_members of = members(comm);
    int flags = comm->size == RCCE_NP ? 0 : atoll_rcce_place(comm->gather.line_address);
    return result(ATOLL(barrier, &of, flags));
}

void RCCE_fence(void)
{
    ATOLL(fence);
}

int RCCE_bcast(char *buf, size_t size, int root, RCCE_COMM comm)
{
    if (comm.initialized != ATOLL_INITIALIZED)
        return result(22);
    if (!buf && size)
        return result(2);
    if (atoll_rcce_is_too_long(size))
        return result(4);
    struct atoll_rcce_members of = members(&comm);
    return result(ATOLL(broadcast, &of, buf, size, root));
}

static int reduce(char *in, char *out, int num, int type, int op, int root, const RCCE_COMM *comm)
{
    if (comm->initialized != ATOLL_INITIALIZED)
        return result(22);
    if (!in && num > 0)
        return result(2);
    if (!out && num > 0 && (root < 0 || root == comm->my_rank))
        return result(1);
    struct atoll_rcce_members of = members(comm);
    return result(ATOLL(reduce, &of, in, out, num, type - RCCE_TYPE_BASE, op - RCCE_OP_BASE, root));
}

int RCCE_reduce(char *in, char *out, int num, int type, int op, int root, RCCE_COMM comm)
{
    return root < 0 ? result(3) : reduce(in, out, num, type, op, root, &comm);
}

int RCCE_allreduce(char *in, char *out, int num, int type, int op, RCCE_COMM comm)
{
    return reduce(in, out, num, type, op, -1, &comm);
}
