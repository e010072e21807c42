/* What Linux lets a process say of itself, which nobody hears. */
#ifndef ATOLL_SYS_PRCTL_H
#define ATOLL_SYS_PRCTL_H

#define PR_SET_NAME 15
#define PR_GET_NAME 16

int prctl(int option, ...);

#endif
