// A host in C++ over the public header: one VM, host functions as lambdas, what was printed.
#pragma once

#include "check.h"
#include "flat_values.h"
#include "hukilau.h"

#include <functional>
#include <string>
#include <vector>

struct Answer
{
    int32_t status = HK_CALL_RETURN;
    std::vector<Value> values;
    uint64_t token = 0;
};

inline Answer returns(std::vector<Value> values)
{
    return {HK_CALL_RETURN, std::move(values), 0};
}

inline Answer raises(Value v)
{
    return {HK_CALL_ERROR, {std::move(v)}, 0};
}

inline Answer waits(uint64_t token)
{
    return {HK_CALL_WAIT, {}, token};
}

// A result whose data was copied.
struct Result
{
    int32_t status = 0;
    hk_ref thread = 0;
    uint64_t token = 0;
    std::vector<Value> values;
    std::string text; // of statuses that carry a text

    explicit Result(const hk_result& r) : status(r.status), thread(r.thread), token(r.token)
    {
        if (r.status == HK_ERR_INVALID || r.status == HK_ERR_CONVERT || r.status == HK_ERR_LIMIT ||
            (r.status == HK_ERR_MEMORY && r.count == 0))
        {
            text.assign(reinterpret_cast<const char*>(r.data), r.size);
            return;
        }
        Reader in(r.data, r.size);
        for (uint32_t i = 0; i < r.count; i++)
            values.push_back(in.value());
        CHECK(in.done());
        if (r.status == HK_ERR_RUNTIME || r.status == HK_ERR_MEMORY)
            text = values.at(0).text;
    }
    Value first() const
    {
        return values.empty() ? nil() : values[0];
    }
};

class TestHost
{
public:
    using Function = std::function<Answer(const hk_call& call, const std::vector<Value>& args)>;

    explicit TestHost(size_t memory = 0, uint32_t flags = 0)
    {
        static const hk_host hooks = {&TestHost::on_call, &TestHost::on_output};
        hk_vm_options options = {};
        options.memory_limit = memory;
        options.flags = flags;
        options.host = uint64_t(reinterpret_cast<uintptr_t>(this));
        options.hooks = &hooks;
        made = hk_vm_new(&options, &vm).status;
        begin();
    }
    ~TestHost()
    {
        close();
    }
    TestHost(const TestHost&) = delete;
    TestHost& operator=(const TestHost&) = delete;

    void close()
    {
        hk_vm_close(vm);
        vm = nullptr;
    }

    void begin(hk_limits limits = {})
    {
        if (vm)
            hk_run_begin(vm, ++run, &limits);
    }

    void function(const std::string& name, Function f, uint8_t flags = 0)
    {
        functions.push_back(std::move(f));
        global(name, host_function(uint32_t(functions.size() - 1), name, flags));
    }

    void global(const std::string& name, const Value& v)
    {
        std::string in = flat({v});
        CHECK_EQ(hk_set_global(vm, name.data(), name.size(), bytes(in), in.size()).status, HK_OK);
    }

    hk_ref load(const std::string& source, uint32_t flags = 0)
    {
        hk_bytecode* code = nullptr;
        uint8_t* error = nullptr;
        size_t size = 0;
        int status = hk_compile(source.data(), source.size(), nullptr, &code, &error, &size);
        CHECK_EQ(status, HK_OK);
        if (status != HK_OK)
        {
            std::cerr << std::string(reinterpret_cast<char*>(error), size) << "\n";
            hk_text_free(error);
            return 0;
        }
        hk_result r = hk_load(vm, code, "=test", 5, flags);
        hk_bytecode_free(code);
        return r.status == HK_OK ? r.thread : 0;
    }

    Result call(hk_ref fn, const std::vector<Value>& args = {})
    {
        std::string in = flat(args);
        return Result(hk_call_function(vm, fn, bytes(in), in.size(), uint32_t(args.size())));
    }

    // Runs source to its end, waiting in place.
    Result run_source(const std::string& source, const std::vector<Value>& args = {})
    {
        hk_ref fn = load(source);
        Result r = call(fn, args);
        hk_release(vm, fn);
        return r;
    }

    Result start(hk_ref fn, const std::vector<Value>& args = {}, uint32_t flags = 0)
    {
        std::string in = flat(args);
        hk_limits limits = {};
        return Result(hk_start(vm, fn, bytes(in), in.size(), uint32_t(args.size()), flags, run, &limits));
    }

    Result start_source(const std::string& source, const std::vector<Value>& args = {}, uint32_t flags = 0)
    {
        hk_ref fn = load(source);
        Result r = start(fn, args, flags);
        hk_release(vm, fn);
        return r;
    }

    Result resume(hk_ref thread, const std::vector<Value>& args = {}, uint32_t flags = 0)
    {
        std::string in = flat(args);
        return Result(hk_resume(vm, thread, bytes(in), in.size(), uint32_t(args.size()), flags));
    }

    // A function among values, kept for later.
    hk_ref hold(const Value& v)
    {
        hk_ref held = hk_hold(vm, hk_ref(v.integer));
        CHECK(held != 0);
        return held;
    }

    hk_stats stats()
    {
        hk_stats s = {};
        hk_vm_stats(vm, &s);
        return s;
    }

    static const uint8_t* bytes(const std::string& s)
    {
        return reinterpret_cast<const uint8_t*>(s.data());
    }

    hk_vm* vm = nullptr;
    int32_t made = 0;
    uint64_t run = 0;
    std::string printed;
    std::vector<Function> functions;
    int calls = 0;

private:
    static void on_call(hk_call* call)
    {
        TestHost* self = reinterpret_cast<TestHost*>(uintptr_t(call->host));
        self->calls++;
        std::vector<Value> args;
        Reader in(call->args, call->args_size);
        for (uint32_t i = 0; i < call->nargs; i++)
            args.push_back(in.value());
        CHECK(in.done());
        Answer answer = self->functions.at(call->id)(*call, args);
        std::string out = flat(answer.values);
        if (out.size() > call->out_capacity && !hk_call_reserve(call, out.size()))
            return; // the status says that memory is missing
        if (!out.empty())
            memcpy(call->out, out.data(), out.size());
        call->out_size = out.size();
        call->nresults = uint32_t(answer.values.size());
        call->status = answer.status;
        call->token = answer.token;
    }

    static void on_output(uint64_t host, const uint8_t* data, size_t size)
    {
        reinterpret_cast<TestHost*>(uintptr_t(host))->printed.append(reinterpret_cast<const char*>(data), size);
    }
};
