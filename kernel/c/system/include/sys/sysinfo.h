/* What a machine has. */
#ifndef ATOLL_SYS_SYSINFO_H
#define ATOLL_SYS_SYSINFO_H

struct sysinfo {
    long uptime;
    unsigned long loads[3];
    unsigned long totalram, freeram, sharedram, bufferram, totalswap, freeswap;
    unsigned short procs;
    unsigned mem_unit;
};

int sysinfo(struct sysinfo *info);
int get_nprocs(void);
int get_nprocs_conf(void);

#endif
