/* Terminals, which there are none of. */
#ifndef ATOLL_SYS_TERMIOS_H
#define ATOLL_SYS_TERMIOS_H

typedef unsigned tcflag_t;
typedef unsigned char cc_t;

#define ICANON 2
#define ECHO 8
#define VMIN 6
#define VTIME 5
#define NCCS 32
#define TCSANOW 0
#define TCSADRAIN 1
#define TCSAFLUSH 2

struct termios {
    tcflag_t c_iflag, c_oflag, c_cflag, c_lflag;
    cc_t c_cc[NCCS];
};

int tcgetattr(int file, struct termios *state);
int tcsetattr(int file, int when, const struct termios *state);

#endif
