/* Hashes over many results of arithmetic and of the C library: they are the same on every backend. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values for each function, the first argument. */
static int values = 1000;

static uint32_t hash;
static uint32_t state;

static void add(const void *bytes, size_t count)
{
    for (const unsigned char *next = bytes; count > 0; count--)
        hash = (hash ^ *next++) * 16777619u;
}

static void add_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    /* What no number is has many representations. */
    if (value != value)
        bits = 0x7FF8000000000000u;
    add(&bits, sizeof bits);
}

static void add_float(float value)
{
    add_double(value);
}

static void begin(void)
{
    hash = 2166136261u;
    state = 12345;
}

static void end(const char *name)
{
    printf("%s %08x\n", name, (unsigned)hash);
}

static uint32_t next(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

/* From -range to range, unevenly: also near 0. */
static double number(double range)
{
    double fraction = (next() / 4294967296.0 + next()) / 4294967296.0;
    int shift = next() % 8;
    double value = ldexp(fraction, -shift) * range;
    return next() & 1 ? -value : value;
}

static void arithmetic(void)
{
    begin();
    double sum = 0;
    for (int i = 0; i < values; i++) {
        double a = number(1e6), b = number(3), c = number(1e-3);
        sum = sum * 0.75 + a * b - c / (b + 4);
        add_double(sum);
        add_double((a + b) * (a - b) + sqrt(fabs(c)) * a);
        add_double((double)(int)a / 7 + (unsigned)next());
        add_double((double)(int64_t)(a * 1e9));
    }
    end("arithmetic");
    begin();
    for (int i = 0; i < values; i++) {
        double a = ldexp(number(1), -1020 - (int)(next() % 60)), b = number(4);
        add_double(a * b);
        add_double(a / (b + 5) + a);
        add_double(ldexp(b, -1073));
    }
    end("subnormals");
    begin();
    float single = 0;
    for (int i = 0; i < values; i++) {
        float a = number(1e5), b = number(2), c = a * b + 1.5f;
        single = single * 0.5f + c / 3.0f - a * 0.1f;
        add_float(single);
        add_float(sqrtf(fabsf(c)) * b + a);
        add_float((float)next());
    }
    end("floats");
}

#define ONE(name, range) {#name, name, range}
static const struct { const char *name; double (*function)(double); double range; } FUNCTIONS[] = {
    ONE(sin, 1000), ONE(cos, 1000), ONE(tan, 30), ONE(asin, 1), ONE(acos, 1), ONE(atan, 50), ONE(sinh, 20), ONE(cosh, 20),
    ONE(tanh, 3), ONE(exp, 300), ONE(exp2, 300), ONE(expm1, 5), ONE(log, 1e9), ONE(log2, 1e9), ONE(log10, 1e9),
    ONE(log1p, 0.9), ONE(sqrt, 1e9), ONE(cbrt, 1e9), ONE(floor, 1e4), ONE(ceil, 1e4), ONE(round, 1e4), ONE(trunc, 1e4),
    ONE(rint, 1e4), ONE(erf, 3), ONE(tgamma, 20), ONE(lgamma, 40), ONE(asinh, 1e4), ONE(acosh, 1e4), ONE(atanh, 1),
};

#define ONE_FLOAT(name, range) {#name, name, range}
static const struct { const char *name; float (*function)(float); double range; } FLOAT_FUNCTIONS[] = {
    ONE_FLOAT(sinf, 1000), ONE_FLOAT(cosf, 1000), ONE_FLOAT(tanf, 30), ONE_FLOAT(expf, 80), ONE_FLOAT(logf, 1e9), ONE_FLOAT(sqrtf, 1e9),
    ONE_FLOAT(atanf, 50), ONE_FLOAT(cbrtf, 1e9), ONE_FLOAT(floorf, 1e4), ONE_FLOAT(erff, 3),
};

static void library(void)
{
    for (size_t f = 0; f < sizeof FUNCTIONS / sizeof *FUNCTIONS; f++) {
        begin();
        for (int i = 0; i < values; i++)
            add_double(FUNCTIONS[f].function(number(FUNCTIONS[f].range)));
        end(FUNCTIONS[f].name);
    }
    for (size_t f = 0; f < sizeof FLOAT_FUNCTIONS / sizeof *FLOAT_FUNCTIONS; f++) {
        begin();
        for (int i = 0; i < values; i++)
            add_float(FLOAT_FUNCTIONS[f].function(number(FLOAT_FUNCTIONS[f].range)));
        end(FLOAT_FUNCTIONS[f].name);
    }
    begin();
    for (int i = 0; i < values; i++) {
        double a = fabs(number(50)), b = number(20), whole;
        int exponent;
        add_double(pow(a, b));
        add_double(powf(a, b / 4));
        add_double(atan2(b, a));
        add_double(hypot(a, b));
        add_double(fmod(b * 1e5, a + 0.1));
        add_double(remainder(b * 1e5, a + 0.1));
        add_double(fma(a, b, 1));
        add_double(fmax(a, b) - fmin(a, b));
        add_double(frexp(b, &exponent) + exponent);
        add_double(modf(b, &whole) + whole / 3);
        add_double(nextafter(b, a));
    }
    end("two-operands");
}

static void text(void)
{
    begin();
    for (int i = 0; i < values; i++) {
        char line[400];
        double value = ldexp(number(10), (int)(next() % 200) - 100);
        int count = sprintf(line, "%.17g %e %.3f %g %a %10.4f|%d %x %lld", value, value, number(1e6), number(1), value,
                            number(100), (int)next(), (unsigned)next(), (long long)next() * next());
        add(line, count);
    }
    end("printf");
    begin();
    for (int i = 0; i < values; i++) {
        char line[100];
        sprintf(line, "%d.%u%ue%d", (int)next(), (unsigned)next(), (unsigned)next(), (int)(next() % 600) - 300);
        add_double(strtod(line, NULL));
        add_float(strtof(line, NULL));
        add_double(atof(line));
    }
    end("strtod");
    begin();
    srand(7);
    for (int i = 0; i < values; i++) {
        int value = rand();
        add(&value, sizeof value);
        add_double(drand48());
    }
    end("rand");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        values = atoi(argv[1]);
    arithmetic();
    library();
    text();
    return 0;
}
