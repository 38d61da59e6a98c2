/*
 * quick.c - the extension covey._quick: the calls of a team and of messages that a program makes
 * most often, with arrays as Python has them, in one step.
 *
 * By cffi such a call takes a dozen steps of Python, some two microseconds, which with more tasks
 * than processors each of them spends one after the other. Here it is a tenth of that. It does only
 * what is plain: for all else it returns UNFIT before anything was done, and the call goes the long
 * way, where errors are found and told, too. A call that takes longer than a slice of time gives
 * its request, for which Python then waits by slices as ever.
 *
 * Buffers belong to the stable ABI since Python 3.11: before that there is no such extension.
 */
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <covey.h>

#include <stdbool.h>
#include <string.h>

#define SLICE_US 100000
#define UNFIT (-1000000)

struct array {
    Py_buffer view;
    int type;
    size_t count;
};

static int type_of(const char *format)
{
    static const struct {
        const char *format;
        int type;
    } types[] = {{"d", COVEY_DOUBLE},
                 {"f", COVEY_FLOAT},
                 {"l", sizeof(long) == 8 ? COVEY_INT64 : COVEY_INT32},
                 {"B", COVEY_UINT8},
                 {"i", COVEY_INT32},
                 {"q", COVEY_INT64},
                 {"Zd", COVEY_COMPLEX_DOUBLE},
                 {"Zf", COVEY_COMPLEX_FLOAT},
                 {"b", COVEY_INT8},
                 {"h", COVEY_INT16},
                 {"H", COVEY_UINT16},
                 {"I", COVEY_UINT32},
                 {"L", sizeof(long) == 8 ? COVEY_UINT64 : COVEY_UINT32},
                 {"Q", COVEY_UINT64},
                 {"?", COVEY_UINT8}};
    for (size_t i = 0; format != NULL && i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].format, format) == 0)
            return types[i].type;
    return 0;
}

/* False: the long way takes it, or says what is wrong with it. */
static bool array_take(struct array *array, PyObject *object, bool writable)
{
    int flags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, &array->view, flags) < 0) {
        PyErr_Clear();
        return false;
    }
    array->type = type_of(array->view.format);
    if (array->type == 0 || array->view.itemsize == 0) {
        PyBuffer_Release(&array->view);
        return false;
    }
    array->count = (size_t)(array->view.len / array->view.itemsize);
    return true;
}

/* Both, of one type; the second one is written. */
static bool arrays_take(struct array *send, struct array *recv, PyObject *const *objects)
{
    if (!array_take(send, objects[0], false))
        return false;
    if (array_take(recv, objects[1], true)) {
        if (send->type == recv->type)
            return true;
        PyBuffer_Release(&recv->view);
    }
    PyBuffer_Release(&send->view);
    return false;
}

/* Waits for a call that was started: 0, or an error, and *req is NULL. ETIMEOUT: it goes on. */
static int finish(int start, covey_req_t **req)
{
    if (start < 0)
        *req = NULL;
    int error = start < 0 ? start : covey_wait(*req, SLICE_US);
    if (start >= 0 && error != COVEY_ETIMEOUT)
        covey_req_free(req);
    return error;
}

static PyObject *answer(long long result)
{
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(result);
}

static int number_of(PyObject *object)
{
    long number = PyLong_AsLong(object);
    if (PyErr_Occurred() || number != (int)number) {
        PyErr_Clear();
        return INT_MIN; /* no rank, tag or operation */
    }
    return (int)number;
}

static PyObject *quick_barrier(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    long long result = UNFIT;
    covey_team_t *team = n == 2 ? PyLong_AsVoidPtr(args[0]) : NULL;
    covey_req_t **req = team == NULL ? NULL : PyLong_AsVoidPtr(args[1]);
    if (req == NULL)
        return answer(result);
    Py_BEGIN_ALLOW_THREADS;
    result = finish(covey_ibarrier(team, req), req);
    Py_END_ALLOW_THREADS;
    return answer(result);
}

static PyObject *quick_bcast(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    struct array a;
    long long result = UNFIT;
    covey_team_t *team = n == 4 ? PyLong_AsVoidPtr(args[0]) : NULL;
    covey_req_t **req = team == NULL ? NULL : PyLong_AsVoidPtr(args[1]);
    int root = req == NULL ? INT_MIN : number_of(args[3]);
    if (root == INT_MIN || !array_take(&a, args[2], covey_team_rank(team) != root))
        return answer(result);
    Py_BEGIN_ALLOW_THREADS;
    result = finish(covey_ibcast(team, root, a.type, a.view.buf, a.count, req), req);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&a.view);
    return answer(result);
}

static PyObject *quick_allreduce(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    struct array send, recv;
    long long result = UNFIT;
    covey_team_t *team = n == 5 ? PyLong_AsVoidPtr(args[0]) : NULL;
    covey_req_t **req = team == NULL ? NULL : PyLong_AsVoidPtr(args[1]);
    int op = req == NULL ? INT_MIN : number_of(args[4]);
    if (op == INT_MIN || !arrays_take(&send, &recv, args + 2))
        return answer(result);
    if (recv.count >= send.count) {
        Py_BEGIN_ALLOW_THREADS;
        result = finish(
            covey_iallreduce(team, op, send.type, send.view.buf, recv.view.buf, send.count, req),
            req);
        Py_END_ALLOW_THREADS;
    }
    PyBuffer_Release(&send.view);
    PyBuffer_Release(&recv.view);
    return answer(result);
}

static PyObject *quick_alltoall(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    struct array send, recv;
    long long result = UNFIT;
    covey_team_t *team = n == 4 ? PyLong_AsVoidPtr(args[0]) : NULL;
    covey_req_t **req = team == NULL ? NULL : PyLong_AsVoidPtr(args[1]);
    if (req == NULL || !arrays_take(&send, &recv, args + 2))
        return answer(result);
    size_t size = (size_t)covey_team_size(team);
    if (recv.count >= send.count && send.count % size == 0) {
        Py_BEGIN_ALLOW_THREADS;
        result = finish(
            covey_ialltoall(team, send.type, send.view.buf, recv.view.buf, send.count / size, req),
            req);
        Py_END_ALLOW_THREADS;
    }
    PyBuffer_Release(&send.view);
    PyBuffer_Release(&recv.view);
    return answer(result);
}

/* A VM, an array, the tid, the tag. */
struct message {
    covey_t *vm;
    struct array a;
    int tid, tag;
};

/* False: they are not of that kind, and nothing is taken. */
static bool message_take(struct message *m, PyObject *const *args, Py_ssize_t n, bool writable)
{
    m->vm = n == 4 ? PyLong_AsVoidPtr(args[0]) : NULL;
    if (m->vm == NULL)
        return false;
    m->tid = number_of(args[2]);
    m->tag = number_of(args[3]);
    return m->tid != INT_MIN && m->tag != INT_MIN && array_take(&m->a, args[1], writable);
}

/* 0, an error, or the address of the request that goes on after a slice of time, and is the
 * caller's. */
static PyObject *quick_send(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    struct message m;
    covey_req_t *req = NULL;
    long long result = UNFIT;
    if (!message_take(&m, args, n, false))
        return answer(result);
    Py_BEGIN_ALLOW_THREADS;
    result = finish(covey_isend_array(m.vm, m.tid, m.tag, m.a.type, m.a.view.buf, m.a.count, &req),
                    &req);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&m.a.view);
    return answer(result == COVEY_ETIMEOUT ? (intptr_t)req : result);
}

/* Into the array: the number of elements, or an error, ETIMEOUT after a slice of time. */
static PyObject *quick_recv(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    struct message m;
    size_t count = 0;
    long long result = UNFIT;
    if (!message_take(&m, args, n, true))
        return answer(result);
    Py_BEGIN_ALLOW_THREADS;
    result = covey_recv_array(m.vm, m.tid, m.tag, SLICE_US, m.a.type, m.a.view.buf, m.a.count,
                              &count, NULL);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&m.a.view);
    return answer(result < 0 ? result : (long long)count);
}

/* ---- objects, whose pickle is one item of a message ------------------------------------------ */

#define COPIED_MAX 65536 /* bytes; longer ones are loaded where they lie */

/* A VM or a team, and who: a tid or a rank. */
struct object_call {
    void *handle;
    bool by_team;
    int peer, tag;
};

static bool object_call_take(struct object_call *call, PyObject *const *args)
{
    call->handle = PyLong_AsVoidPtr(args[0]);
    call->by_team = number_of(args[1]) == 1;
    call->peer = number_of(args[2]);
    call->tag = number_of(args[3]);
    return call->handle != NULL && call->peer != INT_MIN && call->tag != INT_MIN;
}

/* Handle, by_team, peer, tag, pickle: results as of send. */
static PyObject *quick_send_object(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    struct object_call c;
    char *bytes;
    Py_ssize_t size;
    covey_req_t *req = NULL;
    long long result = UNFIT;
    if (n != 5 || !object_call_take(&c, args) || PyBytes_AsStringAndSize(args[4], &bytes, &size))
        return answer(result);
    Py_BEGIN_ALLOW_THREADS;
    int start = c.by_team ? covey_team_isend_array(c.handle, c.peer, c.tag, COVEY_BYTES, bytes,
                                                   (size_t)size, &req)
                          : covey_isend_array(c.handle, c.peer, c.tag, COVEY_BYTES, bytes,
                                              (size_t)size, &req);
    result = finish(start, &req);
    Py_END_ALLOW_THREADS;
    return answer(result == COVEY_ETIMEOUT ? (intptr_t)req : result);
}

/* Of a message whose one item is short bytes: these, and the message is freed. Else its address. */
static PyObject *pickle_of(covey_msg_t *message)
{
    const void *base;
    size_t size, more;
    int type;
    if (covey_peek(message, &type, &size) == 0 && type == COVEY_BYTES && size <= COPIED_MAX &&
        covey_unpack_view(message, COVEY_BYTES, &base, &size) == 0 &&
        covey_peek(message, &type, &more) == COVEY_EEND) {
        PyObject *bytes = PyBytes_FromStringAndSize(base, (Py_ssize_t)size);
        covey_msg_free(message);
        return bytes;
    }
    covey_msg_rewind(message);
    return answer((intptr_t)message);
}

/* Handle, by_team, peer, tag: bytes, the address of a message, or an error, ETIMEOUT after a slice
 * of time. */
static PyObject *quick_recv_object(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    struct object_call c;
    covey_msg_t *message = NULL;
    long long result = UNFIT;
    if (n != 4 || !object_call_take(&c, args))
        return answer(result);
    Py_BEGIN_ALLOW_THREADS;
    result = c.by_team ? covey_team_recv(c.handle, c.peer, c.tag, SLICE_US, &message)
                       : covey_recv(c.handle, c.peer, c.tag, SLICE_US, &message);
    Py_END_ALLOW_THREADS;
    return result < 0 ? answer(result) : pickle_of(message);
}

/* clang-format off */
#define CALL(name) {#name, (PyCFunction)(void (*)(void))quick_##name, METH_FASTCALL, NULL}
/* clang-format on */
static PyMethodDef calls[] = {CALL(barrier),     CALL(bcast),       CALL(allreduce),
                              CALL(alltoall),    CALL(send),        CALL(recv),
                              CALL(send_object), CALL(recv_object), {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_quick", .m_size = 0,
                                    .m_methods = calls};

PyMODINIT_FUNC PyInit__quick(void)
{
    return PyModule_Create(&module);
}
