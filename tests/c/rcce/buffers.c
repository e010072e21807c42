/* test: cores=1,2,5,16,48 options=-DGORY */
/* Memory of the MPBs, put and get, in the gory interface. */
#include "../check.h"
#include <RCCE.h>
#include <string.h>

static unsigned char bytes[8192], found[8192];

static void fill(int ue)
{
    for (int i = 0; i < 8192; i++)
        bytes[i] = 7 * ue + i;
}

int RCCE_APP(int argc, char **argv)
{
    CHECK(RCCE_malloc(32) == NULL);
    EQUAL(RCCE_init(&argc, &argv), RCCE_SUCCESS);
    int me = RCCE_ue(), size = RCCE_num_ues(), right = (me + 1) % size, left = (me + size - 1) % size;

    /* All that there is: 8000 bytes up to 96 UEs. */
    CHECK(RCCE_malloc(0) == NULL && RCCE_malloc(8001) == NULL && RCCE_malloc((size_t)-1) == NULL);
    t_vcharp all = RCCE_malloc(8000);
    CHECK(all && RCCE_malloc(32) == NULL);
    fill(me);
    EQUAL(RCCE_put(all, bytes, 8000, right), RCCE_SUCCESS);
    RCCE_barrier(&RCCE_COMM_WORLD);
    EQUAL(RCCE_get(found, all, 8000, me), RCCE_SUCCESS);
    fill(left);
    CHECK(memcmp(found, bytes, 8000) == 0);
    EQUAL(RCCE_get(found, all + 32, 64, left), RCCE_SUCCESS);
    fill((left + size - 1) % size);
    CHECK(memcmp(found, bytes + 32, 64) == 0);

    /* From MPB to MPB. */
    RCCE_barrier(&RCCE_COMM_WORLD);
    fill(me);
    EQUAL(RCCE_put(all, bytes, 64, me), RCCE_SUCCESS);
    EQUAL(RCCE_put(all + 1024, all, 64, right), RCCE_SUCCESS);
    RCCE_barrier(&RCCE_COMM_WORLD);
    EQUAL(RCCE_get(all + 2048, all + 1024, 64, me), RCCE_SUCCESS);
    EQUAL(RCCE_get(found, all + 2048, 64, me), RCCE_SUCCESS);
    fill(left);
    CHECK(memcmp(found, bytes, 64) == 0);

    /* Misuse. */
    EQUAL(RCCE_put(all, bytes, 33, me), RCCE_ERROR_MESSAGE_LENGTH);
    EQUAL(RCCE_get(found, all, -32, me), RCCE_ERROR_MESSAGE_LENGTH);
    EQUAL(RCCE_put(all + 4, bytes, 32, me), RCCE_ERROR_ALIGNMENT);
    EQUAL(RCCE_get(found, all + 1, 32, me), RCCE_ERROR_ALIGNMENT);
    EQUAL(RCCE_put(all, bytes, 32, size), RCCE_ERROR_ID);
    EQUAL(RCCE_get(found, all, 32, -1), RCCE_ERROR_ID);
    EQUAL(RCCE_put(bytes, all, 32, me), RCCE_ERROR_TARGET);
    EQUAL(RCCE_get(found, bytes, 32, me), RCCE_ERROR_SOURCE);
    EQUAL(RCCE_put(NULL, bytes, 32, me), RCCE_ERROR_TARGET);
    EQUAL(RCCE_put(all, NULL, 32, me), RCCE_ERROR_SOURCE);
    EQUAL(RCCE_put(all + 7968, bytes, 64, me), RCCE_ERROR_TARGET);
    EQUAL(RCCE_put(all, all, 32, me), RCCE_ERROR_DATA_OVERLAP);
    EQUAL(RCCE_get(all, all + 32, 64, me), RCCE_ERROR_DATA_OVERLAP);

    /* Freed memory, and what is allocated there next. */
    RCCE_free(all);
    EQUAL(RCCE_put(all, bytes, 32, me), RCCE_ERROR_TARGET);
    EQUAL(RCCE_get(found, all, 32, me), RCCE_ERROR_SOURCE);
    RCCE_free(all);
    RCCE_free(bytes);
    t_vcharp one = RCCE_malloc(1), two = RCCE_malloc(64);
    CHECK(one == all && two == all + 32);
    EQUAL(RCCE_put(one, bytes, 64, me), RCCE_SUCCESS);
    RCCE_free(one);
    EQUAL(RCCE_put(one, bytes, 64, me), RCCE_ERROR_TARGET);
    EQUAL(RCCE_put(two, bytes, 64, me), RCCE_SUCCESS);
    size_t chunk = 0;
    t_vcharp rest = RCCE_malloc_request(100000, &chunk);
    CHECK(rest && chunk % 32 == 0 && chunk >= 3000 && chunk <= 7904);
    CHECK(RCCE_malloc_request(32, NULL) == NULL);
    EQUAL(RCCE_finalize(), RCCE_SUCCESS);
    CHECK(RCCE_malloc(32) == NULL);
    EQUAL(RCCE_put(two, bytes, 64, me), RCCE_ERROR_COMM_UNDEFINED);
    return 0;
}
