/* MPI: how sessions begin, and their infos. */

#include <atoll/mpi.h>
#include <stdio.h>

/* A program that has sessions opens its messages when it starts, where all ranks are: to begin a session is local. */
__attribute__((constructor)) static void open_messages(void)
{
    ATOLL(session_open);
}

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    return ATOLL(session_init, info, errhandler, session);
}
ATOLL_BOTH(Session_init);

int PMPI_Session_get_info(MPI_Session session, MPI_Info *info_used)
{
    int sets, error = PMPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    if (!error)
        error = PMPI_Info_create(info_used);
    return error ? error : PMPI_Info_set(*info_used, "thread_level", "MPI_THREAD_FUNNELED");
}
ATOLL_BOTH(Session_get_info);

int PMPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)
{
    MPI_Group group;
    int size, error = PMPI_Group_from_session_pset(session, pset_name, &group);
    if (error)
        return error;
    PMPI_Group_size(group, &size);
    PMPI_Group_free(&group);
    char text[16];
    snprintf(text, sizeof text, "%d", size);
    error = PMPI_Info_create(info);
    return error ? error : PMPI_Info_set(*info, "mpi_size", text);
}
ATOLL_BOTH(Session_get_pset_info);
