/* test: cores=1,2,5,16 */
/* Groups, communicators, intercommunicators, attributes, infos, topologies and their neighbours. */
#include "../check.h"
#include <mpi.h>
#include <string.h>

static int me, size;

static void groups(void)
{
    MPI_Group all, evens, odds, both, none;
    int result, ranks[64], translated[64];
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    int range[1][3] = {{size - 1 - (size - 1) % 2, 0, -2}};
    MPI_Group_range_incl(all, 1, range, &evens);
    MPI_Group_difference(all, evens, &odds);
    MPI_Group_union(odds, evens, &both);
    MPI_Group_compare(all, both, &result);
    EQUAL(result, size == 1 ? MPI_IDENT : MPI_SIMILAR);
    MPI_Group_intersection(odds, evens, &none);
    CHECK(none == MPI_GROUP_EMPTY);
    MPI_Group_size(evens, &result);
    EQUAL(result, (size + 1) / 2);
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    MPI_Group_translate_ranks(all, size, ranks, evens, translated);
    for (int i = 0; i < size; i++)
        EQUAL(translated[i], i % 2 ? MPI_UNDEFINED : (size - 1 - i) / 2);
    /* A communicator of these, made by all, and one made by those alone. */
    MPI_Comm made, alone = MPI_COMM_NULL;
    MPI_Comm_create(MPI_COMM_WORLD, evens, &made);
    if (me % 2 == 0)
        MPI_Comm_create_group(MPI_COMM_WORLD, evens, 5, &alone);
    CHECK((made != MPI_COMM_NULL) == (me % 2 == 0));
    if (made != MPI_COMM_NULL) {
        int rank, sum, one = 1;
        MPI_Comm_rank(alone, &rank);
        EQUAL(rank, translated[me]);
        MPI_Comm_compare(made, alone, &result);
        EQUAL(result, MPI_CONGRUENT);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, alone);
        EQUAL(sum, (size + 1) / 2);
        MPI_Comm_free(&made);
        MPI_Comm_free(&alone);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&evens);
    MPI_Group_free(&odds);
    MPI_Group_free(&both);
    CHECK(all == MPI_GROUP_NULL);
}

static int copies, deletions;

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *copied, int *flag)
{
    (void)comm, (void)key;
    copies += *(int *)extra;
    *(void **)copied = (char *)value + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value;
    deletions += *(int *)extra;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    int key, one = 1, flag;
    char text[] = "ab", *found, name[MPI_MAX_OBJECT_NAME];
    MPI_Comm comm, dup;
    MPI_Comm_create_keyval(copy, delete, &key, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_get_attr(comm, key, &found, &flag);
    EQUAL(flag, 0);
    MPI_Comm_set_attr(comm, key, text);
    MPI_Comm_dup(comm, &dup);
    EQUAL(copies, 1);
    MPI_Comm_get_attr(dup, key, &found, &flag);
    CHECK(flag && *found == 'b');
    MPI_Comm_set_attr(dup, key, text);
    EQUAL(deletions, 1);
    MPI_Comm_free_keyval(&key);
    EQUAL(key, MPI_KEYVAL_INVALID);
    MPI_Comm_free(&dup);
    EQUAL(deletions, 2);
    MPI_Comm_set_name(comm, "mine");
    MPI_Comm_get_name(comm, name, &flag);
    CHECK(flag == 4 && strcmp(name, "mine") == 0);
    /* Bytes that are no UTF-8, and more of them than there is room for. */
    MPI_Comm_set_name(comm, "gr\374n");
    MPI_Comm_get_name(comm, name, &flag);
    CHECK(flag == 4 && strcmp(name, "gr\374n") == 0);
    char longer[2 * MPI_MAX_OBJECT_NAME] = {0};
    memset(longer, 'x', sizeof longer - 1);
    MPI_Comm_set_name(comm, longer);
    MPI_Comm_get_name(comm, name, &flag);
    CHECK(flag == MPI_MAX_OBJECT_NAME - 1 && strlen(name) == (size_t)flag);
    MPI_Comm_free(&comm);
    EQUAL(deletions, 3);
    int *universe;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
    CHECK(flag && *universe == size);
}

/* Rank 0's function fails for its second value. */
static int copy_one(MPI_Comm comm, int key, void *extra, void *value, void *copied, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(void **)copied = value;
    *flag = 1;
    return value == &deletions && me == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int fails = 1;

static int delete_later(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* Where a function of one rank's fails, no copy is made at any rank. A communicator that it does not let go stays there alone. */
static void failing_functions(void)
{
    int keys[2], one = 1, flag, number;
    MPI_Comm comm, dup;
    MPI_Request request;
    void *found;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++)
        MPI_Comm_create_keyval(copy_one, delete, &keys[i], &one);
    MPI_Comm_set_attr(comm, keys[0], &copies);
    MPI_Comm_set_attr(comm, keys[1], &deletions);
    /* More often than there are communicators. */
    for (int i = 0; i < 2100 / size; i++) {
        deletions = 0;
        dup = comm;
        EQUAL(MPI_Comm_dup(comm, &dup), MPI_ERR_OTHER);
        CHECK(dup == MPI_COMM_NULL);
        EQUAL(deletions, me == 0 ? 1 : 2);
    }
    number = MPI_Comm_idup(comm, &dup, &request);
    EQUAL(me == 0 ? number : MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    MPI_Comm_delete_attr(comm, keys[1]);
    EQUAL(MPI_Comm_dup(comm, &dup), MPI_SUCCESS);
    MPI_Comm_free(&dup);
    /* A value stays that is not to be deleted yet. */
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_later, &keys[1], NULL);
    MPI_Comm_set_attr(comm, keys[1], &one);
    EQUAL(MPI_Comm_set_attr(comm, keys[1], &flag), MPI_ERR_OTHER);
    MPI_Comm_get_attr(comm, keys[1], &found, &flag);
    CHECK(flag && found == &one);
    fails = 0;
    MPI_Comm_set_attr(comm, keys[1], &number);
    MPI_Comm_get_attr(comm, keys[1], &found, &flag);
    CHECK(flag && found == &number);
    fails = me == 0;
    EQUAL(MPI_Comm_free(&comm), me == 0 ? MPI_ERR_OTHER : MPI_SUCCESS);
    EQUAL(comm != MPI_COMM_NULL, me == 0);
    fails = 0;
    if (me == 0)
        EQUAL(MPI_Comm_free(&comm), MPI_SUCCESS);
}

/* Ranks free communicators in any order, and while a message is still to come on one; so they do not wait there. */
static void free_waits_for_nobody(void)
{
    MPI_Comm both[2], last;
    MPI_Request request;
    int got = 0, next = (me + 1) % size, previous = (me + size - 1) % size;
    MPI_Comm_dup(MPI_COMM_WORLD, &both[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &both[1]);
    MPI_Comm_dup(MPI_COMM_WORLD, &last);
    MPI_Comm_free(&both[me % 2]);
    MPI_Comm_free(&both[1 - me % 2]);
    MPI_Irecv(&got, 1, MPI_INT, previous, 1, last, &request);
    if (me % 2 == 0) {
        MPI_Send(&me, 1, MPI_INT, next, 1, last);
        MPI_Comm_free(&last);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(&me, 1, MPI_INT, next, 1, last);
        MPI_Comm_free(&last);
    }
    EQUAL(got, previous);
}

/* A key that was freed is in use while a value of it is attached, and no longer. */
static void freed_keys(void)
{
    int key, again, one = 1, flag;
    void *found;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &key, &one);
    MPI_Comm_set_attr(comm, key, &one);
    again = key;
    MPI_Comm_free_keyval(&key);
    EQUAL(key, MPI_KEYVAL_INVALID);
    key = again;
    EQUAL(MPI_Comm_free_keyval(&key), MPI_SUCCESS);
    EQUAL(MPI_Comm_get_attr(comm, again, &found, &flag), MPI_SUCCESS);
    CHECK(flag && found == &one);
    deletions = 0;
    EQUAL(MPI_Comm_delete_attr(comm, again), MPI_SUCCESS);
    EQUAL(deletions, 1);
    EQUAL(MPI_Comm_get_attr(comm, again, &found, &flag), MPI_ERR_KEYVAL);
    MPI_Comm_free(&comm);
}

static void infos(void)
{
    MPI_Info info, dup;
    char value[MPI_MAX_INFO_VAL + 1];
    int flag, count, room = 3;
    MPI_Info_create(&info);
    MPI_Info_set(info, "first", "one");
    MPI_Info_set(info, "second", "two");
    MPI_Info_set(info, "first", "three");
    MPI_Info_dup(info, &dup);
    MPI_Info_delete(info, "second");
    MPI_Info_get_nkeys(info, &count);
    EQUAL(count, 1);
    MPI_Info_get_nthkey(dup, 1, value);
    CHECK(strcmp(value, "second") == 0);
    MPI_Info_get_string(dup, "first", &room, value, &flag);
    CHECK(flag && room == 6 && strcmp(value, "th") == 0);
    MPI_Info_get_string(info, "second", &room, value, &flag);
    EQUAL(flag, 0);
    MPI_Info_get(dup, "first", 3, value, &flag);
    CHECK(flag && strcmp(value, "thr") == 0);
    MPI_Info_get_valuelen(dup, "first", &count, &flag);
    CHECK(flag && count == 5);
    MPI_Info_get_valuelen(info, "second", &count, &flag);
    EQUAL(flag, 0);
    MPI_Info_free(&info);
    MPI_Info_free(&dup);
    CHECK(info == MPI_INFO_NULL);
}

/* The lower half and the upper one: messages, operations, merging. */
static void between_groups(void)
{
    if (size < 2)
        return;
    MPI_Comm half, between, merged, copy;
    int lower = me < size / 2, rank, remote, flag, sum;
    MPI_Comm_split(MPI_COMM_WORLD, lower, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, lower ? size / 2 : 0, 17, &between);
    MPI_Comm_test_inter(between, &flag);
    EQUAL(flag, 1);
    MPI_Comm_dup(between, &copy);
    MPI_Comm_free(&between);
    MPI_Comm_rank(copy, &rank);
    MPI_Comm_remote_size(copy, &remote);
    EQUAL(remote, lower ? size - size / 2 : size / 2);
    /* Rank 0 of each side hears of all of the other one. */
    MPI_Request request;
    MPI_Isend(&me, 1, MPI_INT, 0, 3, copy, &request);
    for (int i = 0; rank == 0 && i < remote; i++) {
        int heard;
        MPI_Recv(&heard, 1, MPI_INT, i, 3, copy, MPI_STATUS_IGNORE);
        EQUAL(heard, lower ? size / 2 + i : i);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int expected = 0, all[size];
    for (int i = 0; i < size; i++)
        expected += (i < size / 2) != lower ? i : 0;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, copy);
    EQUAL(sum, expected);
    MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, copy);
    for (int i = 0; i < remote; i++)
        EQUAL(all[i], lower ? size / 2 + i : i);
    int told = 40 + lower, root = lower ? rank == 0 ? MPI_ROOT : MPI_PROC_NULL : 0;
    MPI_Bcast(&told, 1, MPI_INT, root, copy);
    EQUAL(told, 41);
    MPI_Gather(&me, 1, MPI_INT, all, 1, MPI_INT, root, copy);
    for (int i = 0; root == MPI_ROOT && i < remote; i++)
        EQUAL(all[i], size / 2 + i);
    sum = -1;
    MPI_Reduce(&me, &sum, 1, MPI_INT, MPI_SUM, root, copy);
    EQUAL(sum, root == MPI_ROOT ? expected : -1);
    /* Each rank gets as many sums as the other group has ranks. */
    int counts[size], sums[size], operands[size * size];
    for (int i = 0; i < size; i++)
        counts[i] = remote;
    for (int i = 0; i < (size - remote) * remote; i++)
        operands[i] = me + i;
    MPI_Reduce_scatter(operands, sums, counts, MPI_INT, MPI_SUM, copy);
    for (int i = 0; i < remote; i++)
        EQUAL(sums[i], expected + remote * (rank * remote + i));
    MPI_Barrier(copy);
    MPI_Intercomm_merge(copy, lower, &merged);
    MPI_Comm_rank(merged, &rank);
    EQUAL(rank, lower ? size - size / 2 + me : me - size / 2);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
}

/* By hardware: of SCC's cores two are on a tile, and all reach the same memory. */
static void by_hardware(void)
{
    char what[MPI_MAX_INFO_VAL] = "";
    int found, members = 0, own = me / 2 * 2 + 1 < size ? 2 : 1;
    MPI_Comm part;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part);
    CHECK((part == MPI_COMM_NULL) == (size <= 2));
    MPI_Info_get(info, "mpi_hw_resource_type", sizeof what - 1, what, &found);
    EQUAL(found, size > 2);
    if (part != MPI_COMM_NULL) {
        MPI_Comm_size(part, &members);
        EQUAL(members, own);
        MPI_Comm_free(&part);
    }
    const char *kinds[] = {"tile", "mpi_shared_memory", "something"};
    int sizes[] = {own, size, 0};
    for (int kind = 0; kind < 3; kind++) {
        MPI_Info_set(info, "mpi_hw_resource_type", kinds[kind]);
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &part);
        EQUAL(part == MPI_COMM_NULL, kind == 2);
        if (part != MPI_COMM_NULL) {
            MPI_Comm_size(part, &members);
            EQUAL(members, sizes[kind]);
            MPI_Comm_free(&part);
        }
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &part);
    CHECK(part == MPI_COMM_NULL);
    MPI_Info_free(&info);
}

static void grids(void)
{
    int lengths[2] = {0, 0}, rings[2] = {1, 0}, places[2], rank, source, destination;
    MPI_Comm grid, row;
    MPI_Dims_create(size, 2, lengths);
    EQUAL(lengths[0] * lengths[1], size);
    CHECK(lengths[0] >= lengths[1]);
    MPI_Cart_create(MPI_COMM_WORLD, 2, lengths, rings, 1, &grid);
    MPI_Cart_coords(grid, me, 2, places);
    MPI_Cart_rank(grid, places, &rank);
    EQUAL(rank, me);
    MPI_Cart_shift(grid, 1, 1, &source, &destination);
    EQUAL(destination, places[1] + 1 < lengths[1] ? me + 1 : MPI_PROC_NULL);
    EQUAL(source, places[1] > 0 ? me - 1 : MPI_PROC_NULL);
    /* What goes up comes from below, even where both are the same rank. */
    int sent[4], received[4] = {-1, -1, -1, -1}, near[4];
    for (int i = 0; i < 4; i++)
        sent[i] = 10 * me + i;
    MPI_Cart_shift(grid, 0, 1, &near[0], &near[1]);
    MPI_Cart_shift(grid, 1, 1, &near[2], &near[3]);
    MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, grid);
    for (int i = 0; i < 4; i++)
        EQUAL(received[i], near[i] == MPI_PROC_NULL ? -1 : 10 * near[i] + (i ^ 1));
    int keeps[2] = {0, 1}, in_row;
    MPI_Cart_sub(grid, keeps, &row);
    MPI_Comm_rank(row, &in_row);
    EQUAL(in_row, places[1]);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
    /* A ring that each rank knows its own edges of, with weights. */
    int left = (me + size - 1) % size, right = (me + 1) % size, in = 3, out = 4, degrees[2], weighted, kind;
    MPI_Comm ring;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &in, 1, &right, &out, MPI_INFO_NULL, 0, &ring);
    MPI_Topo_test(ring, &kind);
    EQUAL(kind, MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(ring, &degrees[0], &degrees[1], &weighted);
    CHECK(degrees[0] == 1 && degrees[1] == 1 && weighted);
    int heard = -1;
    MPI_Neighbor_allgather(&me, 1, MPI_INT, &heard, 1, MPI_INT, ring);
    EQUAL(heard, left);
    MPI_Comm_free(&ring);
    int degree = 1;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &left, &degree, &me, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    MPI_Neighbor_allgather(&me, 1, MPI_INT, &heard, 1, MPI_INT, ring);
    EQUAL(heard, left);
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    EQUAL(provided, MPI_THREAD_FUNNELED);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    groups();
    attributes();
    failing_functions();
    free_waits_for_nobody();
    freed_keys();
    infos();
    between_groups();
    by_hardware();
    grids();
    /* Numbers of communicators are used again. */
    for (int i = 0; i < 100; i++) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, i % 3 ? 0 : me, 0, &comm);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
