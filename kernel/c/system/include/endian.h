/* Numbers in memory's order and in others: a core has the lowest byte first. */
#ifndef ATOLL_ENDIAN_H
#define ATOLL_ENDIAN_H

#include <machine/endian.h>

#ifndef __BYTE_ORDER
#define __LITTLE_ENDIAN 1234
#define __BIG_ENDIAN 4321
#define __BYTE_ORDER __LITTLE_ENDIAN
#endif

#define htole16(number) (number)
#define htole32(number) (number)
#define htole64(number) (number)
#define le16toh(number) (number)
#define le32toh(number) (number)
#define le64toh(number) (number)
#define htobe16(number) __builtin_bswap16(number)
#define htobe32(number) __builtin_bswap32(number)
#define htobe64(number) __builtin_bswap64(number)
#define be16toh(number) __builtin_bswap16(number)
#define be32toh(number) __builtin_bswap32(number)
#define be64toh(number) __builtin_bswap64(number)

#endif
