/* Terminals, which there are none of. */
#ifndef ATOLL_SYS_TERMIOS_H
#define ATOLL_SYS_TERMIOS_H

typedef unsigned tcflag_t;
typedef unsigned char cc_t;

enum { ICANON = 2, ECHO = 8, VMIN = 6, VTIME = 5, NCCS = 32, TCSANOW = 0, TCSADRAIN = 1, TCSAFLUSH = 2 };

struct termios {
    tcflag_t c_iflag, c_oflag, c_cflag, c_lflag;
    cc_t c_cc[NCCS];
};

int tcgetattr(int file, struct termios *state);
int tcsetattr(int file, int when, const struct termios *state);

#endif
