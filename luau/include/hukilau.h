/*
 * hukilau.h: the C interface of Hukilau's Luau, for Go, Rust, Python or C hosts.
 *
 * Rules that hold for every function here:
 *  - No C++ exception and no longjmp leaves a function: what fails comes back as a status.
 *  - An hk_vm, and all that belongs to it, is used by one thread at a time. Functions marked
 *    "any thread" are the exception. A host call handed to hk_host.call may use its own VM again.
 *  - Values cross in one buffer (see "Flat values"), never element by element.
 *  - Memory that an hk_result points to is valid until the next call on the same VM at the same
 *    nesting depth.
 *  - Objects that stay in the VM are named by hk_ref. A reference to an object that is gone, or
 *    that a reset has taken away, is an error (HK_ERR_INVALID), never a crash. One inside of flat
 *    data lives as long as the data, the arguments of a host call until it returns; hk_hold makes
 *    one that lasts until hk_release.
 */
#ifndef HUKILAU_H
#define HUKILAU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HK_ABI_VERSION 1

typedef struct hk_vm hk_vm;             /* one Luau VM with its own memory */
typedef struct hk_bytecode hk_bytecode; /* compiled code, immutable, shared by any threads and VMs */
typedef uint64_t hk_ref;                /* an object of one VM; 0 names nothing */

typedef enum hk_status
{
    HK_OK = 0,           /* finished; data holds count values */
    HK_YIELD = 1,        /* the thread yielded count values; resume it with thread */
    HK_WAIT = 2,         /* the thread waits for the host call named by token */
    HK_SLICE = 3,        /* the thread was broken off on request; resume it without values */
    HK_ERR_RUNTIME = 16, /* an error reached the top; data holds one error record */
    HK_ERR_COMPILE = 17, /* source does not compile; data holds one error record */
    HK_ERR_MEMORY = 18,  /* the memory limit was reached; data holds one error record */
    HK_ERR_KILLED = 19,  /* hk_kill took effect; token is the reason, data holds the list of frames where the
                            script was, if it was anywhere. Only reset or close help now */
    HK_ERR_INVALID = 20, /* wrong use: data is a text that says what */
    HK_ERR_CONVERT = 21, /* a value cannot cross; data is a text with the path */
    HK_ERR_LIMIT = 22    /* too large for this interface; data is a text */
} hk_status;

typedef struct hk_result
{
    int32_t status;      /* hk_status */
    uint32_t count;      /* number of flat values in data */
    hk_ref thread;       /* HK_YIELD, HK_WAIT, HK_SLICE: what to resume; load and thread_new: the object */
    uint64_t token;      /* HK_WAIT: which host call; HK_ERR_KILLED: the reason */
    const uint8_t* data; /* flat values, an error record, or a text */
    size_t size;         /* of data, in bytes */
} hk_result;

/*
 * Flat values. One value is a tag byte and its payload, little-endian, unaligned.
 */
enum
{
    HK_T_NIL = 0,
    HK_T_FALSE = 1,
    HK_T_TRUE = 2,
    HK_T_NUMBER = 3,  /* f64 */
    HK_T_INTEGER = 4, /* i64: Luau's own 64-bit integer type */
    HK_T_STRING = 5,  /* u32 size, bytes */
    HK_T_VECTOR = 6,  /* 3 x f32 */
    HK_T_BUFFER = 7,  /* u32 size, bytes */
    HK_T_TABLE = 8,   /* u8 flags, u32 array length, u32 pairs, values, then key and value of each pair.
                         A pair with value nil is a JSON null under that key. */
    HK_T_NUMBERS = 9, /* u32 length, f64 each: a table that is an array of numbers */
    HK_T_REF = 10,    /* u8 Luau type (HK_REF_*), u64 hk_ref */
    HK_T_NULL = 11,   /* json.null */
    HK_T_EXACT = 12,  /* u32 size, digits: a whole number outside 64 bits */
    HK_T_HOSTFN = 13, /* into the VM only: u32 function id, u8 flags, u32 size, name */
    HK_T_NATIVE = 14, /* into the VM only: u32 size, name of something built into the library */
    HK_T_ERROR = 15   /* into the VM only: then a table value that prints as its `message`. A number under
                         the key "" is the host's own for it, which error records bring back */
};
enum
{
    HK_TABLE_ARRAY = 1,
    HK_TABLE_ERROR = 2,
    HK_TABLE_READONLY = 4,
    HK_TABLE_FOLDED = 8,
    HK_TABLE_LAZY = 16
};
/* Into the VM only. HK_TABLE_FOLDED: keys are lower-case texts, and reading ignores case.
 * HK_TABLE_LAZY: the value of the key "" is a function. It is asked once for each field that is
 * missing, by name, and what it gives stays in the table unless it is nil. Scripts cannot change it, and
 * no such call counts as one that they made. */
enum
{
    HK_FN_MAY_WAIT = 1,
    HK_FN_PURE = 2, /* what a call does may be kept in an image: hk_vm_impure does not mind it */
    HK_FN_QUIET = 4 /* a call that does not wait shows nothing, so what was printed before may be given later */
};                  /* HK_T_HOSTFN flags */
enum
{
    HK_REF_FUNCTION = 1,
    HK_REF_THREAD = 2,
    HK_REF_TABLE = 3,
    HK_REF_OTHER = 4
};

#define HK_MAX_DEPTH 200 /* nesting of tables in a flat value */

/* An error record is these flat values in order: message (string), error value (any; nil when it
 * is the message or cannot cross; what a table holds that cannot cross is a text, as "<function>"), then a
 * table that lists the frames, innermost first, each an array {chunk name, line or 0, function name or ""},
 * then the host's number for the error (number; 0 when it is none of the host's), then what the failed
 * operation was about: nil when that is not known, or an array of
 *   kind     "global", "local", "upvalue", "field", "method", "element" (a value in brackets), "result" (of a
 *            call) or "literal"
 *   text     the expression, as "json.stringify"
 *   type     of its value, as "nil"
 *   owner    of a field or method, the expression in front: "json"; else ""
 *   key      of a field, method or global: "stringify"; else ""
 *   near     the name that looks like key, among those that the owner has; "" when none does
 *   names    an array of the first names that the owner has, in order; empty for a global
 *   count    how many names there are (number)
 * Luau's own message, which scripts see, says none of it. Records of hk_compile end before the frames. */

/*
 * Host functions.
 */
typedef enum hk_call_status
{
    HK_CALL_RETURN = 0, /* out holds the results */
    HK_CALL_ERROR = 1,  /* out holds one value: the error to raise */
    HK_CALL_WAIT = 2,   /* the result comes later through hk_resume; token names it. Only when can_wait */
    HK_CALL_NUMBER = 3, /* number is the only result: the short way for the most frequent one */
    HK_CALL_MEMORY = 4  /* there is no room for the result: what a call has until the host sets another */
} hk_call_status;

typedef struct hk_call
{
    uint64_t host;  /* hk_vm_options.host */
    uint32_t id;    /* of the function: HK_T_HOSTFN */
    uint32_t nargs; /* flat values in args */
    const uint8_t* args;
    size_t args_size;
    uint8_t* out; /* space for results; see hk_call_reserve */
    size_t out_capacity;
    size_t out_size;   /* set by the host */
    uint32_t nresults; /* set by the host: flat values in out */
    int32_t status;    /* set by the host: hk_call_status */
    uint32_t can_wait; /* 1: HK_CALL_WAIT is allowed here; 0: Luau cannot yield here, so wait in place */
    uint32_t reserved;
    uint64_t token; /* set by the host with HK_CALL_WAIT */
    double number;  /* set by the host with HK_CALL_NUMBER */
    hk_vm* vm;
} hk_call;

/* Makes room for size bytes in call->out; keeps nothing. Returns 0 when the memory limit says no. */
int hk_call_reserve(hk_call* call, size_t size);

/* Any thread, while the VM is open: 1 when the calling thread is inside a host call of this VM, so
 * that it may use the VM. */
int hk_in_host_call(const hk_vm* vm);

/* Takes up to most ids of host functions that were collected: no script can call them again, but for
 * what an image brings back. An id comes once for each HK_T_HOSTFN that carried it. */
size_t hk_take_unused(hk_vm* vm, uint32_t* ids, size_t most);

typedef struct hk_host
{
    void (*call)(hk_call* call);
    /* What scripts print: in order, before any later host call. It must not use the VM. */
    void (*output)(uint64_t host, const uint8_t* data, size_t size);
} hk_host;

/*
 * VMs.
 */
enum
{
    HK_VM_MALLOC = 1, /* memory from malloc instead of an arena: for sanitizers; no image */
    HK_VM_NATIVE = 2, /* native code where the machine supports it */
    HK_VM_LINES = 4   /* the output hook is called after each print, as a terminal wants it */
};

typedef struct hk_vm_options
{
    size_t memory_limit; /* bytes; 0: HK_DEFAULT_MEMORY */
    uint32_t flags;      /* HK_VM_* */
    uint32_t reserved;
    uint64_t host;        /* handed back in every hk_call */
    const hk_host* hooks; /* must outlive the VM; NULL: no host functions, print is dropped */
} hk_vm_options;

#define HK_DEFAULT_MEMORY ((size_t)256 << 20)

/* Makes a sandboxed VM. *out is NULL unless the status is HK_OK. */
hk_result hk_vm_new(const hk_vm_options* options, hk_vm** out);
/* Not from within a host call of the same VM. */
void hk_vm_close(hk_vm* vm);

typedef struct hk_limits
{
    uint64_t host_calls; /* 0: no limit */
    uint64_t output;     /* bytes printed; 0: no limit */
    size_t memory;       /* bytes, at most hk_vm_options.memory_limit; 0: that */
} hk_limits;

/* Begins run number `run` (above every earlier one of this VM, below 2^56): counters start at zero,
 * and kills of earlier runs no longer count. Not from within a host call. */
void hk_run_begin(hk_vm* vm, uint64_t run, const hk_limits* limits);

/* Why a run is ended. Values from HK_KILL_USER on are the host's own. */
enum
{
    HK_KILL_HOST_CALLS = 1,
    HK_KILL_OUTPUT = 2,
    HK_KILL_USER = 16
};

/* Any thread: ends run number `run` at its next safe point. No pcall can catch it. A kill of a run
 * that is over has no effect, and the first kill of a run gives the reason. The VM must not be closed
 * at the same time. */
void hk_kill(hk_vm* vm, uint64_t run, uint32_t reason);

enum
{
    HK_ATTEND_SLICE = 1, /* break off (HK_SLICE), where it can */
    HK_ATTEND_SAMPLE = 2 /* note the stack, while a profile is taken */
};
/* Any thread: asks the running script for something at its next safe point. */
void hk_attend(hk_vm* vm, uint32_t what);

/* Any thread: counts host memory used for this VM against its memory limit. Returns 0 when the
 * limit says no; nothing is counted then. */
int hk_charge(hk_vm* vm, size_t bytes);
void hk_uncharge(hk_vm* vm, size_t bytes);

typedef struct hk_stats
{
    uint64_t memory_used, memory_peak, memory_limit; /* bytes */
    uint64_t host_calls, output;                     /* of this run */
    uint64_t image_bytes;                            /* 0: no image */
    uint64_t refs;                                   /* live hk_ref of this run */
    uint64_t checks; /* calls of assert in this run, by code compiled with count_checks */
} hk_stats;
void hk_vm_stats(hk_vm* vm, hk_stats* out);

/*
 * Profiles: where scripts spend processor time. While one is taken, somebody calls hk_attend with
 * HK_ATTEND_SAMPLE again and again, once a millisecond perhaps, and each time the script notes its
 * stack with the time that its OS thread used since the one before. Waiting takes none. Nothing that
 * limits a run counts what a profile takes; at most some twenty MB.
 */
enum
{
    HK_FRAME_LUAU = 0,    /* a function of a chunk */
    HK_FRAME_BUILTIN = 1, /* one of Luau's library, or of the host's in C++ */
    HK_FRAME_HOST = 2,    /* HK_T_HOSTFN */
    HK_FRAME_NOTE = 3     /* none: name is a remark of the profile itself */
};
typedef struct hk_frame
{
    const char* name;  /* not terminated */
    const char* chunk; /* as given to hk_load; HK_FRAME_LUAU alone has chunk and lines */
    uint32_t name_size, chunk_size;
    int32_t defined; /* line where the function begins */
    int32_t line;    /* line where it was */
    uint32_t kind;   /* HK_FRAME_* */
    uint32_t reserved;
} hk_frame;
typedef struct hk_stack
{
    uint32_t parent;      /* number of the stack around it, counted from 1; 0: it is an outermost frame */
    uint32_t frame;       /* number of its innermost frame, counted from 1 */
    uint64_t samples;     /* that ended there */
    uint64_t nanoseconds; /* of these */
} hk_stack;
typedef struct hk_profile
{
    const hk_frame* frames;
    size_t frame_count;
    const hk_stack* stacks; /* each after the one around it */
    size_t stack_count;
    uint64_t samples;     /* in all */
    uint64_t nanoseconds; /* in all, also what came after the last sample */
    uint64_t lost;        /* samples whose stack found no room: a remark inside the part that did has their time */
} hk_profile;
/* Begins a profile, in place of an earlier one. Returns 0 when there is no memory for it. */
int hk_profile_start(hk_vm* vm);
/* Ends it. out stays valid until the next start or the end of the VM; all zeros when none was begun. */
void hk_profile_stop(hk_vm* vm, hk_profile* out);

/*
 * Images: a saved VM that hk_vm_reset brings back, byte for byte but for random state.
 */
hk_result hk_vm_save(hk_vm* vm);  /* takes or replaces the image; HK_ERR_INVALID with HK_VM_MALLOC */
hk_result hk_vm_reset(hk_vm* vm); /* also after a kill or a memory error; then hk_run_begin */
/* Between the two, code runs whose effects may be kept in an image: 1 when it used randomness,
 * clocks, addresses or the host, so that they must not. Nothing is collected in between. */
void hk_observe(hk_vm* vm);
int hk_vm_impure(hk_vm* vm);

/*
 * Compiling and loading.
 */
typedef struct hk_compile_options
{
    int32_t optimization; /* 0 to 2 */
    int32_t debug;        /* 0 to 2; 1 is enough for line numbers and names of functions */
    int32_t coverage;     /* 0 to 2 */
    int32_t type_info;    /* 0: only for native code, 1: all */
    int32_t count_checks; /* 1: calls of assert are counted (hk_stats.checks), also those that hold */
} hk_compile_options;

#define HK_MAX_SOURCE ((size_t)4 << 20)

/* Any thread. On HK_ERR_COMPILE, *error_out holds an error record to be freed with hk_text_free. */
int hk_compile(
    const char* source,
    size_t size,
    const hk_compile_options* options,
    hk_bytecode** out,
    uint8_t** error_out,
    size_t* error_size
);
void hk_text_free(uint8_t* text);
void hk_bytecode_free(hk_bytecode* code);
size_t hk_bytecode_size(const hk_bytecode* code);
/* 1 when this build can make native code on this machine. */
int hk_native_supported(void);

/* What ran of a loaded chunk that was compiled with coverage: an array with one table for each of
 * its functions, {name, line, depth, hits}, the chunk itself first with an empty name. hits is an
 * array: from line 1 on, how often the line ran, or -1 where it holds no code of that function. */
hk_result hk_coverage(hk_vm* vm, hk_ref chunk);

enum
{
    HK_LOAD_NATIVE = 1,
    HK_LOAD_OWN_GLOBALS = 2,
    HK_LOAD_LATE_GLOBALS = 4
};
/* Loads code as a function; chunk names start with '=' (shown as is) or '@' (a path). With
 * HK_LOAD_OWN_GLOBALS its globals are a new table that reads through to the run's. Code may keep what a global
 * name meant when it was loaded; with HK_LOAD_LATE_GLOBALS all code of the run's globals looks when it runs. */
hk_result hk_load(hk_vm* vm, const hk_bytecode* code, const char* chunk, size_t chunk_size, uint32_t flags);

/*
 * Running. args holds nargs flat values.
 */
/* Calls fn and waits in place: host functions in it get can_wait = 0. */
hk_result hk_call_function(hk_vm* vm, hk_ref fn, const uint8_t* args, size_t size, uint32_t nargs);
enum
{
    HK_START_RESET = 1,
    HK_START_SUSPENDED = 2,
    HK_START_KEEP = 4,
    HK_START_IN_PLACE = 8,
    HK_START_ENTRY = 16
};
/* Runs fn in a thread of its own until it finishes, yields, waits or is broken off. With
 * HK_START_RESET the image is brought back first, as hk_vm_reset and hk_run_begin would. With
 * HK_START_SUSPENDED nothing runs yet. With HK_START_KEEP tables among the results come as
 * references, so that they stay the same tables. With HK_START_IN_PLACE host functions get
 * can_wait = 0. With HK_START_ENTRY fn is a loaded chunk and the first argument the name of one of
 * its globals: the chunk runs with new globals of its own, and then that function, with the other
 * arguments. Where that first argument is a function, it is called in place of one of the chunk, with the
 * chunk's globals before the other arguments. While the chunk itself runs, host functions get can_wait = 0. */
hk_result hk_start(
    hk_vm* vm,
    hk_ref fn,
    const uint8_t* args,
    size_t size,
    uint32_t nargs,
    uint32_t flags,
    uint64_t run,
    const hk_limits* limits
);
enum
{
    HK_RESUME_ERROR = 1,
    HK_RESUME_KEEP = 4,
    HK_RESUME_IN_PLACE = 8
};
/* Goes on with a thread: values for HK_YIELD, or the outcome of the host call for HK_WAIT, which
 * with HK_RESUME_ERROR is one value to raise. HK_RESUME_KEEP and HK_RESUME_IN_PLACE are as in
 * hk_start. A thread that a script made with coroutine.create can be resumed as well. */
hk_result hk_resume(hk_vm* vm, hk_ref thread, const uint8_t* args, size_t size, uint32_t nargs, uint32_t flags);

/*
 * Objects.
 */
/* Raw: metatables that a script gave its globals count for nothing. */
hk_result hk_get_global(hk_vm* vm, const char* name, size_t size);
hk_result hk_set_global(hk_vm* vm, const char* name, size_t size, const uint8_t* value, size_t value_size);
/* table[key] and table[key] = value, raw; both flat. table 0: the run's globals. */
hk_result hk_get_field(hk_vm* vm, hk_ref table, const uint8_t* key, size_t key_size);
/* The table in table[key] as a reference in thread; HK_ERR_INVALID when it is none. */
hk_result hk_get_table(hk_vm* vm, hk_ref table, const uint8_t* key, size_t key_size);
hk_result hk_set_field(hk_vm* vm, hk_ref table, const uint8_t* pair, size_t pair_size);
/* The referenced object's own value, tables by content. */
hk_result hk_get_value(hk_vm* vm, hk_ref ref);
/* Keeps one flat value (any kind, tables included) in the VM and gives its reference. */
hk_result hk_keep(hk_vm* vm, const uint8_t* value, size_t size);
/* Another reference to the same object; 0 when it is gone, or memory is. */
hk_ref hk_hold(hk_vm* vm, hk_ref ref);
void hk_release(hk_vm* vm, hk_ref ref);
/* hk_release of a thread that will not go on: where it yielded or was broken off, it and the coroutines
 * that it waits for end there. A script that still has one of them finds it dead. */
void hk_drop(hk_vm* vm, hk_ref thread);
/* The Luau call stack at this moment, inside a host call: a table as in an error record. */
hk_result hk_traceback(hk_vm* vm);
/* Where a thread stands that waits or was broken off: a table as in an error record, with the frames of the
 * coroutines that it resumed and waits for in front. */
hk_result hk_thread_place(hk_vm* vm, hk_ref thread);
/* Inside a host call that an error handler of a script made: what the error with this message was about, as
 * in an error record. */
hk_result hk_subject(hk_vm* vm, const char* message, size_t size);
/* chunk name and line of the script code that made the current host call: string, number. */
hk_result hk_caller(hk_vm* vm);
/* A full collection. */
void hk_collect(hk_vm* vm);

/*
 * Facts.
 */
const char* hk_luau_version(void);
/* NULL when wrapper and library were compiled with the same ABI settings; else a text that says
 * what differs. */
const char* hk_abi_mismatch(void);
/* NULL when the written list of Luau's fast flags has all that the library has; else the rest, by line. */
const char* hk_flag_mismatch(void);

#ifdef __cplusplus
}
#endif
#endif
