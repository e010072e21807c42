/* test: cores=1,2,5,16,48 */
/* Copies of communicators while the program goes on, several at a time, and in another order at each rank; generalised requests;
 * what a status is made to say; buffers of communicators; errors that are removed. */
#include "../check.h"
#include <limits.h>
#include <mpi.h>

static int me, ranks;

static int not_copied(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copy, (void)flag;
    return MPI_ERR_OTHER;
}

static int copied(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(void **)copy = (char *)value + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static void check_alike(MPI_Comm comm, MPI_Comm of)
{
    int result, size, rank, sum = 0;
    MPI_Comm_compare(comm, of, &result);
    EQUAL(result, comm == of ? MPI_IDENT : MPI_CONGRUENT);
    MPI_Comm_size(comm, &size), MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    EQUAL(sum, size * (size - 1) / 2);
}

enum { PARENTS = 4, COPIES = 3 };

/* Ranks name the parents in different orders; each parent's own copies are in the same order everywhere. */
static void copies(void)
{
    MPI_Comm parents[PARENTS], made[PARENTS][COPIES];
    MPI_Request requests[PARENTS * COPIES];
    int key, flag, values[2];
    void *value;
    parents[0] = MPI_COMM_WORLD, parents[1] = MPI_COMM_SELF;
    MPI_Comm_dup(MPI_COMM_WORLD, &parents[2]);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &parents[3]);
    MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(parents[2], key, values);
    for (int number = 0; number < PARENTS; number++) {
        int parent = (number + me) % PARENTS;
        for (int copy = 0; copy < COPIES; copy++)
            EQUAL(MPI_Comm_idup(parents[parent], &made[parent][copy], &requests[parent * COPIES + copy]), MPI_SUCCESS);
    }
    /* What is attached is copied when that is begun. */
    MPI_Comm_delete_attr(parents[2], key);
    /* Another one is made meanwhile, of some of the same ranks. */
    MPI_Comm between;
    MPI_Comm_split(MPI_COMM_WORLD, me < ranks / 2, 0, &between);
    check_alike(between, between);
    MPI_Comm_free(&between);
    MPI_Waitall(PARENTS * COPIES, requests, MPI_STATUSES_IGNORE);
    for (int parent = 0; parent < PARENTS; parent++)
        for (int copy = 0; copy < COPIES; copy++) {
            check_alike(made[parent][copy], parents[parent]);
            MPI_Comm_get_attr(made[parent][copy], key, &value, &flag);
            EQUAL(flag, parent == 2);
            if (flag)
                EQUAL((char *)value - (char *)values, 1);
        }
    /* None is another one's: what is sent on one is not received on another. */
    for (int parent = 0; parent < PARENTS; parent++)
        for (int copy = 0; copy < COPIES; copy++) {
            int size, rank, got = -1;
            MPI_Comm_size(made[parent][copy], &size), MPI_Comm_rank(made[parent][copy], &rank);
            MPI_Irecv(&got, 1, MPI_INT, (rank + 1) % size, 3, made[parent][copy], &requests[0]);
            int sent = parent * COPIES + copy;
            MPI_Send(&sent, 1, MPI_INT, (rank + size - 1) % size, 3, made[parent][copy]);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            EQUAL(got, sent);
        }
    /* Freed while something is under way on it. */
    MPI_Comm last;
    MPI_Comm_dup(parents[2], &last);
    MPI_Comm_idup(last, &between, &requests[0]);
    int one = 1, all = 0;
    MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, last, &requests[1]);
    MPI_Comm_free(&last);
    MPI_Comm_dup(MPI_COMM_WORLD, &last);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EQUAL(all, ranks);
    check_alike(between, last);
    MPI_Comm_free(&between), MPI_Comm_free(&last);
    for (int parent = 0; parent < PARENTS; parent++)
        for (int copy = 0; copy < COPIES; copy++)
            EQUAL(MPI_Comm_disconnect(&made[parent][copy]), MPI_SUCCESS);
    MPI_Comm_free(&parents[2]), MPI_Comm_free(&parents[3]);
    MPI_Comm_free_keyval(&key);
}

static void failed_copy(void)
{
    int key;
    MPI_Comm comm, made = MPI_COMM_WORLD;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(not_copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    EQUAL(MPI_Comm_idup(comm, &made, &request), MPI_ERR_OTHER);
    EQUAL(made == MPI_COMM_NULL, 1);
    MPI_Comm_free_keyval(&key), MPI_Comm_free(&comm);
}

static void copies_of_intercommunicators(void)
{
    if (ranks < 2)
        return;
    MPI_Comm half, inter, copy;
    MPI_Request request;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 5, &inter);
    EQUAL(MPI_Comm_idup_with_info(inter, MPI_INFO_NULL, &copy, &request), MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int flag, size, sum = 0, one = 1;
    MPI_Comm_test_inter(copy, &flag);
    EQUAL(flag, 1);
    MPI_Comm_remote_size(copy, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
    EQUAL(sum, size);
    MPI_Comm_free(&copy), MPI_Comm_free(&inter), MPI_Comm_free(&half);
}

struct general {
    int asked, freed, cancelled, done_then, code;
};

static int query(void *extra, MPI_Status *status)
{
    struct general *general = extra;
    general->asked++;
    MPI_Status_set_elements(status, MPI_INT, 7);
    MPI_Status_set_cancelled(status, general->cancelled);
    status->MPI_SOURCE = 3, status->MPI_TAG = 4;
    return general->code;
}

static int freed(void *extra)
{
    ((struct general *)extra)->freed++;
    return MPI_SUCCESS;
}

static int cancelled(void *extra, int done)
{
    struct general *general = extra;
    general->cancelled++, general->done_then = done;
    return MPI_SUCCESS;
}

static void general_requests(void)
{
    struct general all[5] = {{0}, {0}, {0}, {0}, {.code = MPI_ERR_OTHER}};
    MPI_Request requests[6];
    MPI_Status statuses[6], status;
    int flag, count, index, value = 0;
    for (int number = 0; number < 5; number++)
        EQUAL(MPI_Grequest_start(query, freed, cancelled, &all[number], &requests[number]), MPI_SUCCESS);
    MPI_Test(&requests[0], &flag, &status);
    EQUAL(flag, 0);
    MPI_Request copy = requests[0];
    MPI_Grequest_complete(requests[0]);
    MPI_Request_get_status(requests[0], &flag, &status);
    EQUAL(flag, 1);
    EQUAL(all[0].asked, 1);
    EQUAL(all[0].freed, 0);
    MPI_Wait(&requests[0], &status);
    CHECK(requests[0] == MPI_REQUEST_NULL && copy != requests[0]);
    EQUAL(all[0].asked, 2);
    EQUAL(all[0].freed, 1);
    EQUAL(status.MPI_SOURCE, 3);
    EQUAL(status.MPI_TAG, 4);
    MPI_Get_elements(&status, MPI_INT, &count);
    EQUAL(count, 7);
    /* Freed by the program before it is done. */
    copy = requests[1];
    MPI_Request_free(&requests[1]);
    EQUAL(all[1].freed, 0);
    MPI_Grequest_complete(copy);
    EQUAL(all[1].freed, 1);
    EQUAL(all[1].asked, 0);
    /* Cancelled, and among others. */
    MPI_Cancel(&requests[2]);
    EQUAL(all[2].cancelled, 1);
    EQUAL(all[2].done_then, 0);
    MPI_Irecv(&value, 1, MPI_INT, me, 9, MPI_COMM_WORLD, &requests[5]);
    MPI_Grequest_complete(requests[2]);
    MPI_Waitany(6, requests, &index, &status);
    EQUAL(index, 2);
    EQUAL(all[2].freed, 1);
    MPI_Test_cancelled(&status, &flag);
    EQUAL(flag, 1);
    MPI_Send(&me, 1, MPI_INT, me, 9, MPI_COMM_WORLD);
    MPI_Grequest_complete(requests[3]);
    int left[6], number, most = 0;
    while (most < 2) {
        MPI_Waitsome(6, requests, &number, left, statuses);
        most += number;
    }
    EQUAL(value, me);
    EQUAL(all[3].freed, 1);
    /* One that fails. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Grequest_complete(requests[4]);
    EQUAL(MPI_Waitall(6, requests, statuses), MPI_ERR_IN_STATUS);
    EQUAL(statuses[4].MPI_ERROR, MPI_ERR_OTHER);
    EQUAL(statuses[0].MPI_ERROR, MPI_SUCCESS);
    EQUAL(all[4].freed, 1);
    EQUAL(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void statuses(void)
{
    MPI_Status status;
    MPI_Datatype pair, types[2] = {MPI_INT, MPI_DOUBLE};
    int lengths[2] = {1, 2}, count;
    MPI_Aint places[2] = {0, 8};
    MPI_Count large;
    MPI_Type_create_struct(2, lengths, places, types, &pair);
    MPI_Type_commit(&pair);
    for (int number = 0; number < 10; number++) {
        EQUAL(MPI_Status_set_elements(&status, pair, number), MPI_SUCCESS);
        MPI_Get_elements(&status, pair, &count);
        EQUAL(count, number);
        MPI_Get_count(&status, pair, &count);
        EQUAL(count, number % 3 ? MPI_UNDEFINED : number / 3);
        MPI_Get_count(&status, MPI_BYTE, &count);
        EQUAL(count, number / 3 * 20 + (number % 3 > 0 ? 4 : 0) + (number % 3 > 1 ? 8 : 0));
    }
    EQUAL(MPI_Status_set_elements_x(&status, MPI_INT, (MPI_Count)1 << 33), MPI_SUCCESS);
    MPI_Get_elements_x(&status, MPI_INT, &large);
    CHECK(large == (MPI_Count)1 << 33);
    MPI_Get_elements(&status, MPI_INT, &count);
    EQUAL(count, MPI_UNDEFINED);
    MPI_Type_free(&pair);
    /* Of more values than one could count. */
    MPI_Type_contiguous(INT_MAX, MPI_SHORT, &pair);
    EQUAL(MPI_Status_set_elements_x(&status, pair, 5), MPI_SUCCESS);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EQUAL(count, 10);
    EQUAL(MPI_Status_set_elements_x(&status, pair, INT_MAX), MPI_SUCCESS);
    MPI_Get_count(&status, pair, &count);
    EQUAL(count, 1);
    MPI_Type_free(&pair);
}

static void buffers(void)
{
    static char room[2 * MPI_BSEND_OVERHEAD + 64];
    MPI_Comm comm;
    MPI_Request request;
    void *address;
    int value = -1, bytes, next = (me + 1) % ranks, previous = (me + ranks - 1) % ranks;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    EQUAL(MPI_Bsend(&me, 1, MPI_INT, next, 1, comm), MPI_ERR_BUFFER);
    EQUAL(MPI_Comm_attach_buffer(comm, room, sizeof room), MPI_SUCCESS);
    EQUAL(MPI_Comm_attach_buffer(comm, room, sizeof room), MPI_ERR_BUFFER);
    EQUAL(MPI_Bsend(&me, 1, MPI_INT, next, 1, comm), MPI_SUCCESS);
    EQUAL(MPI_Comm_iflush_buffer(comm, &request), MPI_SUCCESS);
    MPI_Recv(&value, 1, MPI_INT, previous, 1, comm, MPI_STATUS_IGNORE);
    EQUAL(value, previous);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EQUAL(MPI_Comm_flush_buffer(comm), MPI_SUCCESS);
    EQUAL(MPI_Comm_detach_buffer(comm, &address, &bytes), MPI_SUCCESS);
    CHECK(address == (void *)room && bytes == sizeof room);
    EQUAL(MPI_Comm_detach_buffer(comm, &address, &bytes), MPI_ERR_BUFFER);
    EQUAL(MPI_Buffer_iflush(&request), MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
}

static void errors(void)
{
    int class, code, found, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Add_error_class(&class), MPI_Add_error_code(class, &code);
    EQUAL(MPI_Remove_error_class(code), MPI_ERR_ARG);
    EQUAL(MPI_Remove_error_code(class), MPI_ERR_ARG);
    EQUAL(MPI_Remove_error_class(class), MPI_ERR_OTHER);
    MPI_Add_error_string(code, "too warm");
    EQUAL(MPI_Remove_error_string(code), MPI_SUCCESS);
    EQUAL(MPI_Remove_error_string(code), MPI_ERR_ARG);
    EQUAL(MPI_Error_string(code, text, &length), MPI_SUCCESS);
    EQUAL(length, 0);
    EQUAL(MPI_Remove_error_code(code), MPI_SUCCESS);
    EQUAL(MPI_Remove_error_class(class), MPI_SUCCESS);
    EQUAL(MPI_Error_class(code, &found), MPI_ERR_ARG);
    EQUAL(MPI_Remove_error_code(code), MPI_ERR_ARG);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* A receive that was freed, as its communicator was, keeps the number of that: it gets no message of another one. */
static void freed_receive(void)
{
    enum { LIMIT = 2048 };
    static int nothing;
    MPI_Comm freed, other;
    MPI_Request request;
    if (me > 0)
        return;
    MPI_Comm_dup(MPI_COMM_SELF, &freed);
    MPI_Irecv(&nothing, 1, MPI_INT, 0, 5, freed, &request);
    MPI_Request_free(&request);
    MPI_Comm_free(&freed);
    for (int number = 1; number < LIMIT; number++) {
        int found;
        MPI_Comm_dup(MPI_COMM_SELF, &other);
        MPI_Send(&number, 1, MPI_INT, 0, 5, other);
        MPI_Iprobe(0, 5, other, &found, MPI_STATUS_IGNORE);
        EQUAL(found, 1);
        MPI_Recv(&found, 1, MPI_INT, 0, 5, other, MPI_STATUS_IGNORE);
        EQUAL(found, number);
        MPI_Comm_free(&other);
    }
    EQUAL(nothing, 0);
}

/* One number of a communicator is left, and two agreements want it: they end, and one at most has it. */
static void last_number(void)
{
    enum { LIMIT = 2048 };
    static MPI_Comm taken[LIMIT];
    MPI_Comm other, made[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
    MPI_Request requests[2];
    int count = 0;
    if (ranks > 5)
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm both[] = {MPI_COMM_WORLD, other};
    for (int comm = 0; comm < 2; comm++)
        MPI_Comm_set_errhandler(both[comm], MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (count < LIMIT && MPI_Comm_dup(MPI_COMM_SELF, &taken[count]) == MPI_SUCCESS)
        count++;
    EQUAL(count < LIMIT, 1);
    MPI_Comm_free(&taken[--count]);
    for (int comm = 0; comm < 2; comm++) {
        int which = (comm + me) % 2;
        EQUAL(MPI_Comm_idup(both[which], &made[which], &requests[which]), MPI_SUCCESS);
    }
    int had = 0;
    for (int comm = 0; comm < 2; comm++) {
        int error = MPI_Wait(&requests[comm], MPI_STATUS_IGNORE);
        EQUAL(error == MPI_SUCCESS || error == MPI_ERR_OTHER, 1);
        had += error == MPI_SUCCESS;
        EQUAL(error == MPI_SUCCESS, made[comm] != MPI_COMM_NULL);
    }
    EQUAL(had < 2, 1);
    for (int comm = 0; comm < 2; comm++)
        if (made[comm] != MPI_COMM_NULL)
            MPI_Comm_free(&made[comm]);
    while (count > 0)
        MPI_Comm_free(&taken[--count]);
    MPI_Comm_free(&other);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    copies();
    copies_of_intercommunicators();
    failed_copy();
    freed_receive();
    last_number();
    general_requests();
    statuses();
    buffers();
    errors();
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
    MPI_Finalize();
    return 0;
}
