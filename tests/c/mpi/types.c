/* test: cores=1,2,5 */
/* Datatypes: random ones against typemaps that are written out, byte by byte; what is known of them; and what is refused. */
#include "../check.h"
#include <mpi.h>
#include <string.h>

enum { MOST = 4000, ROUNDS = 300 };

/* Places of the bytes of a value, in order, and its bounds. */
struct map {
    int count;
    MPI_Aint lower, upper;
    short places[MOST];
};

static unsigned seed = 7;

static int below(int limit)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 9) % limit;
}

static void add(struct map *all, const struct map *one, MPI_Aint at)
{
    for (int byte = 0; byte < one->count && all->count < MOST; byte++)
        all->places[all->count++] = one->places[byte] + at;
    if (all->lower > one->lower + at)
        all->lower = one->lower + at;
    if (all->upper < one->upper + at)
        all->upper = one->upper + at;
}

/* A random type of bytes and resized types, whose bounds need no padding, and its map. */
static MPI_Datatype random_type(struct map *map, int depth)
{
    MPI_Datatype type;
    map->count = 0;
    if (depth == 0) {
        int size = 1 + below(5);
        MPI_Type_contiguous(size, MPI_BYTE, &type);
        for (int byte = 0; byte < size; byte++)
            map->places[map->count++] = byte;
        map->lower = 0, map->upper = size;
        return type;
    }
    struct map *inner = malloc(sizeof *inner), *other = malloc(sizeof *other);
    MPI_Datatype of = random_type(inner, depth - 1), with;
    MPI_Aint extent = inner->upper - inner->lower;
    map->lower = 1 << 20, map->upper = -(1 << 20);
    int count = 1 + below(3), length = 1 + below(3), lengths[3], places[3];
    MPI_Aint bytes[3];
    for (int block = 0; block < count; block++) {
        lengths[block] = 1 + below(2), places[block] = below(7);
        bytes[block] = below(60);
    }
    switch (below(6)) {
    case 0: {
        int stride = below(6) - 2;
        EQUAL(MPI_Type_vector(count, length, stride, of, &type), MPI_SUCCESS);
        for (int block = 0; block < count; block++)
            for (int value = 0; value < length; value++)
                add(map, inner, (block * stride + value) * extent);
        break;
    }
    case 1: {
        MPI_Aint stride = below(80) - 20;
        EQUAL(MPI_Type_create_hvector(count, length, stride, of, &type), MPI_SUCCESS);
        for (int block = 0; block < count; block++)
            for (int value = 0; value < length; value++)
                add(map, inner, block * stride + value * extent);
        break;
    }
    case 2:
        EQUAL(MPI_Type_indexed(count, lengths, places, of, &type), MPI_SUCCESS);
        for (int block = 0; block < count; block++)
            for (int value = 0; value < lengths[block]; value++)
                add(map, inner, (places[block] + value) * extent);
        break;
    case 3:
        EQUAL(MPI_Type_create_hindexed_block(count, length, bytes, of, &type), MPI_SUCCESS);
        for (int block = 0; block < count; block++)
            for (int value = 0; value < length; value++)
                add(map, inner, bytes[block] + value * extent);
        break;
    case 4: {
        with = random_type(other, depth - 1);
        MPI_Datatype types[3] = {of, with, of};
        EQUAL(MPI_Type_create_struct(count, lengths, bytes, types, &type), MPI_SUCCESS);
        for (int block = 0; block < count; block++)
            for (int value = 0; value < lengths[block]; value++)
                add(map, block == 1 ? other : inner,
                    bytes[block] + value * (block == 1 ? other->upper - other->lower : extent));
        MPI_Type_free(&with);
        break;
    }
    default:
        /* Rows are the last dimension. */
        EQUAL(MPI_Type_create_subarray(2, (int[]){3, 4}, (int[]){2, 2}, (int[]){1, 1}, MPI_ORDER_C, of, &type),
              MPI_SUCCESS);
        for (int row = 1; row < 3; row++)
            for (int column = 1; column < 3; column++)
                add(map, inner, (4 * row + column) * extent);
        map->lower = 0, map->upper = 12 * extent;
    }
    MPI_Type_free(&of);
    free(inner), free(other);
    /* All bounds are set, as those of the array of a subarray are. */
    with = type;
    EQUAL(MPI_Type_create_resized(with, map->lower, map->upper - map->lower, &type), MPI_SUCCESS);
    MPI_Type_free(&with);
    return type;
}

static unsigned char memory[1 << 16], copy[1 << 16], should_be[1 << 16], packed[2 * MOST], wanted[2 * MOST];

static void check_random(int me, int ranks)
{
    struct map *map = malloc(sizeof *map);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Datatype type = random_type(map, 1 + round % 2);
        EQUAL(MPI_Type_commit(&type), MPI_SUCCESS);
        int size, position = 0, count;
        MPI_Aint lower, extent;
        MPI_Type_size(type, &size), MPI_Type_get_extent(type, &lower, &extent);
        EQUAL(size, map->count);
        EQUAL(lower, map->lower);
        EQUAL(extent, map->upper - map->lower);
        unsigned char *base = memory + sizeof memory / 2, *other = copy + sizeof memory / 2;
        for (size_t byte = 0; byte < sizeof memory; byte++)
            memory[byte] = below(256);
        for (int byte = 0; byte < 2 * size; byte++)
            wanted[byte] = base[map->places[byte % size] + byte / size * extent];
        EQUAL(MPI_Pack(base, 2, type, packed, sizeof packed, &position, MPI_COMM_WORLD), MPI_SUCCESS);
        EQUAL(position, 2 * size);
        CHECK(!memcmp(packed, wanted, position));
        position = 0;
        memset(copy, 0xA5, sizeof copy);
        EQUAL(MPI_Unpack(packed, 2 * size, &position, other, 2, type, MPI_COMM_WORLD), MPI_SUCCESS);
        int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
        if (round % 10 == 0) {
            /* The same by a message; all ranks have the same random numbers. */
            MPI_Status status;
            memset(copy, 0xA5, sizeof copy);
            MPI_Sendrecv(base, 2, type, right, 1, other, 2, type, left, 1, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, type, &count);
            EQUAL(count, 2);
            MPI_Get_elements(&status, type, &count);
            EQUAL(count, 2 * size);
        }
        /* What was unpacked is where it belongs, and nothing else has changed. */
        memset(should_be, 0xA5, sizeof copy);
        for (int byte = 0; byte < 2 * size; byte++)
            should_be[other + map->places[byte % size] + byte / size * extent - copy] = wanted[byte];
        CHECK(!memcmp(copy, should_be, sizeof copy));
        MPI_Type_free(&type);
        CHECK(type == MPI_DATATYPE_NULL);
    }
    free(map);
}

static int copies, deletions;

static int copied(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    (void)type, (void)key;
    copies += *(int *)extra;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int deleted(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void check_what_is_known(void)
{
    struct {
        short value;
        int index;
    } pairs[2];
    MPI_Aint lower, extent;
    int size, counts[3], combiner, flag, length, key, extra = 5;
    MPI_Type_get_extent(MPI_SHORT_INT, &lower, &extent), MPI_Type_size(MPI_SHORT_INT, &size);
    EQUAL(extent, sizeof pairs[0]);
    EQUAL(size, sizeof(short) + sizeof(int));
    MPI_Type_size(MPI_LONG, &size); EQUAL(size, sizeof(long));
    MPI_Type_size(MPI_LONG_DOUBLE, &size); EQUAL(size, sizeof(long double));
    MPI_Type_size(MPI_AINT, &size); EQUAL(size, sizeof(MPI_Aint));
    MPI_Type_size(MPI_WCHAR, &size); EQUAL(size, sizeof(wchar_t));

    MPI_Datatype type, twin, inner[1];
    MPI_Aint addresses[2], stride = 24;
    EQUAL(MPI_Type_create_hvector(3, 2, stride, MPI_INT, &type), MPI_SUCCESS);
    MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner);
    EQUAL(combiner, MPI_COMBINER_HVECTOR);
    EQUAL(counts[0] * 100 + counts[1] * 10 + counts[2], 211);
    EQUAL(MPI_Type_get_contents(type, 2, 1, 1, counts, addresses, inner), MPI_SUCCESS);
    CHECK(counts[0] == 3 && counts[1] == 2 && addresses[0] == stride && inner[0] == MPI_INT);
    MPI_Type_get_envelope(MPI_INT, &counts[0], &counts[1], &counts[2], &combiner);
    EQUAL(combiner, MPI_COMBINER_NAMED);

    char name[MPI_MAX_OBJECT_NAME];
    /* Of names that mean the same the first one of the standard. */
    MPI_Type_get_name(MPI_LONG_LONG, name, &length);
    CHECK(strcmp(name, "MPI_LONG_LONG_INT") == 0);
    MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, name, &length);
    CHECK(strcmp(name, "MPI_C_COMPLEX") == 0);
    MPI_Type_get_name(MPI_DOUBLE, name, &length);
    CHECK(!strcmp(name, "MPI_DOUBLE") && length == 10);
    MPI_Type_get_name(type, name, &length); EQUAL(length, 0);
    MPI_Type_set_name(type, "rows"), MPI_Type_get_name(type, name, &length);
    CHECK(!strcmp(name, "rows"));

    EQUAL(MPI_Type_create_keyval(copied, deleted, &key, &extra), MPI_SUCCESS);
    char *value = "attached", *found;
    MPI_Type_set_attr(type, key, value);
    EQUAL(MPI_Type_dup(type, &twin), MPI_SUCCESS);
    MPI_Type_get_attr(twin, key, &found, &flag);
    CHECK(flag && found == value + 1 && copies == 5);
    MPI_Type_delete_attr(twin, key), MPI_Type_get_attr(twin, key, &found, &flag);
    CHECK(!flag && deletions == 1);
    MPI_Type_free(&type); EQUAL(deletions, 2);
    MPI_Type_free(&twin), MPI_Type_free_keyval(&key);
    EQUAL(key, MPI_KEYVAL_INVALID);

    EQUAL(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type), MPI_SUCCESS);
    CHECK(type == MPI_REAL8);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type);
    CHECK(type == MPI_DOUBLE_INT);

    /* More than an int counts, and less than a machine has addresses for. */
    MPI_Count large;
    EQUAL(MPI_Type_contiguous_c(3000000000LL, MPI_DOUBLE, &type), MPI_SUCCESS);
    MPI_Type_size_c(type, &large); EQUAL(large, 24000000000LL);
    MPI_Type_size(type, &size); EQUAL(size, MPI_UNDEFINED);
    MPI_Type_free(&type);
}

/* The bytes of external32 are those of the standard, on every machine. */
static void check_external(void)
{
    struct {
        char letter;
        long number;
        double half;
        long double third;
        short last;
    } values = {'a', -2, 0.5, -1.0L, 258}, back = {0};
    MPI_Datatype type, types[] = {MPI_CHAR, MPI_LONG, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_SHORT};
    int lengths[] = {1, 1, 1, 1, 1};
    MPI_Aint places[] = {0, (char *)&values.number - (char *)&values, (char *)&values.half - (char *)&values,
                         (char *)&values.third - (char *)&values, (char *)&values.last - (char *)&values};
    const unsigned char expected[31] = {'a', 0xFF, 0xFF, 0xFF, 0xFE, 0x3F, 0xE0, 0, 0, 0, 0, 0, 0, 0xBF, 0xFF,
                                        0,   0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 1, 2};
    MPI_Type_create_struct(5, lengths, places, types, &type), MPI_Type_commit(&type);
    MPI_Aint size, position = 0;
    EQUAL(MPI_Pack_external_size("external32", 1, type, &size), MPI_SUCCESS);
    EQUAL(size, sizeof expected);
    EQUAL(MPI_Pack_external("external32", &values, 1, type, packed, sizeof packed, &position), MPI_SUCCESS);
    EQUAL(position, sizeof expected);
    CHECK(!memcmp(packed, expected, sizeof expected));
    position = 0;
    EQUAL(MPI_Unpack_external("external32", packed, size, &position, &back, 1, type), MPI_SUCCESS);
    CHECK(back.letter == 'a' && back.number == -2 && back.half == 0.5 && back.third == -1 && back.last == 258);
    MPI_Type_free(&type);
}

static void check_misuse(void)
{
    MPI_Datatype type;
    int size, position = 0, integers[1], value = 0;
    MPI_Aint addresses[1];
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    EQUAL(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    EQUAL(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
    EQUAL(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
    EQUAL(MPI_Type_indexed(2, NULL, NULL, MPI_INT, &type), MPI_ERR_ARG);
    EQUAL(MPI_Type_create_subarray(1, (int[]){3}, (int[]){2}, (int[]){2}, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    EQUAL(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type), MPI_ERR_ARG);
    type = MPI_INT;
    EQUAL(MPI_Type_free(&type), MPI_ERR_TYPE);
    EQUAL(MPI_Type_get_contents(MPI_INT, 1, 1, 1, integers, addresses, &type), MPI_ERR_TYPE);
    EQUAL(MPI_Type_contiguous(2, MPI_INT, &type), MPI_SUCCESS);
    EQUAL(MPI_Type_get_contents(type, 0, 0, 1, integers, addresses, &type), MPI_ERR_ARG);
    EQUAL(MPI_Pack(&value, 1, type, &value, 4, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
    EQUAL(MPI_Pack(&value, 2, MPI_INT, &value, 4, &position, MPI_COMM_SELF), MPI_ERR_TRUNCATE);
    EQUAL(MPI_Pack(NULL, 1, MPI_INT, packed, 4, &position, MPI_COMM_SELF), MPI_ERR_BUFFER);
    EQUAL(MPI_Pack_external("native", &value, 1, MPI_INT, packed, 4, addresses), MPI_ERR_UNSUPPORTED_DATAREP);
    EQUAL(MPI_Type_get_attr(type, 77, &value, &size), MPI_ERR_KEYVAL);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    int me, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_random(me, ranks);
    check_what_is_known();
    check_external();
    check_misuse();
    MPI_Finalize();
    return 0;
}
