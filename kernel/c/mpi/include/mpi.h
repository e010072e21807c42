/*
 * The interface of MPI 5.0 for C, with the types, handles and constants of its standard ABI. What of it Atoll provides is in
 * kernel/c/README.md; all other functions link, and end a program that calls them by name. What MPI 3.0 has removed stands at the end.
 */
#ifndef ATOLL_MPI_H
#define ATOLL_MPI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 5
#define MPI_SUBVERSION 0
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
/* Handles have the same numbers in Fortran, which Atoll does not compile. */
typedef int MPI_Fint;

typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;

/* Handles, and those that are always there. */
typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_File *MPI_File;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Session *MPI_Session;
typedef struct MPI_ABI_Win *MPI_Win;

#define MPI_COMM_NULL ((MPI_Comm)0x100)
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_COMM_SELF ((MPI_Comm)0x102)

#define MPI_DATATYPE_NULL ((MPI_Datatype)0x200)
#define MPI_AINT ((MPI_Datatype)0x201)
#define MPI_COUNT ((MPI_Datatype)0x202)
#define MPI_OFFSET ((MPI_Datatype)0x203)
#define MPI_PACKED ((MPI_Datatype)0x207)
#define MPI_SHORT ((MPI_Datatype)0x208)
#define MPI_INT ((MPI_Datatype)0x209)
#define MPI_LONG ((MPI_Datatype)0x20a)
#define MPI_LONG_LONG ((MPI_Datatype)0x20b)
#define MPI_UNSIGNED_SHORT ((MPI_Datatype)0x20c)
#define MPI_UNSIGNED ((MPI_Datatype)0x20d)
#define MPI_UNSIGNED_LONG ((MPI_Datatype)0x20e)
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype)0x20f)
#define MPI_FLOAT ((MPI_Datatype)0x210)
#define MPI_C_FLOAT_COMPLEX ((MPI_Datatype)0x212)
#define MPI_CXX_FLOAT_COMPLEX ((MPI_Datatype)0x213)
#define MPI_DOUBLE ((MPI_Datatype)0x214)
#define MPI_C_DOUBLE_COMPLEX ((MPI_Datatype)0x216)
#define MPI_CXX_DOUBLE_COMPLEX ((MPI_Datatype)0x217)
#define MPI_LOGICAL ((MPI_Datatype)0x218)
#define MPI_INTEGER ((MPI_Datatype)0x219)
#define MPI_REAL ((MPI_Datatype)0x21a)
#define MPI_COMPLEX ((MPI_Datatype)0x21b)
#define MPI_DOUBLE_PRECISION ((MPI_Datatype)0x21c)
#define MPI_DOUBLE_COMPLEX ((MPI_Datatype)0x21d)
#define MPI_CHARACTER ((MPI_Datatype)0x21e)
#define MPI_LONG_DOUBLE ((MPI_Datatype)0x220)
#define MPI_C_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x224)
#define MPI_CXX_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x225)
#define MPI_FLOAT_INT ((MPI_Datatype)0x228)
#define MPI_DOUBLE_INT ((MPI_Datatype)0x229)
#define MPI_LONG_INT ((MPI_Datatype)0x22a)
#define MPI_2INT ((MPI_Datatype)0x22b)
#define MPI_SHORT_INT ((MPI_Datatype)0x22c)
#define MPI_LONG_DOUBLE_INT ((MPI_Datatype)0x22d)
#define MPI_2REAL ((MPI_Datatype)0x230)
#define MPI_2DOUBLE_PRECISION ((MPI_Datatype)0x231)
#define MPI_2INTEGER ((MPI_Datatype)0x232)
#define MPI_C_BOOL ((MPI_Datatype)0x238)
#define MPI_CXX_BOOL ((MPI_Datatype)0x239)
#define MPI_WCHAR ((MPI_Datatype)0x23c)
#define MPI_INT8_T ((MPI_Datatype)0x240)
#define MPI_UINT8_T ((MPI_Datatype)0x241)
#define MPI_CHAR ((MPI_Datatype)0x243)
#define MPI_SIGNED_CHAR ((MPI_Datatype)0x244)
#define MPI_UNSIGNED_CHAR ((MPI_Datatype)0x245)
#define MPI_BYTE ((MPI_Datatype)0x247)
#define MPI_INT16_T ((MPI_Datatype)0x248)
#define MPI_UINT16_T ((MPI_Datatype)0x249)
#define MPI_INT32_T ((MPI_Datatype)0x250)
#define MPI_UINT32_T ((MPI_Datatype)0x251)
#define MPI_INT64_T ((MPI_Datatype)0x258)
#define MPI_UINT64_T ((MPI_Datatype)0x259)
#define MPI_LOGICAL1 ((MPI_Datatype)0x2c0)
#define MPI_INTEGER1 ((MPI_Datatype)0x2c1)
#define MPI_LOGICAL2 ((MPI_Datatype)0x2c8)
#define MPI_INTEGER2 ((MPI_Datatype)0x2c9)
#define MPI_REAL2 ((MPI_Datatype)0x2ca)
#define MPI_LOGICAL4 ((MPI_Datatype)0x2d0)
#define MPI_INTEGER4 ((MPI_Datatype)0x2d1)
#define MPI_REAL4 ((MPI_Datatype)0x2d2)
#define MPI_COMPLEX4 ((MPI_Datatype)0x2d3)
#define MPI_LOGICAL8 ((MPI_Datatype)0x2d8)
#define MPI_INTEGER8 ((MPI_Datatype)0x2d9)
#define MPI_REAL8 ((MPI_Datatype)0x2da)
#define MPI_COMPLEX8 ((MPI_Datatype)0x2db)
#define MPI_LOGICAL16 ((MPI_Datatype)0x2e0)
#define MPI_INTEGER16 ((MPI_Datatype)0x2e1)
#define MPI_REAL16 ((MPI_Datatype)0x2e2)
#define MPI_COMPLEX16 ((MPI_Datatype)0x2e3)
#define MPI_COMPLEX32 ((MPI_Datatype)0x2eb)
#define MPI_LONG_LONG_INT MPI_LONG_LONG
#define MPI_C_COMPLEX MPI_C_FLOAT_COMPLEX

#define MPI_ERRHANDLER_NULL ((MPI_Errhandler)0x140)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x141)
#define MPI_ERRORS_ABORT ((MPI_Errhandler)0x142)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x143)

#define MPI_FILE_NULL ((MPI_File)0x118)

#define MPI_GROUP_NULL ((MPI_Group)0x108)
#define MPI_GROUP_EMPTY ((MPI_Group)0x109)

#define MPI_INFO_NULL ((MPI_Info)0x130)
#define MPI_INFO_ENV ((MPI_Info)0x131)

#define MPI_MESSAGE_NULL ((MPI_Message)0x128)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)0x129)

#define MPI_OP_NULL ((MPI_Op)0x20)
#define MPI_SUM ((MPI_Op)0x21)
#define MPI_MIN ((MPI_Op)0x22)
#define MPI_MAX ((MPI_Op)0x23)
#define MPI_PROD ((MPI_Op)0x24)
#define MPI_BAND ((MPI_Op)0x28)
#define MPI_BOR ((MPI_Op)0x29)
#define MPI_BXOR ((MPI_Op)0x2a)
#define MPI_LAND ((MPI_Op)0x30)
#define MPI_LOR ((MPI_Op)0x31)
#define MPI_LXOR ((MPI_Op)0x32)
#define MPI_MINLOC ((MPI_Op)0x38)
#define MPI_MAXLOC ((MPI_Op)0x39)
#define MPI_REPLACE ((MPI_Op)0x3c)
#define MPI_NO_OP ((MPI_Op)0x3d)

#define MPI_REQUEST_NULL ((MPI_Request)0x180)

#define MPI_SESSION_NULL ((MPI_Session)0x120)

#define MPI_WIN_NULL ((MPI_Win)0x110)

/* Error classes. */
enum {
    MPI_SUCCESS = 0, MPI_ERR_BUFFER = 1, MPI_ERR_COUNT = 2, MPI_ERR_TYPE = 3, MPI_ERR_TAG = 4, MPI_ERR_COMM = 5,
    MPI_ERR_RANK = 6, MPI_ERR_REQUEST = 7, MPI_ERR_ROOT = 8, MPI_ERR_GROUP = 9, MPI_ERR_OP = 10,
    MPI_ERR_TOPOLOGY = 11, MPI_ERR_DIMS = 12, MPI_ERR_ARG = 13, MPI_ERR_UNKNOWN = 14, MPI_ERR_TRUNCATE = 15,
    MPI_ERR_OTHER = 16, MPI_ERR_INTERN = 17, MPI_ERR_PENDING = 18, MPI_ERR_IN_STATUS = 19, MPI_ERR_ACCESS = 20,
    MPI_ERR_AMODE = 21, MPI_ERR_ASSERT = 22, MPI_ERR_BAD_FILE = 23, MPI_ERR_BASE = 24, MPI_ERR_CONVERSION = 25,
    MPI_ERR_DISP = 26, MPI_ERR_DUP_DATAREP = 27, MPI_ERR_FILE_EXISTS = 28, MPI_ERR_FILE_IN_USE = 29,
    MPI_ERR_FILE = 30, MPI_ERR_INFO_KEY = 31, MPI_ERR_INFO_NOKEY = 32, MPI_ERR_INFO_VALUE = 33, MPI_ERR_INFO = 34,
    MPI_ERR_IO = 35, MPI_ERR_KEYVAL = 36, MPI_ERR_LOCKTYPE = 37, MPI_ERR_NAME = 38, MPI_ERR_NO_MEM = 39,
    MPI_ERR_NOT_SAME = 40, MPI_ERR_NO_SPACE = 41, MPI_ERR_NO_SUCH_FILE = 42, MPI_ERR_PORT = 43, MPI_ERR_QUOTA = 44,
    MPI_ERR_READ_ONLY = 45, MPI_ERR_RMA_ATTACH = 46, MPI_ERR_RMA_CONFLICT = 47, MPI_ERR_RMA_RANGE = 48,
    MPI_ERR_RMA_SHARED = 49, MPI_ERR_RMA_SYNC = 50, MPI_ERR_SERVICE = 51, MPI_ERR_SIZE = 52, MPI_ERR_SPAWN = 53,
    MPI_ERR_UNSUPPORTED_DATAREP = 54, MPI_ERR_UNSUPPORTED_OPERATION = 55, MPI_ERR_WIN = 56, MPI_ERR_RMA_FLAVOR = 57,
    MPI_ERR_PROC_ABORTED = 58, MPI_ERR_VALUE_TOO_LARGE = 59, MPI_ERR_SESSION = 60, MPI_ERR_ERRHANDLER = 61,
    MPI_ERR_ABI = 62, MPI_T_ERR_CANNOT_INIT = 1001, MPI_T_ERR_NOT_ACCESSIBLE = 1002, MPI_T_ERR_NOT_INITIALIZED = 1003,
    MPI_T_ERR_NOT_SUPPORTED = 1004, MPI_T_ERR_MEMORY = 1005, MPI_T_ERR_INVALID = 1006, MPI_T_ERR_INVALID_INDEX = 1007,
    MPI_T_ERR_INVALID_ITEM = 1008, MPI_T_ERR_INVALID_SESSION = 1009, MPI_T_ERR_INVALID_HANDLE = 1010,
    MPI_T_ERR_INVALID_NAME = 1011, MPI_T_ERR_OUT_OF_HANDLES = 1012, MPI_T_ERR_OUT_OF_SESSIONS = 1013,
    MPI_T_ERR_CVAR_SET_NOT_NOW = 1014, MPI_T_ERR_CVAR_SET_NEVER = 1015, MPI_T_ERR_PVAR_NO_WRITE = 1016,
    MPI_T_ERR_PVAR_NO_STARTSTOP = 1017, MPI_T_ERR_PVAR_NO_ATOMIC = 1018, MPI_ERR_LASTCODE = 16383
};

/* Ranks and tags that are none. */
enum {
    MPI_ANY_SOURCE = -1, MPI_ANY_TAG = -2, MPI_PROC_NULL = -3, MPI_ROOT = -4, MPI_UNDEFINED = -32766
};

/* Levels of threads: Atoll has MPI_THREAD_FUNNELED. */
enum {
    MPI_THREAD_SINGLE = 0, MPI_THREAD_FUNNELED = 1024, MPI_THREAD_SERIALIZED = 2048, MPI_THREAD_MULTIPLE = 4096
};

/* How groups and communicators compare. */
enum {
    MPI_IDENT = 201, MPI_CONGRUENT = 202, MPI_SIMILAR = 203, MPI_UNEQUAL = 204
};

/* Topologies. */
enum {
    MPI_CART = 211, MPI_GRAPH = 212, MPI_DIST_GRAPH = 213
};

/* What communicators are split by. */
enum {
    MPI_COMM_TYPE_SHARED = 221, MPI_COMM_TYPE_HW_UNGUIDED = 222, MPI_COMM_TYPE_HW_GUIDED = 223,
    MPI_COMM_TYPE_RESOURCE_GUIDED = 224
};

/* Datatypes: how arrays are ordered and distributed, and what a datatype was made by. */
enum {
    MPI_ORDER_C = 12, MPI_ORDER_FORTRAN = 15, MPI_DISTRIBUTE_NONE = 16, MPI_DISTRIBUTE_BLOCK = 17,
    MPI_DISTRIBUTE_CYCLIC = 18, MPI_DISTRIBUTE_DFLT_DARG = 19, MPI_COMBINER_NAMED = 101, MPI_COMBINER_DUP = 102,
    MPI_COMBINER_CONTIGUOUS = 103, MPI_COMBINER_VECTOR = 104, MPI_COMBINER_HVECTOR = 105, MPI_COMBINER_INDEXED = 106,
    MPI_COMBINER_HINDEXED = 107, MPI_COMBINER_INDEXED_BLOCK = 108, MPI_COMBINER_HINDEXED_BLOCK = 109,
    MPI_COMBINER_STRUCT = 110, MPI_COMBINER_SUBARRAY = 111, MPI_COMBINER_DARRAY = 112, MPI_COMBINER_F90_REAL = 113,
    MPI_COMBINER_F90_COMPLEX = 114, MPI_COMBINER_F90_INTEGER = 115, MPI_COMBINER_RESIZED = 116,
    MPI_COMBINER_VALUE_INDEX = 117, MPIX_TYPECLASS_LOGICAL = 191, MPI_TYPECLASS_INTEGER = 192,
    MPI_TYPECLASS_REAL = 193, MPI_TYPECLASS_COMPLEX = 194
};

/* Windows. */
enum {
    MPI_LOCK_EXCLUSIVE = 301, MPI_LOCK_SHARED = 302, MPI_WIN_FLAVOR_CREATE = 311, MPI_WIN_FLAVOR_ALLOCATE = 312,
    MPI_WIN_FLAVOR_DYNAMIC = 313, MPI_WIN_FLAVOR_SHARED = 314, MPI_WIN_UNIFIED = 321, MPI_WIN_SEPARATE = 322
};

/* Modes of files and windows. */
enum {
    MPI_MODE_APPEND = 1, MPI_MODE_CREATE = 2, MPI_MODE_DELETE_ON_CLOSE = 4, MPI_MODE_EXCL = 8, MPI_MODE_RDONLY = 16,
    MPI_MODE_RDWR = 32, MPI_MODE_SEQUENTIAL = 64, MPI_MODE_UNIQUE_OPEN = 128, MPI_MODE_WRONLY = 256,
    MPI_MODE_NOCHECK = 1024, MPI_MODE_NOPRECEDE = 2048, MPI_MODE_NOPUT = 4096, MPI_MODE_NOSTORE = 8192,
    MPI_MODE_NOSUCCEED = 16384, MPI_SEEK_CUR = 401, MPI_SEEK_END = 402, MPI_SEEK_SET = 403
};

/* Attributes that are always there, of communicators and windows. */
enum {
    MPI_KEYVAL_INVALID = 0, MPI_TAG_UB = 501, MPI_IO = 502, MPI_HOST = 503, MPI_WTIME_IS_GLOBAL = 504,
    MPI_APPNUM = 505, MPI_LASTUSEDCODE = 506, MPI_UNIVERSE_SIZE = 507, MPI_WIN_BASE = 601, MPI_WIN_DISP_UNIT = 602,
    MPI_WIN_SIZE = 603, MPI_WIN_CREATE_FLAVOR = 604, MPI_WIN_MODEL = 605
};

/* The status of Fortran. */
enum {
    MPI_F_STATUS_SIZE = 8, MPI_F_SOURCE = 0, MPI_F_TAG = 1, MPI_F_ERROR = 2
};

typedef enum MPI_T_cb_safety {
    MPI_T_CB_REQUIRE_NONE = 0x00,
    MPI_T_CB_REQUIRE_MPI_RESTRICTED = 0x03,
    MPI_T_CB_REQUIRE_THREAD_SAFE = 0x0F,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE = 0x3F
} MPI_T_cb_safety;

typedef enum MPI_T_source_order { MPI_T_SOURCE_ORDERED = 1, MPI_T_SOURCE_UNORDERED = 2 } MPI_T_source_order;

/* The tool interface. */
enum {
    MPI_T_VERBOSITY_USER_BASIC = 9, MPI_T_VERBOSITY_USER_DETAIL = 10, MPI_T_VERBOSITY_USER_ALL = 12,
    MPI_T_VERBOSITY_TUNER_BASIC = 17, MPI_T_VERBOSITY_TUNER_DETAIL = 18, MPI_T_VERBOSITY_TUNER_ALL = 20,
    MPI_T_VERBOSITY_MPIDEV_BASIC = 33, MPI_T_VERBOSITY_MPIDEV_DETAIL = 34, MPI_T_VERBOSITY_MPIDEV_ALL = 36,
    MPI_T_BIND_NO_OBJECT = 1, MPI_T_BIND_MPI_COMM = 2, MPI_T_BIND_MPI_DATATYPE = 3, MPI_T_BIND_MPI_ERRHANDLER = 4,
    MPI_T_BIND_MPI_FILE = 5, MPI_T_BIND_MPI_GROUP = 6, MPI_T_BIND_MPI_OP = 7, MPI_T_BIND_MPI_REQUEST = 8,
    MPI_T_BIND_MPI_WIN = 9, MPI_T_BIND_MPI_MESSAGE = 10, MPI_T_BIND_MPI_INFO = 11, MPI_T_BIND_MPI_SESSION = 12,
    MPI_T_SCOPE_CONSTANT = 1, MPI_T_SCOPE_READONLY = 2, MPI_T_SCOPE_LOCAL = 3, MPI_T_SCOPE_GROUP = 4,
    MPI_T_SCOPE_GROUP_EQ = 5, MPI_T_SCOPE_ALL = 6, MPI_T_SCOPE_ALL_EQ = 7, MPI_T_PVAR_CLASS_STATE = 1,
    MPI_T_PVAR_CLASS_LEVEL = 2, MPI_T_PVAR_CLASS_SIZE = 3, MPI_T_PVAR_CLASS_PERCENTAGE = 4,
    MPI_T_PVAR_CLASS_HIGHWATERMARK = 5, MPI_T_PVAR_CLASS_LOWWATERMARK = 6, MPI_T_PVAR_CLASS_COUNTER = 7,
    MPI_T_PVAR_CLASS_AGGREGATE = 8, MPI_T_PVAR_CLASS_TIMER = 9, MPI_T_PVAR_CLASS_GENERIC = 10
};

/* Lengths of strings. */
#define MPI_MAX_DATAREP_STRING 128
#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_INFO_KEY 256
#define MPI_MAX_INFO_VAL 1024
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_OBJECT_NAME 128
#define MPI_MAX_PORT_NAME 1024
#define MPI_MAX_PROCESSOR_NAME 256
#define MPI_MAX_STRINGTAG_LEN 1024
#define MPI_MAX_PSET_NAME_LEN 1024

#define MPI_BSEND_OVERHEAD 512

/* Addresses that are none. */
#define MPI_BOTTOM ((void *)0)
#define MPI_IN_PLACE ((void *)1)
#define MPI_BUFFER_AUTOMATIC ((void *)2)
#define MPI_ARGV_NULL ((char **)0)
#define MPI_ARGVS_NULL ((char ***)0)
#define MPI_ERRCODES_IGNORE ((int *)0)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_UNWEIGHTED ((int *)10)
#define MPI_WEIGHTS_EMPTY ((int *)11)
#define MPI_DISPLACEMENT_CURRENT ((MPI_Offset)-1)

/* Functions of programs. */
typedef void(MPI_User_function)(void *in, void *inout, int *count, MPI_Datatype *datatype);
typedef void(MPI_User_function_c)(void *in, void *inout, MPI_Count *count, MPI_Datatype *datatype);
typedef int(MPI_Grequest_query_function)(void *extra, MPI_Status *status);
typedef int(MPI_Grequest_free_function)(void *extra);
typedef int(MPI_Grequest_cancel_function)(void *extra, int complete);
typedef int(MPI_Comm_copy_attr_function)(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag);
typedef int(MPI_Comm_delete_attr_function)(MPI_Comm comm, int key, void *value, void *extra);
typedef int(MPI_Type_copy_attr_function)(MPI_Datatype type, int key, void *extra, void *value, void *copy, int *flag);
typedef int(MPI_Type_delete_attr_function)(MPI_Datatype type, int key, void *value, void *extra);
typedef int(MPI_Win_copy_attr_function)(MPI_Win win, int key, void *extra, void *value, void *copy, int *flag);
typedef int(MPI_Win_delete_attr_function)(MPI_Win win, int key, void *value, void *extra);
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;
typedef int(MPI_Datarep_extent_function)(MPI_Datatype type, MPI_Aint *extent, void *extra);
typedef int(MPI_Datarep_conversion_function)(void *user, MPI_Datatype type, int count, void *file, MPI_Offset at, void *extra);
typedef int(MPI_Datarep_conversion_function_c)(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset at,
                                               void *extra);
typedef void(MPI_Comm_errhandler_function)(MPI_Comm *comm, int *code, ...);
typedef void(MPI_File_errhandler_function)(MPI_File *file, int *code, ...);
typedef void(MPI_Win_errhandler_function)(MPI_Win *win, int *code, ...);
typedef void(MPI_Session_errhandler_function)(MPI_Session *session, int *code, ...);
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_Session_errhandler_function MPI_Session_errhandler_fn;

#define MPI_NULL_COPY_FN ((MPI_Copy_function *)0)
#define MPI_DUP_FN ((MPI_Copy_function *)1)
#define MPI_NULL_DELETE_FN ((MPI_Delete_function *)0)
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function *)0)
#define MPI_COMM_DUP_FN ((MPI_Comm_copy_attr_function *)1)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function *)0)
#define MPI_TYPE_NULL_COPY_FN ((MPI_Type_copy_attr_function *)0)
#define MPI_TYPE_DUP_FN ((MPI_Type_copy_attr_function *)1)
#define MPI_TYPE_NULL_DELETE_FN ((MPI_Type_delete_attr_function *)0)
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function *)0)
#define MPI_WIN_DUP_FN ((MPI_Win_copy_attr_function *)1)
#define MPI_WIN_NULL_DELETE_FN ((MPI_Win_delete_attr_function *)0)
#define MPI_CONVERSION_FN_NULL ((MPI_Datarep_conversion_function *)0)
#define MPI_CONVERSION_FN_NULL_C ((MPI_Datarep_conversion_function_c *)0)

/* The tool interface. */
typedef struct MPI_ABI_T_enum *MPI_T_enum;
typedef struct MPI_ABI_T_cvar_handle *MPI_T_cvar_handle;
typedef struct MPI_ABI_T_pvar_handle *MPI_T_pvar_handle;
typedef struct MPI_ABI_T_pvar_session *MPI_T_pvar_session;
typedef struct MPI_ABI_T_event_registration *MPI_T_event_registration;
typedef struct MPI_ABI_T_event_instance *MPI_T_event_instance;
typedef void(MPI_T_event_cb_function)(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                                      void *data);
typedef void(MPI_T_event_free_cb_function)(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data);
typedef void(MPI_T_event_dropped_cb_function)(MPI_Count count, MPI_T_event_registration registration, int source,
                                              MPI_T_cb_safety safety, void *data);

#define MPI_T_ENUM_NULL ((MPI_T_enum)0)
#define MPI_T_CVAR_HANDLE_NULL ((MPI_T_cvar_handle)0)
#define MPI_T_PVAR_SESSION_NULL ((MPI_T_pvar_session)0)
#define MPI_T_PVAR_HANDLE_NULL ((MPI_T_pvar_handle)0)
#define MPI_T_PVAR_ALL_HANDLES ((MPI_T_pvar_handle)1)

/* Functions, each also by the name of the profiling interface. */
#define ATOLL_MPI(type, name, arguments) \
    type MPI_##name arguments;            \
    type PMPI_##name arguments;

ATOLL_MPI(int, Abi_get_fortran_booleans, (int logical_size, void *logical_true, void *logical_false, int *is_set))
ATOLL_MPI(int, Abi_get_fortran_info, (MPI_Info *info))
ATOLL_MPI(int, Abi_get_info, (MPI_Info *info))
ATOLL_MPI(int, Abi_get_version, (int *abi_major, int *abi_minor))
ATOLL_MPI(int, Abi_set_fortran_booleans, (int logical_size, void *logical_true, void *logical_false))
ATOLL_MPI(int, Abi_set_fortran_info, (MPI_Info info))
ATOLL_MPI(int, Abort, (MPI_Comm comm, int errorcode))
ATOLL_MPI(int, Accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
          MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win))
ATOLL_MPI(int, Accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int
          target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win
          win))
ATOLL_MPI(int, Add_error_class, (int *errorclass))
ATOLL_MPI(int, Add_error_code, (int errorclass, int *errorcode))
ATOLL_MPI(int, Add_error_string, (int errorcode, const char *string))
ATOLL_MPI(int, Allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, MPI_Comm comm))
ATOLL_MPI(int, Allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count
          recvcount, MPI_Datatype recvtype, MPI_Comm comm))
ATOLL_MPI(int, Allgather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
          recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Allgather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
          MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int
          recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm))
ATOLL_MPI(int, Allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const
          MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm))
ATOLL_MPI(int, Allgatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int
          recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request
          *request))
ATOLL_MPI(int, Allgatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
          const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
          MPI_Request *request))
ATOLL_MPI(int, Alloc_mem, (MPI_Aint size, MPI_Info info, void *baseptr))
ATOLL_MPI(int, Allreduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm
          comm))
ATOLL_MPI(int, Allreduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm))
ATOLL_MPI(int, Allreduce_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Allreduce_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op
          op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, MPI_Comm comm))
ATOLL_MPI(int, Alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count
          recvcount, MPI_Datatype recvtype, MPI_Comm comm))
ATOLL_MPI(int, Alltoall_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
          recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Alltoall_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
          MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Alltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
          void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm))
ATOLL_MPI(int, Alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype
          sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
          MPI_Comm comm))
ATOLL_MPI(int, Alltoallv_init, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype
          sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
          MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Alltoallv_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
          MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype
          recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Alltoallw, (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype
          sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
          MPI_Comm comm))
ATOLL_MPI(int, Alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const
          MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const
          MPI_Datatype recvtypes[], MPI_Comm comm))
ATOLL_MPI(int, Alltoallw_init, (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype
          sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
          MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Alltoallw_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const
          MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const
          MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Attr_delete, (MPI_Comm comm, int keyval))
ATOLL_MPI(int, Attr_get, (MPI_Comm comm, int keyval, void *attribute_val, int *flag))
ATOLL_MPI(int, Attr_put, (MPI_Comm comm, int keyval, void *attribute_val))
ATOLL_MPI(int, Barrier, (MPI_Comm comm))
ATOLL_MPI(int, Barrier_init, (MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Bcast, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm))
ATOLL_MPI(int, Bcast_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm))
ATOLL_MPI(int, Bcast_init, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
          MPI_Request *request))
ATOLL_MPI(int, Bcast_init_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info
          info, MPI_Request *request))
ATOLL_MPI(int, Bsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
ATOLL_MPI(int, Bsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
ATOLL_MPI(int, Bsend_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Bsend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm
          comm, MPI_Request *request))
ATOLL_MPI(int, Buffer_attach, (void *buffer, int size))
ATOLL_MPI(int, Buffer_attach_c, (void *buffer, MPI_Count size))
ATOLL_MPI(int, Buffer_detach, (void *buffer_addr, int *size))
ATOLL_MPI(int, Buffer_detach_c, (void *buffer_addr, MPI_Count *size))
ATOLL_MPI(int, Buffer_flush, (void))
ATOLL_MPI(int, Buffer_iflush, (MPI_Request *request))
ATOLL_MPI(int, Cancel, (MPI_Request *request))
ATOLL_MPI(int, Cart_coords, (MPI_Comm comm, int rank, int maxdims, int coords[]))
ATOLL_MPI(int, Cart_create, (MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
          MPI_Comm *comm_cart))
ATOLL_MPI(int, Cart_get, (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]))
ATOLL_MPI(int, Cart_map, (MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank))
ATOLL_MPI(int, Cart_rank, (MPI_Comm comm, const int coords[], int *rank))
ATOLL_MPI(int, Cart_shift, (MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest))
ATOLL_MPI(int, Cart_sub, (MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm))
ATOLL_MPI(int, Cartdim_get, (MPI_Comm comm, int *ndims))
ATOLL_MPI(int, Close_port, (const char *port_name))
ATOLL_MPI(int, Comm_accept, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm))
ATOLL_MPI(int, Comm_attach_buffer, (MPI_Comm comm, void *buffer, int size))
ATOLL_MPI(int, Comm_attach_buffer_c, (MPI_Comm comm, void *buffer, MPI_Count size))
ATOLL_MPI(int, Comm_call_errhandler, (MPI_Comm comm, int errorcode))
ATOLL_MPI(int, Comm_compare, (MPI_Comm comm1, MPI_Comm comm2, int *result))
ATOLL_MPI(int, Comm_connect, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm))
ATOLL_MPI(int, Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm))
ATOLL_MPI(int, Comm_create_errhandler, (MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler))
ATOLL_MPI(int, Comm_create_from_group, (MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler
          errhandler, MPI_Comm *newcomm))
ATOLL_MPI(int, Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm))
ATOLL_MPI(int, Comm_create_keyval, (MPI_Comm_copy_attr_function *comm_copy_attr_fn, MPI_Comm_delete_attr_function
          *comm_delete_attr_fn, int *comm_keyval, void *extra_state))
ATOLL_MPI(int, Comm_delete_attr, (MPI_Comm comm, int comm_keyval))
ATOLL_MPI(int, Comm_detach_buffer, (MPI_Comm comm, void *buffer_addr, int *size))
ATOLL_MPI(int, Comm_detach_buffer_c, (MPI_Comm comm, void *buffer_addr, MPI_Count *size))
ATOLL_MPI(int, Comm_disconnect, (MPI_Comm *comm))
ATOLL_MPI(int, Comm_dup, (MPI_Comm comm, MPI_Comm *newcomm))
ATOLL_MPI(int, Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm))
ATOLL_MPI(int, Comm_flush_buffer, (MPI_Comm comm))
ATOLL_MPI(int, Comm_free, (MPI_Comm *comm))
ATOLL_MPI(int, Comm_free_keyval, (int *comm_keyval))
ATOLL_MPI(int, Comm_get_attr, (MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag))
ATOLL_MPI(int, Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *errhandler))
ATOLL_MPI(int, Comm_get_info, (MPI_Comm comm, MPI_Info *info_used))
ATOLL_MPI(int, Comm_get_name, (MPI_Comm comm, char *comm_name, int *resultlen))
ATOLL_MPI(int, Comm_get_parent, (MPI_Comm *parent))
ATOLL_MPI(int, Comm_group, (MPI_Comm comm, MPI_Group *group))
ATOLL_MPI(int, Comm_idup, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request))
ATOLL_MPI(int, Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request))
ATOLL_MPI(int, Comm_iflush_buffer, (MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Comm_join, (int fd, MPI_Comm *intercomm))
ATOLL_MPI(int, Comm_rank, (MPI_Comm comm, int *rank))
ATOLL_MPI(int, Comm_remote_group, (MPI_Comm comm, MPI_Group *group))
ATOLL_MPI(int, Comm_remote_size, (MPI_Comm comm, int *size))
ATOLL_MPI(int, Comm_set_attr, (MPI_Comm comm, int comm_keyval, void *attribute_val))
ATOLL_MPI(int, Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler))
ATOLL_MPI(int, Comm_set_info, (MPI_Comm comm, MPI_Info info))
ATOLL_MPI(int, Comm_set_name, (MPI_Comm comm, const char *comm_name))
ATOLL_MPI(int, Comm_size, (MPI_Comm comm, int *size))
ATOLL_MPI(int, Comm_spawn, (const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
          MPI_Comm *intercomm, int array_of_errcodes[]))
ATOLL_MPI(int, Comm_spawn_multiple, (int count, char *array_of_commands[], char **array_of_argv[], const int
          array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm *intercomm, int
          array_of_errcodes[]))
ATOLL_MPI(int, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm))
ATOLL_MPI(int, Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm))
ATOLL_MPI(int, Comm_test_inter, (MPI_Comm comm, int *flag))
ATOLL_MPI(int, Compare_and_swap, (const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype
          datatype, int target_rank, MPI_Aint target_disp, MPI_Win win))
ATOLL_MPI(int, Dims_create, (int nnodes, int ndims, int dims[]))
ATOLL_MPI(int, Dist_graph_create, (MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int
          destinations[], const int *weights, MPI_Info info, int reorder, MPI_Comm *comm_dist_graph))
ATOLL_MPI(int, Dist_graph_create_adjacent, (MPI_Comm comm_old, int indegree, const int sources[], const int *sourceweights, int outdegree, const int destinations[], const int *destweights, MPI_Info info, int
          reorder, MPI_Comm *comm_dist_graph))
ATOLL_MPI(int, Dist_graph_neighbors, (MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int
          maxoutdegree, int destinations[], int destweights[]))
ATOLL_MPI(int, Dist_graph_neighbors_count, (MPI_Comm comm, int *indegree, int *outdegree, int *weighted))
ATOLL_MPI(int, Errhandler_free, (MPI_Errhandler *errhandler))
ATOLL_MPI(int, Error_class, (int errorcode, int *errorclass))
ATOLL_MPI(int, Error_string, (int errorcode, char *string, int *resultlen))
ATOLL_MPI(int, Exscan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm
          comm))
ATOLL_MPI(int, Exscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm))
ATOLL_MPI(int, Exscan_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm
          comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Exscan_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Fetch_and_op, (const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
          MPI_Aint target_disp, MPI_Op op, MPI_Win win))
ATOLL_MPI(int, File_call_errhandler, (MPI_File fh, int errorcode))
ATOLL_MPI(int, File_close, (MPI_File *fh))
ATOLL_MPI(int, File_create_errhandler, (MPI_File_errhandler_function *file_errhandler_fn, MPI_Errhandler *errhandler))
ATOLL_MPI(int, File_delete, (const char *filename, MPI_Info info))
ATOLL_MPI(int, File_get_amode, (MPI_File fh, int *amode))
ATOLL_MPI(int, File_get_atomicity, (MPI_File fh, int *flag))
ATOLL_MPI(int, File_get_byte_offset, (MPI_File fh, MPI_Offset offset, MPI_Offset *disp))
ATOLL_MPI(int, File_get_errhandler, (MPI_File file, MPI_Errhandler *errhandler))
ATOLL_MPI(int, File_get_group, (MPI_File fh, MPI_Group *group))
ATOLL_MPI(int, File_get_info, (MPI_File fh, MPI_Info *info_used))
ATOLL_MPI(int, File_get_position, (MPI_File fh, MPI_Offset *offset))
ATOLL_MPI(int, File_get_position_shared, (MPI_File fh, MPI_Offset *offset))
ATOLL_MPI(int, File_get_size, (MPI_File fh, MPI_Offset *size))
ATOLL_MPI(int, File_get_type_extent, (MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent))
ATOLL_MPI(int, File_get_type_extent_c, (MPI_File fh, MPI_Datatype datatype, MPI_Count *extent))
ATOLL_MPI(int, File_get_view, (MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char
          *datarep))
ATOLL_MPI(int, File_iread, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request))
ATOLL_MPI(int, File_iread_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request))
ATOLL_MPI(int, File_iread_all, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request))
ATOLL_MPI(int, File_iread_all_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request
          *request))
ATOLL_MPI(int, File_iread_at, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
          MPI_Request *request))
ATOLL_MPI(int, File_iread_at_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
          MPI_Request *request))
ATOLL_MPI(int, File_iread_at_all, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
          MPI_Request *request))
ATOLL_MPI(int, File_iread_at_all_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype
          datatype, MPI_Request *request))
ATOLL_MPI(int, File_iread_shared, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request))
ATOLL_MPI(int, File_iread_shared_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request
          *request))
ATOLL_MPI(int, File_iwrite, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request))
ATOLL_MPI(int, File_iwrite_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request
          *request))
ATOLL_MPI(int, File_iwrite_all, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request
          *request))
ATOLL_MPI(int, File_iwrite_all_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request
          *request))
ATOLL_MPI(int, File_iwrite_at, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
          MPI_Request *request))
ATOLL_MPI(int, File_iwrite_at_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype
          datatype, MPI_Request *request))
ATOLL_MPI(int, File_iwrite_at_all, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
          MPI_Request *request))
ATOLL_MPI(int, File_iwrite_at_all_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype
          datatype, MPI_Request *request))
ATOLL_MPI(int, File_iwrite_shared, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request
          *request))
ATOLL_MPI(int, File_iwrite_shared_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
          MPI_Request *request))
ATOLL_MPI(int, File_open, (MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh))
ATOLL_MPI(int, File_preallocate, (MPI_File fh, MPI_Offset size))
ATOLL_MPI(int, File_read, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
ATOLL_MPI(int, File_read_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
ATOLL_MPI(int, File_read_all, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
ATOLL_MPI(int, File_read_all_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
ATOLL_MPI(int, File_read_all_begin, (MPI_File fh, void *buf, int count, MPI_Datatype datatype))
ATOLL_MPI(int, File_read_all_begin_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype))
ATOLL_MPI(int, File_read_all_end, (MPI_File fh, void *buf, MPI_Status *status))
ATOLL_MPI(int, File_read_at, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Status
          *status))
ATOLL_MPI(int, File_read_at_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
          MPI_Status *status))
ATOLL_MPI(int, File_read_at_all, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
          MPI_Status *status))
ATOLL_MPI(int, File_read_at_all_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
          MPI_Status *status))
ATOLL_MPI(int, File_read_at_all_begin, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype))
ATOLL_MPI(int, File_read_at_all_begin_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype
          datatype))
ATOLL_MPI(int, File_read_at_all_end, (MPI_File fh, void *buf, MPI_Status *status))
ATOLL_MPI(int, File_read_ordered, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
ATOLL_MPI(int, File_read_ordered_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status
          *status))
ATOLL_MPI(int, File_read_ordered_begin, (MPI_File fh, void *buf, int count, MPI_Datatype datatype))
ATOLL_MPI(int, File_read_ordered_begin_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype))
ATOLL_MPI(int, File_read_ordered_end, (MPI_File fh, void *buf, MPI_Status *status))
ATOLL_MPI(int, File_read_shared, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
ATOLL_MPI(int, File_read_shared_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status
          *status))
ATOLL_MPI(int, File_seek, (MPI_File fh, MPI_Offset offset, int whence))
ATOLL_MPI(int, File_seek_shared, (MPI_File fh, MPI_Offset offset, int whence))
ATOLL_MPI(int, File_set_atomicity, (MPI_File fh, int flag))
ATOLL_MPI(int, File_set_errhandler, (MPI_File file, MPI_Errhandler errhandler))
ATOLL_MPI(int, File_set_info, (MPI_File fh, MPI_Info info))
ATOLL_MPI(int, File_set_size, (MPI_File fh, MPI_Offset size))
ATOLL_MPI(int, File_set_view, (MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char
          *datarep, MPI_Info info))
ATOLL_MPI(int, File_sync, (MPI_File fh))
ATOLL_MPI(int, File_write, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
ATOLL_MPI(int, File_write_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status
          *status))
ATOLL_MPI(int, File_write_all, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
ATOLL_MPI(int, File_write_all_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status
          *status))
ATOLL_MPI(int, File_write_all_begin, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype))
ATOLL_MPI(int, File_write_all_begin_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype))
ATOLL_MPI(int, File_write_all_end, (MPI_File fh, const void *buf, MPI_Status *status))
ATOLL_MPI(int, File_write_at, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
          MPI_Status *status))
ATOLL_MPI(int, File_write_at_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype
          datatype, MPI_Status *status))
ATOLL_MPI(int, File_write_at_all, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
          MPI_Status *status))
ATOLL_MPI(int, File_write_at_all_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype
          datatype, MPI_Status *status))
ATOLL_MPI(int, File_write_at_all_begin, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype
          datatype))
ATOLL_MPI(int, File_write_at_all_begin_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
          MPI_Datatype datatype))
ATOLL_MPI(int, File_write_at_all_end, (MPI_File fh, const void *buf, MPI_Status *status))
ATOLL_MPI(int, File_write_ordered, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status
          *status))
ATOLL_MPI(int, File_write_ordered_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status
          *status))
ATOLL_MPI(int, File_write_ordered_begin, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype))
ATOLL_MPI(int, File_write_ordered_begin_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype))
ATOLL_MPI(int, File_write_ordered_end, (MPI_File fh, const void *buf, MPI_Status *status))
ATOLL_MPI(int, File_write_shared, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status
          *status))
ATOLL_MPI(int, File_write_shared_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status
          *status))
ATOLL_MPI(int, Finalize, (void))
ATOLL_MPI(int, Finalized, (int *flag))
ATOLL_MPI(int, Free_mem, (void *base))
ATOLL_MPI(int, Gather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, int root, MPI_Comm comm))
ATOLL_MPI(int, Gather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count
          recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
ATOLL_MPI(int, Gather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Gather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
          MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Gatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int
          recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm))
ATOLL_MPI(int, Gatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const
          MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm))
ATOLL_MPI(int, Gatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int
          recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request
          *request))
ATOLL_MPI(int, Gatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const
          MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info
          info, MPI_Request *request))
ATOLL_MPI(int, Get, (void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint
          target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win))
ATOLL_MPI(int, Get_c, (void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
          MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win))
ATOLL_MPI(int, Get_accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void
          *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int
          target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win))
ATOLL_MPI(int, Get_accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void
          *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
          MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win))
ATOLL_MPI(int, Get_address, (const void *location, MPI_Aint *address))
ATOLL_MPI(int, Get_count, (const MPI_Status *status, MPI_Datatype datatype, int *count))
ATOLL_MPI(int, Get_count_c, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count))
ATOLL_MPI(int, Get_elements, (const MPI_Status *status, MPI_Datatype datatype, int *count))
ATOLL_MPI(int, Get_elements_c, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count))
ATOLL_MPI(int, Get_elements_x, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count))
ATOLL_MPI(int, Get_hw_resource_info, (MPI_Info *hw_info))
ATOLL_MPI(int, Get_library_version, (char *version, int *resultlen))
ATOLL_MPI(int, Get_processor_name, (char *name, int *resultlen))
ATOLL_MPI(int, Get_version, (int *version, int *subversion))
ATOLL_MPI(int, Graph_create, (MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder,
          MPI_Comm *comm_graph))
ATOLL_MPI(int, Graph_get, (MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]))
ATOLL_MPI(int, Graph_map, (MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank))
ATOLL_MPI(int, Graph_neighbors, (MPI_Comm comm, int rank, int maxneighbors, int neighbors[]))
ATOLL_MPI(int, Graph_neighbors_count, (MPI_Comm comm, int rank, int *nneighbors))
ATOLL_MPI(int, Graphdims_get, (MPI_Comm comm, int *nnodes, int *nedges))
ATOLL_MPI(int, Grequest_complete, (MPI_Request request))
ATOLL_MPI(int, Grequest_start, (MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
          MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request))
ATOLL_MPI(int, Group_compare, (MPI_Group group1, MPI_Group group2, int *result))
ATOLL_MPI(int, Group_difference, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup))
ATOLL_MPI(int, Group_excl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup))
ATOLL_MPI(int, Group_free, (MPI_Group *group))
ATOLL_MPI(int, Group_from_session_pset, (MPI_Session session, const char *pset_name, MPI_Group *newgroup))
ATOLL_MPI(int, Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup))
ATOLL_MPI(int, Group_intersection, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup))
ATOLL_MPI(int, Group_range_excl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup))
ATOLL_MPI(int, Group_range_incl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup))
ATOLL_MPI(int, Group_rank, (MPI_Group group, int *rank))
ATOLL_MPI(int, Group_size, (MPI_Group group, int *size))
ATOLL_MPI(int, Group_translate_ranks, (MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]))
ATOLL_MPI(int, Group_union, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup))
ATOLL_MPI(int, Iallgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Iallgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
          MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Iallgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int
          recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Iallgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const
          MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request
          *request))
ATOLL_MPI(int, Iallreduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm
          comm, MPI_Request *request))
ATOLL_MPI(int, Iallreduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ialltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ialltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count
          recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ialltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
          void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Ialltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
          MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype
          recvtype, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ialltoallw, (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype
          sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
          MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ialltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const
          MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const
          MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ibarrier, (MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ibcast, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request
          *request))
ATOLL_MPI(int, Ibcast_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request
          *request))
ATOLL_MPI(int, Ibsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Ibsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Iexscan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm
          comm, MPI_Request *request))
ATOLL_MPI(int, Iexscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Igather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Igather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count
          recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Igatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int
          recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Igatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const
          MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request
          *request))
ATOLL_MPI(int, Improbe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status))
ATOLL_MPI(int, Imrecv, (void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request))
ATOLL_MPI(int, Imrecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Request
          *request))
ATOLL_MPI(int, Ineighbor_allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
          recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ineighbor_allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
          MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ineighbor_allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const
          int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ineighbor_allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
          *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Ineighbor_alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
          recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ineighbor_alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
          MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ineighbor_alltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype
          sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Ineighbor_alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
          MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype
          recvtype, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ineighbor_alltoallw, (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const
          MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const
          MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ineighbor_alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
          const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const
          MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Info_create, (MPI_Info *info))
ATOLL_MPI(int, Info_create_env, (int argc, char *argv[], MPI_Info *info))
ATOLL_MPI(int, Info_delete, (MPI_Info info, const char *key))
ATOLL_MPI(int, Info_dup, (MPI_Info info, MPI_Info *newinfo))
ATOLL_MPI(int, Info_free, (MPI_Info *info))
ATOLL_MPI(int, Info_get, (MPI_Info info, const char *key, int valuelen, char *value, int *flag))
ATOLL_MPI(int, Info_get_nkeys, (MPI_Info info, int *nkeys))
ATOLL_MPI(int, Info_get_nthkey, (MPI_Info info, int n, char *key))
ATOLL_MPI(int, Info_get_string, (MPI_Info info, const char *key, int *buflen, char *value, int *flag))
ATOLL_MPI(int, Info_get_valuelen, (MPI_Info info, const char *key, int *valuelen, int *flag))
ATOLL_MPI(int, Info_set, (MPI_Info info, const char *key, const char *value))
ATOLL_MPI(int, Init, (int *argc, char ***argv))
ATOLL_MPI(int, Init_thread, (int *argc, char ***argv, int required, int *provided))
ATOLL_MPI(int, Initialized, (int *flag))
ATOLL_MPI(int, Intercomm_create, (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int
          tag, MPI_Comm *newintercomm))
ATOLL_MPI(int, Intercomm_create_from_groups, (MPI_Group local_group, int local_leader, MPI_Group remote_group, int
          remote_leader, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newintercomm))
ATOLL_MPI(int, Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm *newintracomm))
ATOLL_MPI(int, Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status))
ATOLL_MPI(int, Irecv, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request
          *request))
ATOLL_MPI(int, Irecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Ireduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
          MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ireduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int
          root, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ireduce_scatter, (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype,
          MPI_Op op, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ireduce_scatter_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype
          datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ireduce_scatter_block, (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype,
          MPI_Op op, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Ireduce_scatter_block_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype
          datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Irsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Irsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Is_thread_main, (int *flag))
ATOLL_MPI(int, Iscan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Iscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Iscatter, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Iscatter_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count
          recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Iscatterv, (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
          void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Iscatterv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype
          sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request
          *request))
ATOLL_MPI(int, Isend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Isend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Isendrecv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void
          *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request
          *request))
ATOLL_MPI(int, Isendrecv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
          void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Isendrecv_replace, (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int
          recvtag, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Isendrecv_replace_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int
          source, int recvtag, MPI_Comm comm, MPI_Request *request))
ATOLL_MPI(int, Issend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Issend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Keyval_create, (MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void
          *extra_state))
ATOLL_MPI(int, Keyval_free, (int *keyval))
ATOLL_MPI(int, Lookup_name, (const char *service_name, MPI_Info info, char *port_name))
ATOLL_MPI(int, Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status))
ATOLL_MPI(int, Mrecv, (void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status))
ATOLL_MPI(int, Mrecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status))
ATOLL_MPI(int, Neighbor_allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
          recvcount, MPI_Datatype recvtype, MPI_Comm comm))
ATOLL_MPI(int, Neighbor_allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
          MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm))
ATOLL_MPI(int, Neighbor_allgather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
          recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Neighbor_allgather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
          *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Neighbor_allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const
          int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm))
ATOLL_MPI(int, Neighbor_allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
          const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm))
ATOLL_MPI(int, Neighbor_allgatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
          const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request
          *request))
ATOLL_MPI(int, Neighbor_allgatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
          *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
          MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Neighbor_alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
          recvcount, MPI_Datatype recvtype, MPI_Comm comm))
ATOLL_MPI(int, Neighbor_alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
          MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm))
ATOLL_MPI(int, Neighbor_alltoall_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
          recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Neighbor_alltoall_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
          *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Neighbor_alltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype
          sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm))
ATOLL_MPI(int, Neighbor_alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
          MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype
          recvtype, MPI_Comm comm))
ATOLL_MPI(int, Neighbor_alltoallv_init, (const void *sendbuf, const int sendcounts[], const int sdispls[],
          MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
          MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Neighbor_alltoallv_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
          sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Neighbor_alltoallw, (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const
          MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const
          MPI_Datatype recvtypes[], MPI_Comm comm))
ATOLL_MPI(int, Neighbor_alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
          const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const
          MPI_Datatype recvtypes[], MPI_Comm comm))
ATOLL_MPI(int, Neighbor_alltoallw_init, (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const
          MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const
          MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Neighbor_alltoallw_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
          sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
          rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Op_commutative, (MPI_Op op, int *commute))
ATOLL_MPI(int, Op_create, (MPI_User_function *user_fn, int commute, MPI_Op *op))
ATOLL_MPI(int, Op_create_c, (MPI_User_function_c *user_fn, int commute, MPI_Op *op))
ATOLL_MPI(int, Op_free, (MPI_Op *op))
ATOLL_MPI(int, Open_port, (MPI_Info info, char *port_name))
ATOLL_MPI(int, Pack, (const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position,
          MPI_Comm comm))
ATOLL_MPI(int, Pack_c, (const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
          MPI_Count *position, MPI_Comm comm))
ATOLL_MPI(int, Pack_external, (const char *datarep, const void *inbuf, int incount, MPI_Datatype datatype, void
          *outbuf, MPI_Aint outsize, MPI_Aint *position))
ATOLL_MPI(int, Pack_external_c, (const char *datarep, const void *inbuf, MPI_Count incount, MPI_Datatype datatype,
          void *outbuf, MPI_Count outsize, MPI_Count *position))
ATOLL_MPI(int, Pack_external_size, (const char *datarep, int incount, MPI_Datatype datatype, MPI_Aint *size))
ATOLL_MPI(int, Pack_external_size_c, (const char *datarep, MPI_Count incount, MPI_Datatype datatype, MPI_Count *size))
ATOLL_MPI(int, Pack_size, (int incount, MPI_Datatype datatype, MPI_Comm comm, int *size))
ATOLL_MPI(int, Pack_size_c, (MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size))
ATOLL_MPI(int, Parrived, (MPI_Request request, int partition, int *flag))
ATOLL_MPI(int, Pcontrol, (const int level, ...))
ATOLL_MPI(int, Pready, (int partition, MPI_Request request))
ATOLL_MPI(int, Pready_list, (int length, const int array_of_partitions[], MPI_Request request))
ATOLL_MPI(int, Pready_range, (int partition_low, int partition_high, MPI_Request request))
ATOLL_MPI(int, Precv_init, (void *buf, int partitions, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm
          comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Precv_init_c, (void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status))
ATOLL_MPI(int, Psend_init, (const void *buf, int partitions, int count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Psend_init_c, (const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int
          tag, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Publish_name, (const char *service_name, MPI_Info info, const char *port_name))
ATOLL_MPI(int, Put, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
          MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win))
ATOLL_MPI(int, Put_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
          MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win))
ATOLL_MPI(int, Query_thread, (int *provided))
ATOLL_MPI(int, Raccumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
          MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request
          *request))
ATOLL_MPI(int, Raccumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int
          target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win
          win, MPI_Request *request))
ATOLL_MPI(int, Recv, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status
          *status))
ATOLL_MPI(int, Recv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
          MPI_Status *status))
ATOLL_MPI(int, Recv_init, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Recv_init_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Reduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
          MPI_Comm comm))
ATOLL_MPI(int, Reduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int
          root, MPI_Comm comm))
ATOLL_MPI(int, Reduce_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int
          root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Reduce_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
          int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Reduce_local, (const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op op))
ATOLL_MPI(int, Reduce_local_c, (const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op))
ATOLL_MPI(int, Reduce_scatter, (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype,
          MPI_Op op, MPI_Comm comm))
ATOLL_MPI(int, Reduce_scatter_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype
          datatype, MPI_Op op, MPI_Comm comm))
ATOLL_MPI(int, Reduce_scatter_block, (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op
          op, MPI_Comm comm))
ATOLL_MPI(int, Reduce_scatter_block_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype
          datatype, MPI_Op op, MPI_Comm comm))
ATOLL_MPI(int, Reduce_scatter_block_init, (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype,
          MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Reduce_scatter_block_init_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype
          datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Reduce_scatter_init, (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype
          datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Reduce_scatter_init_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype
          datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Register_datarep, (const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
          MPI_Datarep_conversion_function *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn,
          void *extra_state))
ATOLL_MPI(int, Register_datarep_c, (const char *datarep, MPI_Datarep_conversion_function_c *read_conversion_fn,
          MPI_Datarep_conversion_function_c *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn,
          void *extra_state))
ATOLL_MPI(int, Remove_error_class, (int errorclass))
ATOLL_MPI(int, Remove_error_code, (int errorcode))
ATOLL_MPI(int, Remove_error_string, (int errorcode))
ATOLL_MPI(int, Request_free, (MPI_Request *request))
ATOLL_MPI(int, Request_get_status, (MPI_Request request, int *flag, MPI_Status *status))
ATOLL_MPI(int, Request_get_status_all, (int count, const MPI_Request array_of_requests[], int *flag, MPI_Status
          *array_of_statuses))
ATOLL_MPI(int, Request_get_status_any, (int count, const MPI_Request array_of_requests[], int *indx, int *flag,
          MPI_Status *status))
ATOLL_MPI(int, Request_get_status_some, (int incount, const MPI_Request array_of_requests[], int *outcount, int
          array_of_indices[], MPI_Status *array_of_statuses))
ATOLL_MPI(int, Rget, (void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint
          target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request))
ATOLL_MPI(int, Rget_c, (void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
          MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request
          *request))
ATOLL_MPI(int, Rget_accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void
          *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int
          target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request))
ATOLL_MPI(int, Rget_accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void
          *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
          MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request))
ATOLL_MPI(int, Rput, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
          MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request))
ATOLL_MPI(int, Rput_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int
          target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
          MPI_Request *request))
ATOLL_MPI(int, Rsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
ATOLL_MPI(int, Rsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
ATOLL_MPI(int, Rsend_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Rsend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm
          comm, MPI_Request *request))
ATOLL_MPI(int, Scan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm))
ATOLL_MPI(int, Scan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm))
ATOLL_MPI(int, Scan_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm
          comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Scan_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Scatter, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, int root, MPI_Comm comm))
ATOLL_MPI(int, Scatter_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count
          recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
ATOLL_MPI(int, Scatter_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Scatter_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
          MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Scatterv, (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void
          *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
ATOLL_MPI(int, Scatterv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype
          sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
ATOLL_MPI(int, Scatterv_init, (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
          void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request
          *request))
ATOLL_MPI(int, Scatterv_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
          MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
          MPI_Info info, MPI_Request *request))
ATOLL_MPI(int, Send, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
ATOLL_MPI(int, Send_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
ATOLL_MPI(int, Send_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Send_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm
          comm, MPI_Request *request))
ATOLL_MPI(int, Sendrecv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void
          *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status))
ATOLL_MPI(int, Sendrecv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
          void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
          MPI_Status *status))
ATOLL_MPI(int, Sendrecv_replace, (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int
          recvtag, MPI_Comm comm, MPI_Status *status))
ATOLL_MPI(int, Sendrecv_replace_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int
          source, int recvtag, MPI_Comm comm, MPI_Status *status))
ATOLL_MPI(int, Session_attach_buffer, (MPI_Session session, void *buffer, int size))
ATOLL_MPI(int, Session_attach_buffer_c, (MPI_Session session, void *buffer, MPI_Count size))
ATOLL_MPI(int, Session_call_errhandler, (MPI_Session session, int errorcode))
ATOLL_MPI(int, Session_create_errhandler, (MPI_Session_errhandler_function *session_errhandler_fn, MPI_Errhandler
          *errhandler))
ATOLL_MPI(int, Session_detach_buffer, (MPI_Session session, void *buffer_addr, int *size))
ATOLL_MPI(int, Session_detach_buffer_c, (MPI_Session session, void *buffer_addr, MPI_Count *size))
ATOLL_MPI(int, Session_finalize, (MPI_Session *session))
ATOLL_MPI(int, Session_flush_buffer, (MPI_Session session))
ATOLL_MPI(int, Session_get_errhandler, (MPI_Session session, MPI_Errhandler *errhandler))
ATOLL_MPI(int, Session_get_info, (MPI_Session session, MPI_Info *info_used))
ATOLL_MPI(int, Session_get_nth_pset, (MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name))
ATOLL_MPI(int, Session_get_num_psets, (MPI_Session session, MPI_Info info, int *npset_names))
ATOLL_MPI(int, Session_get_pset_info, (MPI_Session session, const char *pset_name, MPI_Info *info))
ATOLL_MPI(int, Session_iflush_buffer, (MPI_Session session, MPI_Request *request))
ATOLL_MPI(int, Session_init, (MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session))
ATOLL_MPI(int, Session_set_errhandler, (MPI_Session session, MPI_Errhandler errhandler))
ATOLL_MPI(int, Ssend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
ATOLL_MPI(int, Ssend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
ATOLL_MPI(int, Ssend_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
          MPI_Request *request))
ATOLL_MPI(int, Ssend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm
          comm, MPI_Request *request))
ATOLL_MPI(int, Start, (MPI_Request *request))
ATOLL_MPI(int, Startall, (int count, MPI_Request array_of_requests[]))
ATOLL_MPI(int, Status_get_error, (const MPI_Status *status, int *error))
ATOLL_MPI(int, Status_get_source, (const MPI_Status *status, int *source))
ATOLL_MPI(int, Status_get_tag, (const MPI_Status *status, int *tag))
ATOLL_MPI(int, Status_set_cancelled, (MPI_Status *status, int flag))
ATOLL_MPI(int, Status_set_elements, (MPI_Status *status, MPI_Datatype datatype, int count))
ATOLL_MPI(int, Status_set_elements_c, (MPI_Status *status, MPI_Datatype datatype, MPI_Count count))
ATOLL_MPI(int, Status_set_elements_x, (MPI_Status *status, MPI_Datatype datatype, MPI_Count count))
ATOLL_MPI(int, Status_set_error, (MPI_Status *status, int error))
ATOLL_MPI(int, Status_set_source, (MPI_Status *status, int source))
ATOLL_MPI(int, Status_set_tag, (MPI_Status *status, int tag))
ATOLL_MPI(int, Test, (MPI_Request *request, int *flag, MPI_Status *status))
ATOLL_MPI(int, Test_cancelled, (const MPI_Status *status, int *flag))
ATOLL_MPI(int, Testall, (int count, MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses))
ATOLL_MPI(int, Testany, (int count, MPI_Request array_of_requests[], int *indx, int *flag, MPI_Status *status))
ATOLL_MPI(int, Testsome, (int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
          MPI_Status *array_of_statuses))
ATOLL_MPI(int, Topo_test, (MPI_Comm comm, int *status))
ATOLL_MPI(int, Type_commit, (MPI_Datatype *datatype))
ATOLL_MPI(int, Type_contiguous, (int count, MPI_Datatype oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_contiguous_c, (MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_darray, (int size, int rank, int ndims, const int array_of_gsizes[], const int
          array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype
          oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_darray_c, (int size, int rank, int ndims, const MPI_Count array_of_gsizes[], const int
          array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype
          oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_f90_complex, (int p, int r, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_f90_integer, (int r, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_f90_real, (int p, int r, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_hindexed, (int count, const int array_of_blocklengths[], const MPI_Aint
          array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_hindexed_c, (MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count
          array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_hindexed_block, (int count, int blocklength, const MPI_Aint array_of_displacements[],
          MPI_Datatype oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_hindexed_block_c, (MPI_Count count, MPI_Count blocklength, const MPI_Count
          array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype
          *newtype))
ATOLL_MPI(int, Type_create_hvector_c, (MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
          MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_indexed_block, (int count, int blocklength, const int array_of_displacements[],
          MPI_Datatype oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_indexed_block_c, (MPI_Count count, MPI_Count blocklength, const MPI_Count
          array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_keyval, (MPI_Type_copy_attr_function *type_copy_attr_fn, MPI_Type_delete_attr_function
          *type_delete_attr_fn, int *type_keyval, void *extra_state))
ATOLL_MPI(int, Type_create_resized, (MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_resized_c, (MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_struct, (int count, const int array_of_blocklengths[], const MPI_Aint
          array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_struct_c, (MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count
          array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_subarray, (int ndims, const int array_of_sizes[], const int array_of_subsizes[], const int
          array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_create_subarray_c, (int ndims, const MPI_Count array_of_sizes[], const MPI_Count
          array_of_subsizes[], const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype
          *newtype))
ATOLL_MPI(int, Type_delete_attr, (MPI_Datatype datatype, int type_keyval))
ATOLL_MPI(int, Type_dup, (MPI_Datatype oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_free, (MPI_Datatype *datatype))
ATOLL_MPI(int, Type_free_keyval, (int *type_keyval))
ATOLL_MPI(int, Type_get_attr, (MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag))
ATOLL_MPI(int, Type_get_contents, (MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int
          array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]))
ATOLL_MPI(int, Type_get_contents_c, (MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count
          max_large_counts, MPI_Count max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Count
          array_of_large_counts[], MPI_Datatype array_of_datatypes[]))
ATOLL_MPI(int, Type_get_envelope, (MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes,
          int *combiner))
ATOLL_MPI(int, Type_get_envelope_c, (MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses,
          MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner))
ATOLL_MPI(int, Type_get_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent))
ATOLL_MPI(int, Type_get_extent_c, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent))
ATOLL_MPI(int, Type_get_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent))
ATOLL_MPI(int, Type_get_name, (MPI_Datatype datatype, char *type_name, int *resultlen))
ATOLL_MPI(int, Type_get_true_extent, (MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent))
ATOLL_MPI(int, Type_get_true_extent_c, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent))
ATOLL_MPI(int, Type_get_true_extent_x, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent))
ATOLL_MPI(int, Type_get_value_index, (MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type))
ATOLL_MPI(int, Type_indexed, (int count, const int array_of_blocklengths[], const int array_of_displacements[],
          MPI_Datatype oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_indexed_c, (MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count
          array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_match_size, (int typeclass, int size, MPI_Datatype *datatype))
ATOLL_MPI(int, Type_set_attr, (MPI_Datatype datatype, int type_keyval, void *attribute_val))
ATOLL_MPI(int, Type_set_name, (MPI_Datatype datatype, const char *type_name))
ATOLL_MPI(int, Type_size, (MPI_Datatype datatype, int *size))
ATOLL_MPI(int, Type_size_c, (MPI_Datatype datatype, MPI_Count *size))
ATOLL_MPI(int, Type_size_x, (MPI_Datatype datatype, MPI_Count *size))
ATOLL_MPI(int, Type_vector, (int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_vector_c, (MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
          MPI_Datatype *newtype))
ATOLL_MPI(int, Unpack, (const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype
          datatype, MPI_Comm comm))
ATOLL_MPI(int, Unpack_c, (const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
          MPI_Datatype datatype, MPI_Comm comm))
ATOLL_MPI(int, Unpack_external, (const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position, void
          *outbuf, int outcount, MPI_Datatype datatype))
ATOLL_MPI(int, Unpack_external_c, (const char datarep[], const void *inbuf, MPI_Count insize, MPI_Count *position,
          void *outbuf, MPI_Count outcount, MPI_Datatype datatype))
ATOLL_MPI(int, Unpublish_name, (const char *service_name, MPI_Info info, const char *port_name))
ATOLL_MPI(int, Wait, (MPI_Request *request, MPI_Status *status))
ATOLL_MPI(int, Waitall, (int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses))
ATOLL_MPI(int, Waitany, (int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status))
ATOLL_MPI(int, Waitsome, (int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
          MPI_Status *array_of_statuses))
ATOLL_MPI(int, Win_allocate, (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win
          *win))
ATOLL_MPI(int, Win_allocate_c, (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
          MPI_Win *win))
ATOLL_MPI(int, Win_allocate_shared, (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
          MPI_Win *win))
ATOLL_MPI(int, Win_allocate_shared_c, (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
          MPI_Win *win))
ATOLL_MPI(int, Win_attach, (MPI_Win win, void *base, MPI_Aint size))
ATOLL_MPI(int, Win_call_errhandler, (MPI_Win win, int errorcode))
ATOLL_MPI(int, Win_complete, (MPI_Win win))
ATOLL_MPI(int, Win_create, (void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win))
ATOLL_MPI(int, Win_create_c, (void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win
          *win))
ATOLL_MPI(int, Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win))
ATOLL_MPI(int, Win_create_errhandler, (MPI_Win_errhandler_function *win_errhandler_fn, MPI_Errhandler *errhandler))
ATOLL_MPI(int, Win_create_keyval, (MPI_Win_copy_attr_function *win_copy_attr_fn, MPI_Win_delete_attr_function
          *win_delete_attr_fn, int *win_keyval, void *extra_state))
ATOLL_MPI(int, Win_delete_attr, (MPI_Win win, int win_keyval))
ATOLL_MPI(int, Win_detach, (MPI_Win win, const void *base))
ATOLL_MPI(int, Win_fence, (int assert, MPI_Win win))
ATOLL_MPI(int, Win_flush, (int rank, MPI_Win win))
ATOLL_MPI(int, Win_flush_all, (MPI_Win win))
ATOLL_MPI(int, Win_flush_local, (int rank, MPI_Win win))
ATOLL_MPI(int, Win_flush_local_all, (MPI_Win win))
ATOLL_MPI(int, Win_free, (MPI_Win *win))
ATOLL_MPI(int, Win_free_keyval, (int *win_keyval))
ATOLL_MPI(int, Win_get_attr, (MPI_Win win, int win_keyval, void *attribute_val, int *flag))
ATOLL_MPI(int, Win_get_errhandler, (MPI_Win win, MPI_Errhandler *errhandler))
ATOLL_MPI(int, Win_get_group, (MPI_Win win, MPI_Group *group))
ATOLL_MPI(int, Win_get_info, (MPI_Win win, MPI_Info *info_used))
ATOLL_MPI(int, Win_get_name, (MPI_Win win, char *win_name, int *resultlen))
ATOLL_MPI(int, Win_lock, (int lock_type, int rank, int assert, MPI_Win win))
ATOLL_MPI(int, Win_lock_all, (int assert, MPI_Win win))
ATOLL_MPI(int, Win_post, (MPI_Group group, int assert, MPI_Win win))
ATOLL_MPI(int, Win_set_attr, (MPI_Win win, int win_keyval, void *attribute_val))
ATOLL_MPI(int, Win_set_errhandler, (MPI_Win win, MPI_Errhandler errhandler))
ATOLL_MPI(int, Win_set_info, (MPI_Win win, MPI_Info info))
ATOLL_MPI(int, Win_set_name, (MPI_Win win, const char *win_name))
ATOLL_MPI(int, Win_shared_query, (MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr))
ATOLL_MPI(int, Win_shared_query_c, (MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr))
ATOLL_MPI(int, Win_start, (MPI_Group group, int assert, MPI_Win win))
ATOLL_MPI(int, Win_sync, (MPI_Win win))
ATOLL_MPI(int, Win_test, (MPI_Win win, int *flag))
ATOLL_MPI(int, Win_unlock, (int rank, MPI_Win win))
ATOLL_MPI(int, Win_unlock_all, (MPI_Win win))
ATOLL_MPI(int, Win_wait, (MPI_Win win))
ATOLL_MPI(MPI_Aint, Aint_add, (MPI_Aint base, MPI_Aint disp))
ATOLL_MPI(MPI_Aint, Aint_diff, (MPI_Aint addr1, MPI_Aint addr2))
ATOLL_MPI(double, Wtick, (void))
ATOLL_MPI(double, Wtime, (void))
ATOLL_MPI(MPI_Comm, Comm_fromint, (int comm))
ATOLL_MPI(int, Comm_toint, (MPI_Comm comm))
ATOLL_MPI(MPI_Errhandler, Errhandler_fromint, (int errhandler))
ATOLL_MPI(int, Errhandler_toint, (MPI_Errhandler errhandler))
ATOLL_MPI(MPI_File, File_fromint, (int file))
ATOLL_MPI(int, File_toint, (MPI_File file))
ATOLL_MPI(MPI_Group, Group_fromint, (int group))
ATOLL_MPI(int, Group_toint, (MPI_Group group))
ATOLL_MPI(MPI_Info, Info_fromint, (int info))
ATOLL_MPI(int, Info_toint, (MPI_Info info))
ATOLL_MPI(MPI_Message, Message_fromint, (int message))
ATOLL_MPI(int, Message_toint, (MPI_Message message))
ATOLL_MPI(MPI_Op, Op_fromint, (int op))
ATOLL_MPI(int, Op_toint, (MPI_Op op))
ATOLL_MPI(MPI_Request, Request_fromint, (int request))
ATOLL_MPI(int, Request_toint, (MPI_Request request))
ATOLL_MPI(MPI_Session, Session_fromint, (int session))
ATOLL_MPI(int, Session_toint, (MPI_Session session))
ATOLL_MPI(MPI_Datatype, Type_fromint, (int datatype))
ATOLL_MPI(int, Type_toint, (MPI_Datatype datatype))
ATOLL_MPI(MPI_Win, Win_fromint, (int win))
ATOLL_MPI(int, Win_toint, (MPI_Win win))
ATOLL_MPI(int, T_category_changed, (int *update_number))
ATOLL_MPI(int, T_category_get_categories, (int cat_index, int len, int indices[]))
ATOLL_MPI(int, T_category_get_cvars, (int cat_index, int len, int indices[]))
ATOLL_MPI(int, T_category_get_events, (int cat_index, int len, int indices[]))
ATOLL_MPI(int, T_category_get_index, (const char *name, int *cat_index))
ATOLL_MPI(int, T_category_get_info, (int cat_index, char *name, int *name_len, char *desc, int *desc_len, int
          *num_cvars, int *num_pvars, int *num_categories))
ATOLL_MPI(int, T_category_get_num, (int *num_cat))
ATOLL_MPI(int, T_category_get_num_events, (int cat_index, int *num_events))
ATOLL_MPI(int, T_category_get_pvars, (int cat_index, int len, int indices[]))
ATOLL_MPI(int, T_cvar_get_index, (const char *name, int *cvar_index))
ATOLL_MPI(int, T_cvar_get_info, (int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype,
          MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope))
ATOLL_MPI(int, T_cvar_get_num, (int *num_cvar))
ATOLL_MPI(int, T_cvar_handle_alloc, (int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count))
ATOLL_MPI(int, T_cvar_handle_free, (MPI_T_cvar_handle *handle))
ATOLL_MPI(int, T_cvar_read, (MPI_T_cvar_handle handle, void *buf))
ATOLL_MPI(int, T_cvar_write, (MPI_T_cvar_handle handle, const void *buf))
ATOLL_MPI(int, T_enum_get_info, (MPI_T_enum enumtype, int *num, char *name, int *name_len))
ATOLL_MPI(int, T_enum_get_item, (MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len))
ATOLL_MPI(int, T_event_callback_get_info, (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
          MPI_Info *info_used))
ATOLL_MPI(int, T_event_callback_set_info, (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
          MPI_Info info))
ATOLL_MPI(int, T_event_copy, (MPI_T_event_instance event_instance, void *buffer))
ATOLL_MPI(int, T_event_get_index, (const char *name, int *event_index))
ATOLL_MPI(int, T_event_get_info, (int event_index, char *name, int *name_len, int *verbosity, MPI_Datatype
          array_of_datatypes[], MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype, MPI_Info
          *info, char *desc, int *desc_len, int *bind))
ATOLL_MPI(int, T_event_get_num, (int *num_events))
ATOLL_MPI(int, T_event_get_source, (MPI_T_event_instance event_instance, int *source_index))
ATOLL_MPI(int, T_event_get_timestamp, (MPI_T_event_instance event_instance, MPI_Count *event_timestamp))
ATOLL_MPI(int, T_event_handle_alloc, (int event_index, void *obj_handle, MPI_Info info, MPI_T_event_registration
          *event_registration))
ATOLL_MPI(int, T_event_handle_free, (MPI_T_event_registration event_registration, void *user_data,
          MPI_T_event_free_cb_function free_cb_function))
ATOLL_MPI(int, T_event_handle_get_info, (MPI_T_event_registration event_registration, MPI_Info *info_used))
ATOLL_MPI(int, T_event_handle_set_info, (MPI_T_event_registration event_registration, MPI_Info info))
ATOLL_MPI(int, T_event_read, (MPI_T_event_instance event_instance, int element_index, void *buffer))
ATOLL_MPI(int, T_event_register_callback, (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
          MPI_Info info, void *user_data, MPI_T_event_cb_function event_cb_function))
ATOLL_MPI(int, T_event_set_dropped_handler, (MPI_T_event_registration event_registration,
          MPI_T_event_dropped_cb_function dropped_cb_function))
ATOLL_MPI(int, T_finalize, (void))
ATOLL_MPI(int, T_init_thread, (int required, int *provided))
ATOLL_MPI(int, T_pvar_get_index, (const char *name, int var_class, int *pvar_index))
ATOLL_MPI(int, T_pvar_get_info, (int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
          MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *readonly, int
          *continuous, int *atomic))
ATOLL_MPI(int, T_pvar_get_num, (int *num_pvar))
ATOLL_MPI(int, T_pvar_handle_alloc, (MPI_T_pvar_session session, int pvar_index, void *obj_handle, MPI_T_pvar_handle
          *handle, int *count))
ATOLL_MPI(int, T_pvar_handle_free, (MPI_T_pvar_session session, MPI_T_pvar_handle *handle))
ATOLL_MPI(int, T_pvar_read, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf))
ATOLL_MPI(int, T_pvar_readreset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf))
ATOLL_MPI(int, T_pvar_reset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle))
ATOLL_MPI(int, T_pvar_session_create, (MPI_T_pvar_session *session))
ATOLL_MPI(int, T_pvar_session_free, (MPI_T_pvar_session *session))
ATOLL_MPI(int, T_pvar_start, (MPI_T_pvar_session session, MPI_T_pvar_handle handle))
ATOLL_MPI(int, T_pvar_stop, (MPI_T_pvar_session session, MPI_T_pvar_handle handle))
ATOLL_MPI(int, T_pvar_write, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf))
ATOLL_MPI(int, T_source_get_info, (int source_index, char *name, int *name_len, char *desc, int *desc_len,
          MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info))
ATOLL_MPI(int, T_source_get_num, (int *num_sources))
ATOLL_MPI(int, T_source_get_timestamp, (int source_index, MPI_Count *timestamp))

ATOLL_MPI(MPI_Fint, Comm_c2f, (MPI_Comm handle))
ATOLL_MPI(MPI_Comm, Comm_f2c, (MPI_Fint handle))
ATOLL_MPI(MPI_Fint, Errhandler_c2f, (MPI_Errhandler handle))
ATOLL_MPI(MPI_Errhandler, Errhandler_f2c, (MPI_Fint handle))
ATOLL_MPI(MPI_Fint, File_c2f, (MPI_File handle))
ATOLL_MPI(MPI_File, File_f2c, (MPI_Fint handle))
ATOLL_MPI(MPI_Fint, Group_c2f, (MPI_Group handle))
ATOLL_MPI(MPI_Group, Group_f2c, (MPI_Fint handle))
ATOLL_MPI(MPI_Fint, Info_c2f, (MPI_Info handle))
ATOLL_MPI(MPI_Info, Info_f2c, (MPI_Fint handle))
ATOLL_MPI(MPI_Fint, Message_c2f, (MPI_Message handle))
ATOLL_MPI(MPI_Message, Message_f2c, (MPI_Fint handle))
ATOLL_MPI(MPI_Fint, Op_c2f, (MPI_Op handle))
ATOLL_MPI(MPI_Op, Op_f2c, (MPI_Fint handle))
ATOLL_MPI(MPI_Fint, Request_c2f, (MPI_Request handle))
ATOLL_MPI(MPI_Request, Request_f2c, (MPI_Fint handle))
ATOLL_MPI(MPI_Fint, Session_c2f, (MPI_Session handle))
ATOLL_MPI(MPI_Session, Session_f2c, (MPI_Fint handle))
ATOLL_MPI(MPI_Fint, Win_c2f, (MPI_Win handle))
ATOLL_MPI(MPI_Win, Win_f2c, (MPI_Fint handle))
ATOLL_MPI(MPI_Fint, Type_c2f, (MPI_Datatype handle))
ATOLL_MPI(MPI_Datatype, Type_f2c, (MPI_Fint handle))

/* What MPI 3.0 has removed, and older programs call. The ABI has no handles and numbers for it; these it leaves free. */
#define MPI_LB ((MPI_Datatype)0x204)
#define MPI_UB ((MPI_Datatype)0x205)
enum { MPI_COMBINER_HVECTOR_INTEGER = 171, MPI_COMBINER_HINDEXED_INTEGER = 172, MPI_COMBINER_STRUCT_INTEGER = 173 };
typedef MPI_Comm_errhandler_function MPI_Handler_function;

ATOLL_MPI(int, Address, (void *location, MPI_Aint *address))
ATOLL_MPI(int, Errhandler_create, (MPI_Handler_function *handler_fn, MPI_Errhandler *errhandler))
ATOLL_MPI(int, Errhandler_get, (MPI_Comm comm, MPI_Errhandler *errhandler))
ATOLL_MPI(int, Errhandler_set, (MPI_Comm comm, MPI_Errhandler errhandler))
ATOLL_MPI(int, Type_extent, (MPI_Datatype datatype, MPI_Aint *extent))
ATOLL_MPI(int, Type_hindexed, (int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype oldtype, MPI_Datatype
          *newtype))
ATOLL_MPI(int, Type_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype))
ATOLL_MPI(int, Type_lb, (MPI_Datatype datatype, MPI_Aint *displacement))
ATOLL_MPI(int, Type_struct, (int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype types[], MPI_Datatype
          *newtype))
ATOLL_MPI(int, Type_ub, (MPI_Datatype datatype, MPI_Aint *displacement))

#undef ATOLL_MPI

#ifdef __cplusplus
}
#endif

#endif
