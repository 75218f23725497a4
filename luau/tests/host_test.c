/* A host in plain C11 that knows nothing but the public header: the life of one VM. */
#include "hukilau.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void check(int ok, int line, const char* what)
{
    if (!ok)
    {
        failures++;
        fprintf(stderr, "host_test.c:%d: %s\n", line, what);
    }
}
#define CHECK(cond) check((cond), __LINE__, #cond)

static char printed[64];

/* add(a, b): both are numbers, as the test's script gives them. */
static void on_call(hk_call* call)
{
    double a, b, sum;
    if (call->nargs != 2 || call->args_size != 18)
    {
        static const char message[] = "add wants two numbers";
        uint32_t size = sizeof(message) - 1;
        if (!hk_call_reserve(call, 5 + size))
            return;
        call->out[0] = HK_T_STRING;
        memcpy(call->out + 1, &size, 4);
        memcpy(call->out + 5, message, size);
        call->out_size = 5 + size;
        call->status = HK_CALL_ERROR;
        return;
    }
    memcpy(&a, call->args + 1, 8);
    memcpy(&b, call->args + 10, 8);
    sum = a + b;
    if (!hk_call_reserve(call, 9))
        return;
    call->out[0] = HK_T_NUMBER;
    memcpy(call->out + 1, &sum, 8);
    call->out_size = 9;
    call->nresults = 1;
    call->status = HK_CALL_RETURN;
}

static void on_output(uint64_t host, const uint8_t* data, size_t size)
{
    CHECK(host == 7);
    if (size >= sizeof(printed) - strlen(printed))
        abort();
    strncat(printed, (const char*)data, size);
}

static hk_ref load(hk_vm* vm, const char* source)
{
    hk_bytecode* code = NULL;
    uint8_t* error = NULL;
    size_t error_size = 0;
    hk_result loaded;
    CHECK(hk_compile(source, strlen(source), NULL, &code, &error, &error_size) == HK_OK);
    CHECK(error == NULL && hk_bytecode_size(code) > 0);
    loaded = hk_load(vm, code, "=script", 7, 0);
    hk_bytecode_free(code);
    CHECK(loaded.status == HK_OK && loaded.thread != 0);
    return loaded.thread;
}

static void give_function(hk_vm* vm)
{
    uint8_t value[64] = {HK_T_HOSTFN};
    uint32_t id = 1, size = 3;
    memcpy(value + 1, &id, 4);
    memcpy(value + 6, &size, 4);
    memcpy(value + 10, "add", 3);
    CHECK(hk_set_global(vm, "add", 3, value, 13).status == HK_OK);
}

static void report_compile_error(void)
{
    hk_bytecode* code = NULL;
    uint8_t* error = NULL;
    size_t size = 0;
    CHECK(hk_compile("local =", 7, NULL, &code, &error, &size) == HK_ERR_COMPILE);
    CHECK(code == NULL && size > 5 && error[0] == HK_T_STRING);
    hk_text_free(error);
}

int main(void)
{
    static const hk_host hooks = {on_call, on_output};
    hk_vm_options options = {0};
    hk_vm* vm = NULL;
    hk_limits limits = {0};
    hk_stats stats;
    hk_result r;
    hk_ref fn;
    double n = 0;

    options.host = 7;
    options.hooks = &hooks;
    CHECK(hk_vm_new(&options, &vm).status == HK_OK);
    hk_run_begin(vm, 1, &limits);
    give_function(vm);

    fn = load(vm, "print('hello', add(1, 2)) return add(40, 2)");
    r = hk_call_function(vm, fn, NULL, 0, 0);
    CHECK(r.status == HK_OK && r.count == 1 && r.size == 9 && r.data[0] == HK_T_NUMBER);
    memcpy(&n, r.data + 1, 8);
    CHECK(n == 42);
    CHECK(strcmp(printed, "hello\t3\n") == 0);
    hk_vm_stats(vm, &stats);
    CHECK(stats.host_calls == 2 && stats.output == 8 && stats.refs == 1);
    hk_release(vm, fn);
    CHECK(hk_call_function(vm, fn, NULL, 0, 0).status == HK_ERR_INVALID);

    fn = load(vm, "return add(1)");
    r = hk_call_function(vm, fn, NULL, 0, 0);
    CHECK(r.status == HK_ERR_RUNTIME && r.data[0] == HK_T_STRING);
    CHECK(memcmp(r.data + 5, "add wants two numbers", 21) == 0);

    CHECK(hk_vm_save(vm).status == HK_OK);
    CHECK(hk_vm_reset(vm).status == HK_OK);
    hk_run_begin(vm, 2, &limits);
    hk_kill(vm, 2, HK_KILL_USER + 3);
    r = hk_call_function(vm, load(vm, "while true do end"), NULL, 0, 0);
    CHECK(r.status == HK_ERR_KILLED && r.token == HK_KILL_USER + 3);

    report_compile_error();
    CHECK(hk_abi_mismatch() == NULL);
    hk_vm_close(vm);
    hk_vm_close(NULL);
    printf("host: %d failed\n", failures);
    return failures != 0;
}
