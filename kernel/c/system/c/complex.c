/* Products and quotients of complex numbers, which compilers leave to a library: the same on both sides, so that they have the
   same bits. What is not a number for lack of order in infinities is mended as annex G of the C standard says. */

#define WHERE_INFINITE(x, one, copy) copy(__builtin_isinf(x) ? (one) : 0, x)
#define WHERE_NAN(x, copy) ((x) = __builtin_isnan(x) ? copy(0, x) : (x))

#define COMPLEX(real, suffix, copy, absolute)                                                         \
    real _Complex __mul##suffix(real a, real b, real c, real d);                                      \
    real _Complex __div##suffix(real a, real b, real c, real d);                                      \
                                                                                                      \
    static real _Complex made_##suffix(real x, real y)                                                \
    {                                                                                                 \
        real _Complex z;                                                                              \
        __real__ z = x;                                                                               \
        __imag__ z = y;                                                                               \
        return z;                                                                                     \
    }                                                                                                 \
                                                                                                      \
    real _Complex __mul##suffix(real a, real b, real c, real d)                                       \
    {                                                                                                 \
        real ac = a * c, bd = b * d, ad = a * d, bc = b * c, x = ac - bd, y = ad + bc;                \
        if (!__builtin_isnan(x) || !__builtin_isnan(y))                                               \
            return made_##suffix(x, y);                                                               \
        int again = 0;                                                                                \
        if (__builtin_isinf(a) || __builtin_isinf(b)) {                                               \
            a = WHERE_INFINITE(a, 1, copy), b = WHERE_INFINITE(b, 1, copy);                           \
            WHERE_NAN(c, copy), WHERE_NAN(d, copy);                                                   \
            again = 1;                                                                                \
        }                                                                                             \
        if (__builtin_isinf(c) || __builtin_isinf(d)) {                                               \
            c = WHERE_INFINITE(c, 1, copy), d = WHERE_INFINITE(d, 1, copy);                           \
            WHERE_NAN(a, copy), WHERE_NAN(b, copy);                                                   \
            again = 1;                                                                                \
        }                                                                                             \
        if (!again && (__builtin_isinf(ac) || __builtin_isinf(bd) || __builtin_isinf(ad) || __builtin_isinf(bc))) { \
            WHERE_NAN(a, copy), WHERE_NAN(b, copy), WHERE_NAN(c, copy), WHERE_NAN(d, copy);           \
            again = 1;                                                                                \
        }                                                                                             \
        if (again)                                                                                    \
            x = __builtin_inf() * (a * c - b * d), y = __builtin_inf() * (a * d + b * c);             \
        return made_##suffix(x, y);                                                                   \
    }                                                                                                 \
                                                                                                      \
    /* By the larger part of the divisor, so that its square does not overflow. */                    \
    real _Complex __div##suffix(real a, real b, real c, real d)                                       \
    {                                                                                                 \
        real x, y;                                                                                    \
        if (absolute(c) < absolute(d)) {                                                              \
            real ratio = c / d, all = c * ratio + d;                                                  \
            x = (a * ratio + b) / all, y = (b * ratio - a) / all;                                     \
        } else {                                                                                      \
            real ratio = d / c, all = d * ratio + c;                                                  \
            x = (b * ratio + a) / all, y = (b - a * ratio) / all;                                     \
        }                                                                                             \
        if (!__builtin_isnan(x) || !__builtin_isnan(y))                                               \
            return made_##suffix(x, y);                                                               \
        if (c == 0 && d == 0 && (!__builtin_isnan(a) || !__builtin_isnan(b))) {                       \
            x = copy(__builtin_inf(), c) * a, y = copy(__builtin_inf(), c) * b;                       \
        } else if ((__builtin_isinf(a) || __builtin_isinf(b)) && __builtin_isfinite(c) && __builtin_isfinite(d)) { \
            a = WHERE_INFINITE(a, 1, copy), b = WHERE_INFINITE(b, 1, copy);                           \
            x = __builtin_inf() * (a * c + b * d), y = __builtin_inf() * (b * c - a * d);             \
        } else if ((__builtin_isinf(c) || __builtin_isinf(d)) && __builtin_isfinite(a) && __builtin_isfinite(b)) { \
            c = WHERE_INFINITE(c, 1, copy), d = WHERE_INFINITE(d, 1, copy);                           \
            x = 0 * (a * c + b * d), y = 0 * (b * c - a * d);                                         \
        }                                                                                             \
        return made_##suffix(x, y);                                                                   \
    }

COMPLEX(float, sc3, __builtin_copysignf, __builtin_fabsf)
COMPLEX(double, dc3, __builtin_copysign, __builtin_fabs)
COMPLEX(long double, xc3, __builtin_copysignl, __builtin_fabsl)
