/* For functions that a program may have of its own. */
#ifndef ATOLL_WEAK_H
#define ATOLL_WEAK_H

#define WEAK __attribute__((weak))

#endif
