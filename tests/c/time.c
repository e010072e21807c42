/*
 * Computation takes virtual time in the simulator, as much as on the emulated board: what was measured there of each of these stands beside
 * it, in microseconds, less what two looks at the clock take there.
 */

#include "check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROW = 16, CELLS = ROW * 25, LENGTH = 40000, NUMBERS = 2000, SIDE = 30 };

static double stream[LENGTH], left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE], result;
static int numbers[NUMBERS];
static unsigned state = 1;

static unsigned next_number(void)
{
    return state = state * 1664525u + 1013904223u;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

static int compare(const void *one, const void *other)
{
    int a = *(const int *)one, b = *(const int *)other;
    return (a > b) - (a < b);
}

static void relax(void)
{
    static float cells[CELLS];
    for (int i = 0; i < ROW; i++)
        cells[i] = 1;
    for (int step = 0; step < 10; step++)
        for (int i = 0; i < CELLS - 2 * ROW; i++)
            cells[i + ROW] += 0.25 * cells[i + 1] + 0.25 * cells[i] - 1.0 * cells[i + ROW] +
                              0.25 * cells[i + ROW + 1] + 0.25 * cells[i + 2 * ROW];
    result += cells[CELLS / 2];
}

/* More than L2 holds. */
static void go_through_memory(void)
{
    for (int step = 0; step < 3; step++)
        for (int i = 0; i < LENGTH; i++)
            stream[i] = stream[i] * 1.5 + i;
}

static void draw(void)
{
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = next_number() >> 8;
}

static void sort(void)
{
    qsort(numbers, NUMBERS, sizeof numbers[0], compare);
}

static void fill(void)
{
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < SIDE; k++) {
            left[i][k] = i + k;
            right[i][k] = i - k;
        }
}

static void multiply(void)
{
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < SIDE; k++) {
            double sum = 0;
            for (int l = 0; l < SIDE; l++)
                sum += left[i][l] * right[l][k];
            product[i][k] = sum;
        }
    result += product[1][2];
}

static void call_libm(void)
{
    for (int i = 0; i < 300; i++)
        result += sin(i * 0.1) + exp(-i * 0.01) + sqrt(i + 1.0);
}

static void print(void)
{
    char text[100];
    for (int i = 0; i < 50; i++)
        result += sprintf(text, "%d %f %s\n", i * 17, i * 0.37, "hello");
}

static void copy(void)
{
    static char from[5000], to[5000];
    for (int i = 0; i < 20; i++) {
        memset(from, i, sizeof from);
        memcpy(to, from, sizeof from - 1);
    }
    result += to[7];
}

static const struct {
    const char *name;
    void (*run)(void);
    double us;
} all[] = {
    {"relax", relax, 238},
    {"go through memory", go_through_memory, 10723},
    {"draw", draw, 365},
    {"sort", sort, 1508},
    {"fill", fill, 648},
    {"multiply", multiply, 901},
    {"call libm", call_libm, 780},
    {"print", print, 5936},
    {"copy", copy, 4885},
};

int main(void)
{
    double looks = now();
    looks = now() - looks;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        double start = now();
        all[i].run();
        double us = now() - start - looks;
        printf("%s: %.0f us\n", all[i].name, us);
        CHECK(fabs(us - all[i].us) < 0.2 * all[i].us);
    }
    CHECK(result != 0);
    puts("computation takes its time");
    return 0;
}
