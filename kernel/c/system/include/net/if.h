/* Ways into a network, which there are none of. */
#ifndef ATOLL_NET_IF_H
#define ATOLL_NET_IF_H

#include <sys/socket.h>

#define IFNAMSIZ 16
enum { IFF_UP = 1, IFF_LOOPBACK = 8, IFF_RUNNING = 64 };

#endif
