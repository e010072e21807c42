/* Libraries that come while a program runs, which there are none of. */
#ifndef ATOLL_DLFCN_H
#define ATOLL_DLFCN_H

#define RTLD_LAZY 1
#define RTLD_NOW 2
#define RTLD_GLOBAL 256
#define RTLD_LOCAL 0
#define RTLD_DEFAULT ((void *)0)
#define RTLD_NEXT ((void *)-1)

void *dlopen(const char *path, int mode);
void *dlsym(void *library, const char *name);
int dlclose(void *library);
char *dlerror(void);

#endif
