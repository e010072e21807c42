/* A journal of the system's, which nobody keeps. */
#ifndef ATOLL_SYSLOG_H
#define ATOLL_SYSLOG_H

enum { LOG_EMERG, LOG_ALERT, LOG_CRIT, LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG };
enum { LOG_PID = 1, LOG_CONS = 2, LOG_PERROR = 32, LOG_USER = 8, LOG_DAEMON = 24 };

void openlog(const char *name, int options, int facility);
void syslog(int priority, const char *format, ...);
void closelog(void);

#endif
