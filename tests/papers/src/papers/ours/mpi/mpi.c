/*
 * What `bench-mpi` measures (programs/src/mpi), through C's MPI: the same messages and operations in the same loops, and what only
 * MPI has, puts and gets by each kind of synchronisation. Rank 0 prints samples as programs of Atoll do.
 *
 * usage: mpi REPETITIONS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 2, BURST = 16, MOST = 65536 };

static const size_t SIZES[] = {8, 1024, MOST}, BLOCKS[] = {8, 1024};

static int me, size, last, repetitions;
static char sent[MOST], received[MOST], *part;
static MPI_Win window;
static MPI_Group peer;

static void insist(int is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "rank %d: %s\n", me, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* What each turn took, in nanoseconds, and what two looks at the clock take of it, in seconds. */
static double *took, looks;

static void time_looks(void)
{
    for (int turn = 0; turn < WARM_UP + 1; turn++) {
        double begin = MPI_Wtime();
        looks = MPI_Wtime() - begin;
    }
}

static void show(const char *metric, size_t bytes, const char *unit, double (*value)(double, size_t))
{
    if (me > 0)
        return;
    printf("@samples algorithm=c ranks=%d param=%d bytes=%zu metric=%s unit=%s", size, size, bytes, metric, unit);
    for (int turn = 0; turn < repetitions; turn++)
        printf(" %.0f", value(took[turn], bytes));
    printf("\n");
    fflush(stdout);
}

static double whole(double ns, size_t bytes) { return (void)bytes, ns; }
static double half(double ns, size_t bytes) { return (void)bytes, ns / 2; }
static double part_of_burst(double ns, size_t bytes) { return (void)bytes, ns / BURST; }
static double kilobytes_per_second(double ns, size_t bytes) { return bytes * BURST * 1e6 / ns; }

/* Times turns of a call on this rank. */
static void repeat(void (*call)(size_t), size_t bytes, int synchronises)
{
    for (int turn = -WARM_UP; turn < repetitions; turn++) {
        if (synchronises)
            MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        call(bytes);
        if (turn >= 0)
            took[turn] = (MPI_Wtime() - begin - looks) * 1e9;
    }
}

static void there_and_back(size_t bytes)
{
    if (me == 0)
        MPI_Send(sent, bytes, MPI_BYTE, last, 1, MPI_COMM_WORLD);
    MPI_Recv(received, bytes, MPI_BYTE, last - me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == last)
        MPI_Send(sent, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
}

static void burst(size_t bytes)
{
    for (int message = 0; message < BURST; message++)
        if (me == 0)
            MPI_Send(sent, bytes, MPI_BYTE, last, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(received, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 0)
        MPI_Recv(received, 1, MPI_BYTE, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(sent, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
}

static void messages(void)
{
    for (size_t at = 0; at < sizeof SIZES / sizeof *SIZES; at++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (me > 0 && me < last)
            continue;
        memset(sent, me + 1, MOST), memset(received, 0, MOST);
        repeat(there_and_back, SIZES[at], 0);
        for (size_t byte = 0; byte < SIZES[at]; byte++)
            insist(received[byte] == last - me + 1, "a message has come with other bytes than were sent");
        show("latency", SIZES[at], "ns", half);
        repeat(burst, SIZES[at], 0);
        show("each-of-a-burst", SIZES[at], "ns", part_of_burst);
        show("bandwidth", SIZES[at], "kBps", kilobytes_per_second);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static int is_get;

static void access_last(size_t bytes)
{
    if (is_get)
        MPI_Get(received, bytes, MPI_BYTE, last, 0, bytes, MPI_BYTE, window);
    else
        MPI_Put(sent, bytes, MPI_BYTE, last, 0, bytes, MPI_BYTE, window);
}

static void by_fence(size_t bytes)
{
    if (me == 0)
        access_last(bytes);
    MPI_Win_fence(0, window);
}

static void by_post(size_t bytes)
{
    if (me == 0) {
        MPI_Win_start(peer, 0, window);
        access_last(bytes);
        MPI_Win_complete(window);
    } else if (me == last) {
        MPI_Win_post(peer, 0, window);
        MPI_Win_wait(window);
    }
}

static void by_lock(size_t bytes)
{
    MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window);
    access_last(bytes);
    MPI_Win_unlock(last, window);
}

static void by_flush(size_t bytes)
{
    access_last(bytes);
    MPI_Win_flush(last, window);
}

/* Each way moves a byte of its own: what is put, or what is in the window to be got. */
static char byte_of(int way) { return 3 + 4 * is_get + way; }

static void begin_way(int way)
{
    memset(sent, is_get ? 0 : byte_of(way), MOST), memset(received, 0, MOST);
    if (me == last) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, window);
        memset(part, is_get ? byte_of(way) : 0, MOST);
        MPI_Win_unlock(last, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_way(int way, size_t bytes)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t byte = 0; byte < bytes; byte++) {
        insist(me != last || part[byte] == byte_of(way), "something else is in the window than was put");
        insist(!is_get || me > 0 || received[byte] == byte_of(way), "something else was got than is in the window");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void windows(void)
{
    static const char *METRICS[2][4] = {{"put-fence", "put-post", "put-lock", "put-flush"},
                                        {"get-fence", "get-post", "get-lock", "get-flush"}};
    MPI_Group all;
    int other = last - me;
    MPI_Win_allocate(MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, me == 0 || me == last, &other, &peer);
    for (is_get = 0; is_get < 2; is_get++)
        for (size_t at = 0; at < sizeof SIZES / sizeof *SIZES; at++) {
            size_t bytes = SIZES[at];
            begin_way(0);
            MPI_Win_fence(0, window);
            repeat(by_fence, bytes, 0);
            show(METRICS[is_get][0], bytes, "ns", whole);
            MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
            check_way(0, bytes);
            begin_way(1);
            repeat(by_post, bytes, 1);
            show(METRICS[is_get][1], bytes, "ns", whole);
            check_way(1, bytes);
            begin_way(2);
            if (me == 0) {
                repeat(by_lock, bytes, 0);
                show(METRICS[is_get][2], bytes, "ns", whole);
            }
            check_way(2, bytes);
            begin_way(3);
            if (me == 0) {
                MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window);
                repeat(by_flush, bytes, 0);
                show(METRICS[is_get][3], bytes, "ns", whole);
                MPI_Win_unlock(last, window);
            }
            check_way(3, bytes);
        }
    MPI_Group_free(&peer), MPI_Group_free(&all);
    MPI_Win_free(&window);
}

static char *own, *all_of_them;

static void barrier(size_t bytes) { (void)bytes, MPI_Barrier(MPI_COMM_WORLD); }
static void broadcast(size_t bytes) { MPI_Bcast(sent, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void reduce(size_t bytes) { MPI_Reduce(sent, received, bytes / 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); }
static void allreduce(size_t bytes) { MPI_Allreduce(sent, received, bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }

static void allgather(size_t bytes)
{
    MPI_Allgather(own, bytes, MPI_BYTE, all_of_them, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(size_t bytes)
{
    MPI_Alltoall(own, bytes, MPI_BYTE, all_of_them, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void operations(void)
{
    static const struct {
        const char *metric;
        void (*call)(size_t);
    } ALL[] = {{"barrier", barrier},     {"broadcast", broadcast}, {"reduce", reduce},
               {"allreduce", allreduce}, {"allgather", allgather}, {"alltoall", alltoall}};
    own = calloc(size, MOST / 64), all_of_them = calloc(size, MOST / 64);
    insist(own != NULL && all_of_them != NULL, "no memory");
    for (size_t at = 0; at < sizeof BLOCKS / sizeof *BLOCKS; at++)
        for (size_t number = 0; number < sizeof ALL / sizeof *ALL; number++) {
            repeat(ALL[number].call, BLOCKS[at], 1);
            show(ALL[number].metric, BLOCKS[at], "ns", whole);
        }
    free(own), free(all_of_them);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &size);
    last = size - 1, repetitions = argc > 1 ? atoi(argv[1]) : 0;
    insist(size > 1 && repetitions > 0, "usage: mpi REPETITIONS, on two ranks at least");
    took = calloc(repetitions, sizeof *took);
    insist(took != NULL, "no memory");
    time_looks();
    messages();
    windows();
    operations();
    free(took);
    MPI_Finalize();
    return 0;
}
