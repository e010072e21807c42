/* RCCE: beginning and end, and what has nothing to do with UEs. */

#define ATOLL_RCCE_LIBRARY
#include <RCCE.h>
#include <RCCE_lib.h>
#include <atoll/rcce.h>

static int result(int code)
{
    return atoll_rcce_result(ATOLL_COMM, code);
}

static int init(int gory, int power)
{
    int ranks = atoll_services->ranks(atoll_context);
    if (ranks > atoll_rcce_maxnp) {
        char line[160];
        snprintf(line, sizeof line, "RCCE_init: there are %d UEs and the program has room for %d; compile it with -D RCCE_MAXNP=%d",
                 ranks, atoll_rcce_maxnp, ranks);
        ATOLL(say, line);
        return result(6);
    }
    /* Not after RCCE_finalize. */
    int code = ATOLL(init, gory);
    if (code || RCCE_COMM_WORLD.initialized == ATOLL_INITIALIZED)
        return result(code);
    RCCE_NP = ranks;
    RCCE_IAM = RC_MY_COREID = atoll_services->rank(atoll_context);
    for (int ue = 0; ue < ranks && ue < RCCE_MAXNP; ue++)
        RC_COREID[ue] = ue;
    RCCE_COMM_WORLD = (RCCE_COMM){.size = RCCE_NP, .my_rank = RCCE_IAM, .initialized = ATOLL_INITIALIZED};
    RCCE_COMM_WORLD.member = malloc(RCCE_NP * sizeof(int));
    if (!RCCE_COMM_WORLD.member)
        return result(25);
    for (int ue = 0; ue < RCCE_NP; ue++)
        RCCE_COMM_WORLD.member[ue] = ue;
    return power ? atoll_rcce_power_init() : RCCE_SUCCESS;
}

/* The header calls the one that belongs to how the program is compiled. */
int RCCE_init_gory(int *argc, char ***argv);
int RCCE_init_power(int *argc, char ***argv);
int RCCE_init_gory_power(int *argc, char ***argv);

int RCCE_init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return init(0, 0);
}

int RCCE_init_gory(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return init(1, 0);
}

int RCCE_init_power(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return init(0, 1);
}

int RCCE_init_gory_power(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return init(1, 1);
}

int RCCE_finalize(void)
{
    return result(ATOLL(finalize));
}

int RCCE_qsort(char *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    qsort(base, count, size, compare);
    return RCCE_SUCCESS;
}

int id_compare(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}
