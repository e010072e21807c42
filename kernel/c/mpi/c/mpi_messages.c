/* MPI: messages from one rank to another, in all modes and forms. */

#include <atoll/mpi.h>

#define ELEMENTS struct atoll_mpi_message message = {buf, count, datatype, rank, tag}

/* The three forms of a send, with the type of its count, and what is behind its name. */
#define SENDS(blocking, nonblocking, persistent, mode, COUNT)                                                           \
    int PMPI_##blocking(const void *buf, COUNT count, MPI_Datatype datatype, int rank, int tag, MPI_Comm comm)          \
    {                                                                                                                   \
        ELEMENTS;                                                                                                       \
        return ATOLL(message, #blocking, mode, ATOLL_BLOCKING, &message, comm, NULL, NULL);                             \
    }                                                                                                                   \
    int PMPI_##nonblocking(const void *buf, COUNT count, MPI_Datatype datatype, int rank, int tag, MPI_Comm comm,       \
                           MPI_Request *request)                                                                        \
    {                                                                                                                   \
        ELEMENTS;                                                                                                       \
        return ATOLL(message, #nonblocking, mode, ATOLL_NONBLOCKING, &message, comm, request, NULL);                    \
    }                                                                                                                   \
    int PMPI_##persistent(const void *buf, COUNT count, MPI_Datatype datatype, int rank, int tag, MPI_Comm comm,        \
                          MPI_Request *request)                                                                         \
    {                                                                                                                   \
        ELEMENTS;                                                                                                       \
        return ATOLL(message, #persistent, mode, ATOLL_PERSISTENT, &message, comm, request, NULL);                      \
    }                                                                                                                   \
    ATOLL_BOTH(blocking);                                                                                               \
    ATOLL_BOTH(nonblocking);                                                                                            \
    ATOLL_BOTH(persistent);

SENDS(Send, Isend, Send_init, ATOLL_STANDARD, int)
SENDS(Send_c, Isend_c, Send_init_c, ATOLL_STANDARD, MPI_Count)
SENDS(Bsend, Ibsend, Bsend_init, ATOLL_BUFFERED, int)
SENDS(Bsend_c, Ibsend_c, Bsend_init_c, ATOLL_BUFFERED, MPI_Count)
SENDS(Ssend, Issend, Ssend_init, ATOLL_SYNCHRONOUS, int)
SENDS(Ssend_c, Issend_c, Ssend_init_c, ATOLL_SYNCHRONOUS, MPI_Count)
SENDS(Rsend, Irsend, Rsend_init, ATOLL_READY, int)
SENDS(Rsend_c, Irsend_c, Rsend_init_c, ATOLL_READY, MPI_Count)

/* The three forms of a receive. */
#define RECEIVES(blocking, nonblocking, persistent, COUNT)                                                              \
    int PMPI_##blocking(void *buf, COUNT count, MPI_Datatype datatype, int rank, int tag, MPI_Comm comm,                \
                        MPI_Status *status)                                                                             \
    {                                                                                                                   \
        ELEMENTS;                                                                                                       \
        return ATOLL(message, #blocking, ATOLL_RECEIVE, ATOLL_BLOCKING, &message, comm, NULL, status);                  \
    }                                                                                                                   \
    int PMPI_##nonblocking(void *buf, COUNT count, MPI_Datatype datatype, int rank, int tag, MPI_Comm comm,             \
                           MPI_Request *request)                                                                        \
    {                                                                                                                   \
        ELEMENTS;                                                                                                       \
        return ATOLL(message, #nonblocking, ATOLL_RECEIVE, ATOLL_NONBLOCKING, &message, comm, request, NULL);           \
    }                                                                                                                   \
    int PMPI_##persistent(void *buf, COUNT count, MPI_Datatype datatype, int rank, int tag, MPI_Comm comm,              \
                          MPI_Request *request)                                                                         \
    {                                                                                                                   \
        ELEMENTS;                                                                                                       \
        return ATOLL(message, #persistent, ATOLL_RECEIVE, ATOLL_PERSISTENT, &message, comm, request, NULL);             \
    }                                                                                                                   \
    ATOLL_BOTH(blocking);                                                                                               \
    ATOLL_BOTH(nonblocking);                                                                                            \
    ATOLL_BOTH(persistent);

RECEIVES(Recv, Irecv, Recv_init, int)
RECEIVES(Recv_c, Irecv_c, Recv_init_c, MPI_Count)

/* A send and a receive at the same time; one place for both. */
#define EXCHANGES(both, COUNT, form, LAST, request, status)                                                             \
    int PMPI_##both(const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,  \
                    COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, LAST)               \
    {                                                                                                                   \
        struct atoll_mpi_message send = {sendbuf, sendcount, sendtype, dest, sendtag};                                  \
        struct atoll_mpi_message receive = {recvbuf, recvcount, recvtype, source, recvtag};                             \
        return ATOLL(exchange, #both, form, &send, &receive, comm, request, status);                                    \
    }                                                                                                                   \
    ATOLL_BOTH(both);

EXCHANGES(Sendrecv, int, ATOLL_BLOCKING, MPI_Status *status, NULL, status)
EXCHANGES(Sendrecv_c, MPI_Count, ATOLL_BLOCKING, MPI_Status *status, NULL, status)
EXCHANGES(Isendrecv, int, ATOLL_NONBLOCKING, MPI_Request *request, request, NULL)
EXCHANGES(Isendrecv_c, MPI_Count, ATOLL_NONBLOCKING, MPI_Request *request, request, NULL)

#define REPLACES(both, COUNT, form, LAST, request, status)                                                              \
    int PMPI_##both(void *buf, COUNT count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,      \
                    MPI_Comm comm, LAST)                                                                                \
    {                                                                                                                   \
        struct atoll_mpi_message send = {buf, count, datatype, dest, sendtag};                                          \
        struct atoll_mpi_message receive = {buf, count, datatype, source, recvtag};                                     \
        return ATOLL(exchange, #both, form, &send, &receive, comm, request, status);                                    \
    }                                                                                                                   \
    ATOLL_BOTH(both);

REPLACES(Sendrecv_replace, int, ATOLL_BLOCKING, MPI_Status *status, NULL, status)
REPLACES(Sendrecv_replace_c, MPI_Count, ATOLL_BLOCKING, MPI_Status *status, NULL, status)
REPLACES(Isendrecv_replace, int, ATOLL_NONBLOCKING, MPI_Request *request, request, NULL)
REPLACES(Isendrecv_replace_c, MPI_Count, ATOLL_NONBLOCKING, MPI_Request *request, request, NULL)

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return ATOLL(probe_for, "Probe", source, tag, comm, NULL, NULL, status);
}
ATOLL_BOTH(Probe);

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    ATOLL_NEEDS(Iprobe, flag, comm);
    return ATOLL(probe_for, "Iprobe", source, tag, comm, flag, NULL, status);
}
ATOLL_BOTH(Iprobe);

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    ATOLL_NEEDS(Mprobe, message, comm);
    return ATOLL(probe_for, "Mprobe", source, tag, comm, NULL, message, status);
}
ATOLL_BOTH(Mprobe);

int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    ATOLL_NEEDS(Improbe, flag, comm);
    ATOLL_NEEDS(Improbe, message, comm);
    return ATOLL(probe_for, "Improbe", source, tag, comm, flag, message, status);
}
ATOLL_BOTH(Improbe);

#define FOUND(name, COUNT, form, LAST, request, status)                                                                 \
    int PMPI_##name(void *buf, COUNT count, MPI_Datatype datatype, MPI_Message *message, LAST)                          \
    {                                                                                                                   \
        return ATOLL(receive_found, #name, form, buf, count, datatype, message, request, status);                       \
    }                                                                                                                   \
    ATOLL_BOTH(name);

FOUND(Mrecv, int, ATOLL_BLOCKING, MPI_Status *status, NULL, status)
FOUND(Mrecv_c, MPI_Count, ATOLL_BLOCKING, MPI_Status *status, NULL, status)
FOUND(Imrecv, int, ATOLL_NONBLOCKING, MPI_Request *request, request, NULL)
FOUND(Imrecv_c, MPI_Count, ATOLL_NONBLOCKING, MPI_Request *request, request, NULL)

int PMPI_Buffer_attach(void *buffer, int size)
{
    return ATOLL(Buffer_attach_c, buffer, size);
}
ATOLL_BOTH(Buffer_attach);

int PMPI_Buffer_detach(void *buffer, int *size)
{
    ATOLL_NEEDS(Buffer_detach, size, MPI_COMM_NULL);
    MPI_Count bytes = 0;
    int error = ATOLL(Buffer_detach_c, buffer, &bytes);
    *size = bytes;
    return error;
}
ATOLL_BOTH(Buffer_detach);

int PMPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size)
{
    return ATOLL(Comm_attach_buffer_c, comm, buffer, size);
}
ATOLL_BOTH(Comm_attach_buffer);

int PMPI_Comm_detach_buffer(MPI_Comm comm, void *buffer, int *size)
{
    ATOLL_NEEDS(Comm_detach_buffer, size, comm);
    MPI_Count bytes = 0;
    int error = ATOLL(Comm_detach_buffer_c, comm, buffer, &bytes);
    *size = bytes;
    return error;
}
ATOLL_BOTH(Comm_detach_buffer);
