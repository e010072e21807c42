/* test: cores=1 */
/* Operators: what C computes with its own types, and functions of the program's. */
#include "../check.h"
#include <complex.h>
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <string.h>

enum { COUNT = 5 };

/* An operator on a type against an expression of C. */
#define COMBINE(type, handle, op, expression, ...)                                                                     \
    do {                                                                                                               \
        type in[COUNT] = {__VA_ARGS__}, out[COUNT];                                                                    \
        /* What the machine computes, not the compiler, and not with the bits that registers have more. */             \
        volatile type wanted[COUNT];                                                                                   \
        for (int at = 0; at < COUNT; at++) {                                                                           \
            volatile type a = in[at], b = in[(at + 2) % COUNT];                                                        \
            out[at] = b;                                                                                               \
            wanted[at] = expression;                                                                                   \
        }                                                                                                              \
        EQUAL(MPI_Reduce_local(in, out, COUNT, handle, op), MPI_SUCCESS);                                              \
        for (int at = 0; at < COUNT; at++)                                                                             \
            CHECK(out[at] == wanted[at]);                                                                              \
    } while (0)

#define NUMBERS(type, handle, ...)                                                                                     \
    COMBINE(type, handle, MPI_SUM, a + b, __VA_ARGS__);                                                                \
    COMBINE(type, handle, MPI_PROD, a *b, __VA_ARGS__);                                                                \
    COMBINE(type, handle, MPI_MIN, a < b ? a : b, __VA_ARGS__);                                                        \
    COMBINE(type, handle, MPI_MAX, a > b ? a : b, __VA_ARGS__)

#define INTEGERS(type, handle, ...)                                                                                    \
    NUMBERS(type, handle, __VA_ARGS__);                                                                                \
    COMBINE(type, handle, MPI_LAND, a &&b, __VA_ARGS__);                                                               \
    COMBINE(type, handle, MPI_LOR, a || b, __VA_ARGS__);                                                               \
    COMBINE(type, handle, MPI_LXOR, !a != !b, __VA_ARGS__);                                                            \
    COMBINE(type, handle, MPI_BAND, a &b, __VA_ARGS__);                                                                \
    COMBINE(type, handle, MPI_BOR, a | b, __VA_ARGS__);                                                                \
    COMBINE(type, handle, MPI_BXOR, a ^ b, __VA_ARGS__)

#define PAIRS(type, handle)                                                                                            \
    do {                                                                                                               \
        struct {                                                                                                       \
            type value;                                                                                                \
            int index;                                                                                                 \
        } in[3] = {{1, 7}, {-2, 3}, {5, 4}}, out[3] = {{2, 1}, {-2, 2}, {4, 9}};                                       \
        EQUAL(MPI_Reduce_local(in, out, 3, handle, MPI_MAXLOC), MPI_SUCCESS);                                          \
        CHECK(out[0].value == 2 && out[0].index == 1 && out[1].value == -2 && out[1].index == 2);                      \
        CHECK(out[2].value == 5 && out[2].index == 4);                                                                 \
        EQUAL(MPI_Reduce_local(in, out, 3, handle, MPI_MINLOC), MPI_SUCCESS);                                          \
        CHECK(out[0].value == 1 && out[0].index == 7 && out[2].value == 5 && out[2].index == 4);                       \
    } while (0)

static int calls;

/* Not commutative: digits of one behind those of the other. */
static void digits(void *in, void *inout, int *len, MPI_Datatype *type)
{
    CHECK(*type == MPI_INT);
    calls++;
    for (int at = 0; at < *len; at++)
        ((int *)inout)[at] = 10 * ((int *)in)[at] + ((int *)inout)[at];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    INTEGERS(int, MPI_INT, 3, -7, 0, 12, 5);
    INTEGERS(long, MPI_LONG, 3, -7, 0, 12, 5);
    INTEGERS(short, MPI_SHORT, 3, -7, 0, 120, 5);
    INTEGERS(signed char, MPI_SIGNED_CHAR, 3, -7, 0, 10, 5);
    INTEGERS(unsigned char, MPI_UNSIGNED_CHAR, 3, 7, 0, 10, 255);
    INTEGERS(unsigned short, MPI_UNSIGNED_SHORT, 3, 7, 0, 10, 65535);
    INTEGERS(unsigned, MPI_UNSIGNED, 3, 7, 0, 10, UINT_MAX);
    INTEGERS(unsigned long, MPI_UNSIGNED_LONG, 3, 7, 0, 10, ULONG_MAX);
    INTEGERS(long long, MPI_LONG_LONG, 3, -7, 0, 1LL << 40, 5);
    INTEGERS(uint64_t, MPI_UINT64_T, 3, 7, 0, 1ULL << 63, 5);
    NUMBERS(MPI_Aint, MPI_AINT, 3, -7, 0, 12, 5);
    NUMBERS(float, MPI_FLOAT, 1.5f, -2, 0.1f, 1e10f, 7);
    NUMBERS(double, MPI_DOUBLE, 1.5, -2, 0.1, 1e100, 7);
    NUMBERS(long double, MPI_LONG_DOUBLE, 1.5L, -2, 0.1L, 1e300L, 7);
    COMBINE(float complex, MPI_C_FLOAT_COMPLEX, MPI_SUM, a + b, 1, 2 + 3 * I, -I, 0, 5 - 2 * I);
    COMBINE(double complex, MPI_C_DOUBLE_COMPLEX, MPI_PROD, a *b, 1, 2 + 3 * I, -I, 0, 5 - 2 * I);
    COMBINE(_Bool, MPI_C_BOOL, MPI_LXOR, a != b, 1, 0, 0, 1, 1);
    COMBINE(unsigned char, MPI_BYTE, MPI_BXOR, a ^ b, 1, 2, 3, 255, 0);
    PAIRS(short, MPI_SHORT_INT);
    PAIRS(int, MPI_2INT);
    PAIRS(long, MPI_LONG_INT);
    PAIRS(float, MPI_FLOAT_INT);
    PAIRS(double, MPI_DOUBLE_INT);
    PAIRS(long double, MPI_LONG_DOUBLE_INT);

    MPI_Op op;
    int commutes, in[3] = {1, 2, 3}, out[3] = {4, 5, 6};
    EQUAL(MPI_Op_create(digits, 0, &op), MPI_SUCCESS);
    MPI_Op_commutative(op, &commutes); EQUAL(commutes, 0);
    MPI_Op_commutative(MPI_SUM, &commutes); EQUAL(commutes, 1);
    EQUAL(MPI_Reduce_local(in, out, 3, MPI_INT, op), MPI_SUCCESS);
    CHECK(calls == 1 && out[0] == 14 && out[1] == 25 && out[2] == 36);
    EQUAL(MPI_Op_free(&op), MPI_SUCCESS);
    CHECK(op == MPI_OP_NULL);

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    EQUAL(MPI_Reduce_local(in, out, 3, MPI_INT, op), MPI_ERR_OP);
    EQUAL(MPI_Reduce_local(in, out, 3, MPI_DOUBLE, MPI_BAND), MPI_ERR_OP);
    EQUAL(MPI_Reduce_local(in, out, 3, MPI_INT, MPI_REPLACE), MPI_ERR_OP);
    EQUAL(MPI_Reduce_local(in, in + 1, 2, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    EQUAL(MPI_Reduce_local(in, out, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
    op = MPI_SUM;
    EQUAL(MPI_Op_free(&op), MPI_ERR_OP);
    MPI_Finalize();
    return 0;
}
