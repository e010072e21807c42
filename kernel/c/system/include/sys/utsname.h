/* What a machine calls itself. */
#ifndef ATOLL_SYS_UTSNAME_H
#define ATOLL_SYS_UTSNAME_H

struct utsname {
    char sysname[16];
    char nodename[16];
    char release[16];
    char version[16];
    char machine[16];
};

int uname(struct utsname *name);

#endif
