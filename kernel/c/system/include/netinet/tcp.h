/* Options of connections, which there are none of. */
#ifndef ATOLL_NETINET_TCP_H
#define ATOLL_NETINET_TCP_H

#define TCP_NODELAY 1

#endif
