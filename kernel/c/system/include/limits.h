/* Newlib's, and what POSIX has besides. */
#include_next <limits.h>

#ifndef HOST_NAME_MAX
#define HOST_NAME_MAX 64
#endif
