/* Ways into a network, which there are none of. */
#ifndef ATOLL_NET_IF_H
#define ATOLL_NET_IF_H

#include <sys/socket.h>

#define IFNAMSIZ 16
#define IFF_UP 1
#define IFF_LOOPBACK 8
#define IFF_RUNNING 64

#endif
