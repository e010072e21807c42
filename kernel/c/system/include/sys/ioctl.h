/* Commands to devices, which there are none of. */
#ifndef ATOLL_SYS_IOCTL_H
#define ATOLL_SYS_IOCTL_H

#define TIOCGWINSZ 0x5413
#define FIONREAD 0x541b

struct winsize {
    unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};

int ioctl(int file, unsigned long command, ...);

#endif
