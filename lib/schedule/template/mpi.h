/*
 * mpi.h - what template/mpi.c needs of MPI 3, declared, so that it is compiled where no MPI is; and
 * the tables that stand above it alone. The program that is made of the template includes <mpi.h>
 * of the MPI that it is for.
 */
#ifndef COVEY_LIB_SCHEDULE_TEMPLATE_MPI_H
#define COVEY_LIB_SCHEDULE_TEMPLATE_MPI_H

#include "lib/schedule/template/tables.h"

#include <stddef.h>

typedef struct mpi_comm *MPI_Comm;
typedef struct mpi_datatype *MPI_Datatype;
typedef struct mpi_request *MPI_Request;
typedef struct mpi_status MPI_Status;
typedef ptrdiff_t MPI_Aint;
typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void *, void *);

enum { MPI_SUCCESS, MPI_ERR_TYPE = 3, MPI_ERR_NO_MEM = 34 };
enum { MPI_COMBINER_NAMED, MPI_COMBINER_DUP, MPI_COMBINER_CONTIGUOUS };
enum { MPI_UNDEFINED = -32766, MPI_KEYVAL_INVALID = -1, MPI_MAX_PROCESSOR_NAME = 256 };
#define MPI_COMM_NULL ((MPI_Comm)0)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0)
#define MPI_REQUEST_NULL ((MPI_Request)0)
#define MPI_BYTE ((MPI_Datatype)1)
#define MPI_IN_PLACE ((void *)1)
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function *)0)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)

int MPI_Alltoall(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int PMPI_Allgather(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int PMPI_Alltoall(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, int *,
                            void *);
int PMPI_Comm_dup(MPI_Comm, MPI_Comm *);
int PMPI_Comm_free(MPI_Comm *);
int PMPI_Comm_get_attr(MPI_Comm, int, void *, int *);
int PMPI_Comm_rank(MPI_Comm, int *);
int PMPI_Comm_set_attr(MPI_Comm, int, void *);
int PMPI_Comm_size(MPI_Comm, int *);
int PMPI_Comm_test_inter(MPI_Comm, int *);
int PMPI_Get_processor_name(char *, int *);
int PMPI_Irecv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int PMPI_Isend(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int PMPI_Issend(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int PMPI_Pack(const void *, int, MPI_Datatype, void *, int, int *, MPI_Comm);
int PMPI_Pack_size(int, MPI_Datatype, MPI_Comm, int *);
int PMPI_Sendrecv(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int,
                  MPI_Comm, MPI_Status *);
int PMPI_Type_free(MPI_Datatype *);
int PMPI_Type_get_contents(MPI_Datatype, int, int, int, int *, MPI_Aint *, MPI_Datatype *);
int PMPI_Type_get_envelope(MPI_Datatype, int *, int *, int *, int *);
int PMPI_Type_get_extent(MPI_Datatype, MPI_Aint *, MPI_Aint *);
int PMPI_Type_size(MPI_Datatype, int *);
int PMPI_Unpack(const void *, int, int *, void *, int, MPI_Datatype, MPI_Comm);
int PMPI_Waitall(int, MPI_Request *, MPI_Status *);
int PMPI_Waitsome(int, MPI_Request *, int *, int *, MPI_Status *);

#define LEAST 2048
static const char *const hosts[RANKS] = {"a", "b", "c"};

#endif
