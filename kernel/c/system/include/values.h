/* Limits of numbers by their old names. */
#ifndef ATOLL_VALUES_H
#define ATOLL_VALUES_H

#include <float.h>
#include <limits.h>

#define CHARBITS CHAR_BIT
#define SHORTBITS (8 * (int)sizeof(short))
#define INTBITS (8 * (int)sizeof(int))
#define LONGBITS (8 * (int)sizeof(long))
#define MAXSHORT SHRT_MAX
#define MINSHORT SHRT_MIN
#define MAXINT INT_MAX
#define MININT INT_MIN
#define MAXLONG LONG_MAX
#define MINLONG LONG_MIN
#define MAXDOUBLE DBL_MAX
#define MINDOUBLE DBL_MIN
#define MAXFLOAT FLT_MAX
#define MINFLOAT FLT_MIN

#endif
