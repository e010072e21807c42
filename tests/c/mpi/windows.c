/* test: cores=1,2,5,16,48 */
/* test: cores=5 options=-DDYNAMIC */
/* Windows: random accesses by every kind of synchronisation, with datatypes at both ends, against what they mean. */
#include "../check.h"
#include <mpi.h>
#include <string.h>

/* A part has SLOTS ints for each origin, which it alone puts to, and behind them SUMS that all add to. */
enum { SLOTS = 6, SUMS = 3, ROUNDS = 24, STEPS = 5 };

static unsigned seeds[64];

/* Every rank knows what every other one does: each has its own numbers. */
static int below(int of, int limit)
{
    seeds[of] = seeds[of] * 1664525 + 1013904223;
    return (seeds[of] >> 9) % limit;
}

static int me, ranks, length;
static int *part, *model;
static MPI_Win window;
static MPI_Aint bases[64];
static MPI_Datatype every_second;

static MPI_Aint at(int target, int index)
{
#ifdef DYNAMIC
    return MPI_Aint_add(bases[target], index * sizeof(int));
#else
    (void)target;
    return index;
#endif
}

/* One thing that `origin` does to `target`; the rank itself does it, all others know it. */
static void step(int origin, int target)
{
    int kind = below(origin, 6), slot = below(origin, SLOTS / 2), number = below(origin, 1000);
    int own = origin * SLOTS, sum = ranks * SLOTS + below(origin, SUMS), *there = model + target * length;
    int values[3] = {number, number + 1, number + 2}, strided[6] = {7, 7, 7, 7, 7, 7};
    switch (kind) {
    case 0:
        if (origin == me)
            EQUAL(MPI_Put(values, 3, MPI_INT, target, at(target, own + slot), 3, MPI_INT, window), MPI_SUCCESS);
        memcpy(there + own + slot, values, sizeof values);
        break;
    case 1:
        /* From ints that follow each other to every second one. */
        if (origin == me)
            EQUAL(MPI_Put(values, 3, MPI_INT, target, at(target, own), 1, every_second, window), MPI_SUCCESS);
        for (int value = 0; value < 3; value++)
            there[own + 2 * value] = values[value];
        break;
    case 2:
        if (origin == me)
            EQUAL(MPI_Accumulate(&number, 1, MPI_INT, target, at(target, sum), 1, MPI_INT, MPI_SUM, window),
                  MPI_SUCCESS);
        there[sum] += number;
        break;
    case 3:
        if (origin == me)
            EQUAL(MPI_Accumulate(values, 3, MPI_INT, target, at(target, own), 1, every_second, MPI_MAX, window),
                  MPI_SUCCESS);
        for (int value = 0; value < 3; value++)
            if (there[own + 2 * value] < values[value])
                there[own + 2 * value] = values[value];
        break;
    case 4:
        /* What is read is what this rank has put; it is complete with the epoch, which the caller ends. */
        if (origin == me) {
            static int got[6];
            EQUAL(MPI_Get(got, 1, every_second, target, at(target, own), 3, MPI_INT, window), MPI_SUCCESS);
        }
        break;
    default:
        if (origin == me)
            EQUAL(MPI_Accumulate(strided, 6, MPI_INT, target, at(target, own), 6, MPI_INT, MPI_REPLACE, window),
                  MPI_SUCCESS);
        memcpy(there + own, strided, sizeof strided);
    }
}

static void compare(int round)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int index = 0; index < length; index++)
        if (part[index] != model[me * length + index]) {
            printf("round %d: int %d of rank %d is %d, not %d\n", round, index, me, part[index],
                   model[me * length + index]);
            exit(1);
        }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void random_rounds(void)
{
    MPI_Group all, right, left;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    int next = (me + 1) % ranks, previous = (me + ranks - 1) % ranks;
    MPI_Group_incl(all, 1, &next, &right), MPI_Group_incl(all, 1, &previous, &left);
    for (int round = 0; round < ROUNDS; round++) {
        int how = round % 5;
        if (how == 0)
            MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
        if (how == 1)
            MPI_Win_post(left, 0, window), MPI_Win_start(right, 0, window);
        if (how == 4)
            MPI_Win_lock_all(0, window);
        for (int origin = 0; origin < ranks; origin++)
            for (int number = 0; number < STEPS; number++) {
                int target = how == 1 ? (origin + 1) % ranks : below(origin, ranks);
                int kind = how == 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
                if (origin == me && (how == 2 || how == 3))
                    MPI_Win_lock(kind, target, 0, window);
                step(origin, target);
                if (origin == me && how == 4 && number == 2)
                    MPI_Win_flush(target, window);
                if (origin == me && (how == 2 || how == 3))
                    MPI_Win_unlock(target, window);
            }
        if (how == 0)
            MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        if (how == 1)
            MPI_Win_complete(window), MPI_Win_wait(window);
        if (how == 4)
            MPI_Win_unlock_all(window);
        compare(round);
    }
    MPI_Group_free(&all), MPI_Group_free(&right), MPI_Group_free(&left);
}

/* What all add to is complete, and everybody has seen another number. */
static void atomics(void)
{
    int *seen = calloc(8 * ranks, sizeof *seen), *all = calloc(8 * ranks, sizeof *all), one = 1, last = ranks - 1;
    int place = ranks * SLOTS;
    if (me == last)
        part[place] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    for (int number = 0; number < 8; number++) {
        int old = -1;
        if (number % 2)
            MPI_Fetch_and_op(&one, &old, MPI_INT, last, at(last, place), MPI_SUM, window);
        else
            MPI_Get_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, last, at(last, place), 1, MPI_INT, MPI_SUM, window);
        MPI_Win_flush_local(last, window);
        CHECK(old >= 0 && old < 8 * ranks);
        seen[old]++;
    }
    MPI_Win_unlock_all(window);
    MPI_Allreduce(seen, all, 8 * ranks, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int number = 0; number < 8 * ranks; number++)
        EQUAL(all[number], 1);
    /* One of all gets the place, and the others see who. */
    int none = 8 * ranks, found = -1, wins;
    MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window);
    MPI_Compare_and_swap(&me, &none, &found, MPI_INT, last, at(last, place), window);
    MPI_Win_unlock(last, window);
    one = found == none;
    MPI_Allreduce(&one, &wins, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EQUAL(wins, 1);
    CHECK(found == none || (found >= 0 && found < ranks));
    free(seen), free(all);
}

/* Long transfers, and requests for them. */
static void long_ones(void)
{
    enum { LONG = 30000 };
    char *memory, *from = malloc(LONG), *back = malloc(LONG);
    int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    MPI_Win large;
    MPI_Request requests[2];
    EQUAL(MPI_Win_allocate(LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &large), MPI_SUCCESS);
    for (int byte = 0; byte < LONG; byte++)
        from[byte] = byte * 7 + me;
    MPI_Win_lock_all(0, large);
    MPI_Rput(from, LONG - 5, MPI_BYTE, right, 5, LONG - 5, MPI_BYTE, large, &requests[0]);
    MPI_Rget(back, LONG - 5, MPI_BYTE, right, 5, LONG - 5, MPI_BYTE, large, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(!memcmp(from, back, LONG - 5));
    MPI_Win_unlock_all(large);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int byte = 5; byte < LONG; byte++)
        EQUAL(memory[byte], (char)((byte - 5) * 7 + left));
    EQUAL(MPI_Win_free(&large), MPI_SUCCESS);
    CHECK(large == MPI_WIN_NULL);
    free(from), free(back);
}

/* All put long values to each other at once, at strides, and from one after the other at the same target; and where nothing is. */
static void long_and_strided(void)
{
    enum { VALUES = 3000 };
    int *memory, right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    int *values = malloc(VALUES * sizeof *values);
    MPI_Win large;
    MPI_Datatype strided;
    MPI_Type_vector(VALUES, 1, 2, MPI_INT, &strided), MPI_Type_commit(&strided);
    EQUAL(MPI_Win_allocate(2 * VALUES * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &large),
          MPI_SUCCESS);
    memset(memory, 0, 2 * VALUES * sizeof *memory);
    for (int value = 0; value < VALUES; value++)
        values[value] = value * 5 + me;
    MPI_Win_fence(0, large);
    MPI_Put(values, VALUES, MPI_INT, right, 1, 1, strided, large);
    /* What is added comes after what was put. */
    MPI_Win_fence(0, large);
    MPI_Accumulate(values, VALUES, MPI_INT, right, 0, 1, strided, MPI_SUM, large);
    MPI_Win_fence(0, large);
    for (int value = 0; value < VALUES; value++) {
        EQUAL(memory[2 * value], value * 5 + left);
        EQUAL(memory[2 * value + 1], value * 5 + left);
    }
    MPI_Win_fence(0, large);
    /* To one target from all. */
    int each = 2 * VALUES / ranks, count = each < VALUES ? each : VALUES;
    MPI_Put(values, count, MPI_INT, ranks - 1, me * each, count, MPI_INT, large);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, large);
    if (me == ranks - 1)
        for (int rank = 0; rank < ranks; rank++)
            for (int value = 0; value < count; value++)
                EQUAL(memory[rank * each + value], value * 5 + rank);
    MPI_Win_free(&large);
    EQUAL(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &large), MPI_SUCCESS);
    EQUAL(MPI_Win_set_errhandler(large, MPI_ERRORS_RETURN), MPI_SUCCESS);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, large);
    EQUAL(MPI_Put(values, VALUES, MPI_INT, right, 4096, VALUES, MPI_INT, large), MPI_SUCCESS);
    EQUAL(MPI_Win_unlock(right, large), MPI_ERR_RMA_RANGE);
    MPI_Win_free(&large);
    MPI_Type_free(&strided);
    free(values);
}

/* A target waits for accesses behind messages that it receives only then, of which there are as many as it keeps, or more. */
static void past_messages(int unreceived)
{
    enum { MOST = 40 };
    MPI_Request requests[MOST];
    long long sent[MOST], number = 0;
    MPI_Win word;
    MPI_Group all, peer;
    int other = 1 - me;
    if (ranks < 2)
        return;
    MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &word);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, me < 2, &other, &peer);
    if (me == 0) {
        for (int message = 0; message < unreceived; message++) {
            sent[message] = 100 + message;
            MPI_Isend(&sent[message], 1, MPI_LONG_LONG, 1, 7, MPI_COMM_WORLD, &requests[message]);
        }
        long long put = 5;
        MPI_Win_start(peer, 0, word);
        MPI_Put(&put, 1, MPI_LONG_LONG, 1, 0, 1, MPI_LONG_LONG, word);
        MPI_Win_complete(word);
        MPI_Waitall(unreceived, requests, MPI_STATUSES_IGNORE);
    } else if (me == 1) {
        MPI_Win_post(peer, 0, word);
        MPI_Win_wait(word);
        EQUAL(number, 5);
        for (int message = 0; message < unreceived; message++) {
            long long got = 0;
            MPI_Recv(&got, 1, MPI_LONG_LONG, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EQUAL(got, 100 + message);
        }
    }
    MPI_Group_free(&peer), MPI_Group_free(&all);
    MPI_Win_free(&word);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int rank = 0; rank < ranks; rank++)
        seeds[rank] = 77 + 13 * rank;
    length = ranks * SLOTS + SUMS;
    part = calloc(length, sizeof *part), model = calloc(ranks * length, sizeof *model);
    MPI_Type_vector(3, 1, 2, MPI_INT, &every_second), MPI_Type_commit(&every_second);
#ifdef DYNAMIC
    EQUAL(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window), MPI_SUCCESS);
    EQUAL(MPI_Win_attach(window, part, length * sizeof *part), MPI_SUCCESS);
    MPI_Aint base;
    MPI_Get_address(part, &base);
    MPI_Allgather(&base, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
#else
    EQUAL(MPI_Win_create(part, length * sizeof *part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &window),
          MPI_SUCCESS);
#endif
    random_rounds();
    atomics();
    long_ones();
    long_and_strided();
    past_messages(16), past_messages(40);
    MPI_Type_free(&every_second);
    EQUAL(MPI_Win_free(&window), MPI_SUCCESS);
    free(part), free(model);
    MPI_Finalize();
    return 0;
}
