/* Kernels as functions of a CPython extension module; one build serves Python 3.10 and later.

   An entry is described by two strings, what it takes and what it gives: q an int64, d a float64, f a float32,
   b a truth value, A and three characters a C-contiguous array (kind and size of its numbers as in numpy, number of
   dimensions), ( ) a tuple, n nothing.  Between here and the compiled code all of it travels in words of eight bytes,
   an array in 5 + 2 n of them: the block that owns it, the Python object that does, the number of its elements, their
   size, the first of them, the shape and the strides.  That is how Numba lays out an array. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>
#include <stdint.h>
#include <string.h>

#include "block.h"

typedef struct {
    const char *name, *takes, *gives;
    int32_t (*call)(const int64_t *arguments, int64_t *results); /* other than 0 if memory is short */
    void **native; /* where kernels that call this one find it */
} Entry;

enum { OWNER_WORDS = 5, MOST_PARTS = 16 };

#include "table.h" /* MOST_WORDS and entries[], made by the builder */

enum { COUNT = sizeof entries / sizeof *entries };

/* ------------------------------------------------------------------ from Python */

static int wrong_array(const Entry *entry, Py_ssize_t place, const char *spec, PyObject *thing)
{
    PyErr_Format(PyExc_TypeError,
                 "argument %zd of the kernel %s is not a C-contiguous array of %c%c numbers with %c dimensions, but %R",
                 place, entry->name, spec[1], spec[2], spec[3], (PyObject *)Py_TYPE(thing));
    return 0;
}

static int take_array(const Entry *entry, Py_ssize_t place, const char *spec, PyObject *thing, int64_t **words)
{
    if (!PyArray_Check(thing))
        return wrong_array(entry, place, spec, thing);
    PyArrayObject *array = (PyArrayObject *)thing;
    PyArray_Descr *number = PyArray_DESCR(array);
    int dimensions = spec[3] - '0', size = spec[2] - '0';
    if (PyArray_NDIM(array) != dimensions || number->kind != spec[1] || PyArray_ITEMSIZE(array) != size ||
        !PyArray_ISCARRAY_RO(array))
        return wrong_array(entry, place, spec, thing);
    int64_t *word = *words;
    *word++ = 0;
    *word++ = (int64_t)(intptr_t)thing;
    *word++ = PyArray_SIZE(array);
    *word++ = size;
    *word++ = (int64_t)(intptr_t)PyArray_DATA(array);
    for (int i = 0; i < dimensions; i++)
        *word++ = PyArray_DIM(array, i);
    for (int i = 0; i < dimensions; i++)
        *word++ = PyArray_STRIDE(array, i);
    *words = word;
    return 1;
}

/* Read one argument of the kind at *spec, and go on to the next kind. */
static int take(const Entry *entry, Py_ssize_t place, const char **spec, PyObject *thing, int64_t **words)
{
    switch (*(*spec)++) {
    case 'q': {
        int64_t number = PyLong_AsLongLong(thing);
        if (number == -1 && PyErr_Occurred())
            return 0;
        *(*words)++ = number;
        return 1;
    }
    case 'd': {
        double number = PyFloat_AsDouble(thing);
        if (number == -1.0 && PyErr_Occurred())
            return 0;
        memcpy((*words)++, &number, sizeof number);
        return 1;
    }
    case 'f': {
        double number = PyFloat_AsDouble(thing);
        if (number == -1.0 && PyErr_Occurred())
            return 0;
        float rounded = (float)number;
        **words = 0;
        memcpy((*words)++, &rounded, sizeof rounded);
        return 1;
    }
    case 'b': {
        int truth = PyObject_IsTrue(thing);
        if (truth < 0)
            return 0;
        *(*words)++ = truth;
        return 1;
    }
    case 'A':
        *spec += 3;
        return take_array(entry, place, *spec - 4, thing, words);
    default: { /* a tuple */
        if (!PyTuple_Check(thing)) {
            PyErr_Format(PyExc_TypeError, "argument %zd of the kernel %s is not a tuple", place, entry->name);
            return 0;
        }
        Py_ssize_t i = 0, count = PyTuple_Size(thing);
        for (; **spec != ')' && i < count; i++)
            if (!take(entry, place, spec, PyTuple_GetItem(thing, i), words))
                return 0;
        if (**spec != ')' || i < count) {
            PyErr_Format(PyExc_TypeError, "argument %zd of the kernel %s has %zd parts", place, entry->name, count);
            return 0;
        }
        ++*spec;
        return 1;
    }
    }
}

/* -------------------------------------------------------------------- to Python */

static void release(Block *block)
{
    if (__atomic_sub_fetch(&block->references, 1, __ATOMIC_ACQ_REL) == 0)
        NRT_MemInfo_call_dtor(block);
}

static void release_owned(PyObject *capsule)
{
    release(PyCapsule_GetPointer(capsule, NULL));
}

static int number_type(const char *spec)
{
    switch (spec[1]) {
    case 'f':
        return spec[2] == '8' ? NPY_FLOAT64 : NPY_FLOAT32;
    case 'i':
        return spec[2] == '8' ? NPY_INT64 : spec[2] == '4' ? NPY_INT32 : NPY_INT8;
    case 'u':
        return NPY_UINT8;
    default:
        return NPY_BOOL;
    }
}

static PyObject *give_array(const char *spec, const int64_t *word)
{
    int dimensions = spec[3] - '0';
    Block *block = (Block *)(intptr_t)word[0];
    PyObject *owner = (PyObject *)(intptr_t)word[1];
    npy_intp shape[8], strides[8];
    for (int i = 0; i < dimensions; i++) {
        shape[i] = word[OWNER_WORDS + i];
        strides[i] = word[OWNER_WORDS + dimensions + i];
    }
    if (block == NULL) /* an argument, or a part of it */
        Py_XINCREF(owner);
    else
        owner = PyCapsule_New(block, NULL, release_owned);
    if (owner == NULL) {
        if (block != NULL)
            release(block);
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_SystemError, "a kernel returned an array of nobody's");
    }
    PyObject *array = PyArray_New(&PyArray_Type, dimensions, shape, number_type(spec), strides,
                                  (void *)(intptr_t)word[4], 0, NPY_ARRAY_WRITEABLE, NULL);
    if (array == NULL) {
        Py_DECREF(owner);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)array, owner) < 0) { /* which takes the owner in any case */
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

/* The result of the kind at *spec; on failure the arrays that follow are released all the same. */
static PyObject *give(const char **spec, const int64_t **words)
{
    switch (*(*spec)++) {
    case 'q':
        return PyLong_FromLongLong(*(*words)++);
    case 'd': {
        double number;
        memcpy(&number, (*words)++, sizeof number);
        return PyFloat_FromDouble(number);
    }
    case 'b':
        return PyBool_FromLong((long)*(*words)++);
    case 'A': {
        PyObject *array = give_array(*spec - 1, *words);
        *words += OWNER_WORDS + 2 * ((*spec)[2] - '0');
        *spec += 3;
        return array;
    }
    case '(': {
        PyObject *parts[MOST_PARTS];
        int count = 0, failed = 0;
        while (**spec != ')') {
            parts[count] = give(spec, words);
            failed |= parts[count++] == NULL;
        }
        ++*spec;
        PyObject *tuple = failed ? NULL : PyTuple_New(count);
        for (int i = 0; i < count; i++) {
            if (tuple != NULL)
                PyTuple_SetItem(tuple, i, parts[i]);
            else
                Py_XDECREF(parts[i]);
        }
        return tuple;
    }
    default:
        Py_RETURN_NONE;
    }
}

/* ------------------------------------------------------------------------ calls */

static PyObject *call(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    const Entry *entry = PyCapsule_GetPointer(self, NULL);
    int64_t words[MOST_WORDS], results[MOST_WORDS], *word = words;
    const char *spec = entry->takes;
    Py_ssize_t place = 0;
    for (; *spec != '\0' && place < count; place++)
        if (!take(entry, place, &spec, arguments[place], &word))
            return NULL;
    if (*spec != '\0' || place < count)
        return PyErr_Format(PyExc_TypeError, "the kernel %s does not take %zd arguments", entry->name, count);
    int32_t failed, guessed;
    Py_BEGIN_ALLOW_THREADS
    memory_was_short = 0;
    failed = entry->call(words, results);
    guessed = !failed && memory_was_short; /* the results are there, but somewhere a sign was not computed */
    Py_END_ALLOW_THREADS
    if (guessed) {
        const int64_t *result = results;
        spec = entry->gives;
        Py_XDECREF(give(&spec, &result));
    }
    if (failed || guessed)
        return PyErr_Format(PyExc_MemoryError, "the kernel %s found no memory for its arrays", entry->name);
    const int64_t *result = results;
    spec = entry->gives;
    return give(&spec, &result);
}

static PyMethodDef as_method[COUNT];

static const Entry *find(PyObject *name)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (text == NULL)
        return NULL;
    for (int i = 0; i < COUNT; i++)
        if (strcmp(entries[i].name, text) == 0)
            return &entries[i];
    PyErr_Format(PyExc_KeyError, "there is no kernel %s", text);
    return NULL;
}

static PyObject *entry_named(PyObject *module, PyObject *name)
{
    const Entry *entry = find(name);
    if (entry == NULL)
        return NULL;
    PyMethodDef *method = &as_method[entry - entries];
    *method = (PyMethodDef){entry->name, (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL};
    PyObject *self = PyCapsule_New((void *)entry, NULL, NULL);
    if (self == NULL)
        return NULL;
    PyObject *function = PyCFunction_NewEx(method, self, NULL);
    Py_DECREF(self);
    return function;
}

static PyObject *address_of(PyObject *module, PyObject *name)
{
    const Entry *entry = find(name);
    return entry == NULL ? NULL : PyLong_FromVoidPtr(*entry->native);
}

static PyObject *all_names(PyObject *module, PyObject *nothing)
{
    PyObject *names = PyList_New(COUNT);
    for (int i = 0; names != NULL && i < COUNT; i++) {
        PyObject *name = PyUnicode_FromString(entries[i].name);
        if (name == NULL || PyList_SetItem(names, i, name) < 0)
            Py_CLEAR(names);
    }
    return names;
}

/* Whether this processor has what the kernels were compiled for; nothing here was. */
static PyObject *supported(PyObject *module, PyObject *nothing)
{
#ifdef FEATURES
    __builtin_cpu_init();
    return PyBool_FromLong(FEATURES);
#else
    Py_RETURN_TRUE;
#endif
}

static PyMethodDef functions[] = {
    {"entry", entry_named, METH_O, "The function that calls a kernel."},
    {"address", address_of, METH_O, "Where the machine code of a kernel begins."},
    {"names", all_names, METH_NOARGS, "The names of all kernels."},
    {"supported", supported, METH_NOARGS, "Whether this processor can run them."},
    {NULL, NULL, 0, NULL},
};

static int start(PyObject *module)
{
    import_array1(-1);
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, start}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "entries", "Compiled kernels.", 0, functions, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_entries(void)
{
    return PyModuleDef_Init(&definition);
}
