/*
 * What `bench-host` measures (programs/src/host.rs), by MPI: the same operations in the same loops, on the same words, and
 * the same checks. Rank 0 prints samples as programs of Atoll do.
 *
 * usage: host BATCHES
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WARM_UP = 1, CALLS = 20, LONG_CALLS = 2, LONG_BYTES = 16384, BURST = 16 };
enum { BUDGET_NS = 200000000, LEAST_BATCHES = 3 };

static const size_t SIZES[] = {8, 1024, 65536};
static const size_t BURST_SIZES[] = {4096, 32768};

#define LEN(array) (sizeof(array) / sizeof(array)[0])

static int me, size, batches;

/* Whether windows are of memory that MPI allocates for them, which lets ranks of one host reach it by themselves. */
static int allocates = 1;

static MPI_Group world;

/* What calls use. */
static struct {
    uint64_t number;
    size_t words;
    uint64_t *send, *receive;
    MPI_Win window;
    uint64_t *part;
    MPI_Group peer;
} now;

static void insist(int is_right, const char *what) {
    if (!is_right) {
        fprintf(stderr, "rank %d: %s\n", me, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static uint64_t nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t *words(size_t count) {
    uint64_t *memory = calloc(count ? count : 1, sizeof *memory);
    insist(memory != NULL, "no memory");
    return memory;
}

static void fill(uint64_t *memory, size_t count, uint64_t value) {
    for (size_t index = 0; index < count; index++)
        memory[index] = value;
}

static MPI_Group group(int first, int last) {
    MPI_Group made;
    int range[1][3] = {{first, last, 1}};
    MPI_Group_range_incl(world, 1, range, &made);
    return made;
}

static int calls(size_t bytes) { return bytes >= LONG_BYTES ? LONG_CALLS : CALLS; }

/* Times batches of calls, and prints what a call took in each: `parts` of it are meant, or the bytes that it moved. */
static void measure(const char *operation, size_t bytes, int count, unsigned parts, size_t moved, void (*call)(uint64_t)) {
    uint64_t limit = nanoseconds() + BUDGET_NS;
    now.number = 0;
    if (me == 0)
        printf("@samples algorithm=%s ranks=%d param=0 bytes=%zu metric=%s unit=%s", operation, size, bytes,
               moved ? "throughput" : "latency", moved ? "kBps" : "ns");
    for (int batch = 0; batch < WARM_UP + batches; batch++) {
        int goes_on = batch < WARM_UP + LEAST_BATCHES || nanoseconds() < limit;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        if (!goes_on)
            break;
        uint64_t begin = nanoseconds();
        for (int turn = 0; turn < count; turn++)
            call(now.number++);
        uint64_t each = (nanoseconds() - begin) / (uint64_t)count;
        if (me == 0 && batch >= WARM_UP)
            printf(" %llu", (unsigned long long)(moved ? moved * 1000000u / (each ? each : 1) : each / parts));
    }
    if (me == 0) {
        printf("\n");
        fflush(stdout);
    }
}

static void barrier(uint64_t number) {
    (void)number;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void broadcast(uint64_t number) {
    int root = (int)(number % (uint64_t)size);
    if (me == root)
        fill(now.receive, now.words, number);
    MPI_Bcast(now.receive, (int)now.words, MPI_UINT64_T, root, MPI_COMM_WORLD);
    insist(now.receive[0] == number && now.receive[now.words - 1] == number, "a broadcast is wrong");
}

static void allreduce(uint64_t number) {
    uint64_t expected = number * (uint64_t)size + (uint64_t)size * (uint64_t)(size - 1) / 2;
    fill(now.send, now.words, number + (uint64_t)me);
    MPI_Allreduce(now.send, now.receive, (int)now.words, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    insist(now.receive[0] == expected && now.receive[now.words - 1] == expected, "a reduction is wrong");
}

static void serve(void) {
    MPI_Win_post(now.peer, 0, now.window);
    MPI_Win_wait(now.window);
}

static void epoch(uint64_t number) {
    (void)number;
    if (me == 0) {
        MPI_Win_start(now.peer, 0, now.window);
        MPI_Win_complete(now.window);
    } else {
        serve();
    }
}

static void put(int target, size_t place, int count) {
    MPI_Win_start(now.peer, 0, now.window);
    for (int turn = 0; turn < count; turn++)
        MPI_Put(now.send, (int)now.words, MPI_UINT64_T, target, (MPI_Aint)(place + (size_t)turn * now.words), (int)now.words,
                MPI_UINT64_T, now.window);
    MPI_Win_complete(now.window);
}

static void put_to_and_fro(uint64_t number) {
    for (int turn = 0; me < 2 && turn < 2; turn++) {
        if (turn == me) {
            fill(now.send, now.words, number);
            put(1 - me, 0, 1);
        } else {
            serve();
        }
    }
}

static void burst(uint64_t number) {
    (void)number;
    if (me == 0)
        put(1, 0, BURST);
    else if (me == 1)
        serve();
}

/* A window with so many words of each rank, and who is on the other side of its epochs. */
static void open_window(size_t part, MPI_Group peer) {
    MPI_Aint bytes = (MPI_Aint)(part * sizeof(uint64_t));
    if (allocates) {
        MPI_Win_allocate(bytes, sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &now.part, &now.window);
    } else {
        MPI_Alloc_mem(bytes ? bytes : 1, MPI_INFO_NULL, &now.part);
        MPI_Win_create(now.part, bytes, sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &now.window);
    }
    now.peer = peer;
}

static void close_window(void) {
    MPI_Win_free(&now.window);
    MPI_Group_free(&now.peer);
    if (!allocates)
        MPI_Free_mem(now.part);
}

/* MPICH 4.0.2 as Debian 12 has it may lose what is put to a window that it has allocated. Then there is no such window. */
static void choose_windows(void) {
    now.words = 1;
    now.send = words(1);
    open_window(1, me == 0 ? group(1, 1) : group(0, 0));
    put_to_and_fro(1);
    int is_right = me > 1 || now.part[0] == 1;
    close_window();
    free(now.send);
    MPI_Allreduce(&is_right, &allocates, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (me == 0)
        printf("windows are %s\n", allocates ? "allocated by MPI" : "of memory of ours: MPI loses puts to those that it allocates");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    batches = argc == 2 ? atoi(argv[1]) : 0;
    insist(batches > 0 && size > 1, "usage: host BATCHES, on two ranks or more");

    choose_windows();
    measure("barrier", 0, CALLS, 1, 0, barrier);
    for (size_t index = 0; index < LEN(SIZES); index++) {
        size_t bytes = SIZES[index];
        now.words = bytes / sizeof(uint64_t);
        now.send = words(now.words);
        now.receive = words(now.words);
        measure("broadcast", bytes, calls(bytes), 1, 0, broadcast);
        measure("allreduce", bytes, calls(bytes), 1, 0, allreduce);
        free(now.send);
        free(now.receive);
    }

    open_window(1, me == 0 ? group(1, size - 1) : group(0, 0));
    measure("pscw", 0, CALLS, 1, 0, epoch);
    close_window();

    for (size_t index = 0; index < LEN(SIZES); index++) {
        size_t bytes = SIZES[index];
        now.words = bytes / sizeof(uint64_t);
        now.send = words(now.words);
        open_window(now.words, me == 0 ? group(1, 1) : group(0, 0));
        measure("put", bytes, calls(bytes), 2, 0, put_to_and_fro);
        uint64_t last = now.number - 1;
        insist(me > 1 || (now.part[0] == last && now.part[now.words - 1] == last), "a put is wrong");
        close_window();
        free(now.send);
    }

    for (size_t index = 0; index < LEN(BURST_SIZES); index++) {
        size_t bytes = BURST_SIZES[index];
        now.words = bytes / sizeof(uint64_t);
        now.send = words(now.words);
        fill(now.send, now.words, bytes);
        open_window(me == 1 ? BURST * now.words : 0, me == 0 ? group(1, 1) : group(0, 0));
        measure("put", bytes, LONG_CALLS, 1, BURST * bytes, burst);
        insist(me != 1 || (now.part[0] == bytes && now.part[BURST * now.words - 1] == bytes), "a burst is wrong");
        close_window();
        free(now.send);
    }

    MPI_Group_free(&world);
    MPI_Finalize();
    return 0;
}
