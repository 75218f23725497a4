// table.sort with safe points. Luau looks for a kill only in a comparator that is Lua code; without
// one, a few long strings that many elements share can take it hours.
#include "vm.h"

#include "lgc.h"
#include "lobject.h"
#include "lstate.h"
#include "ltable.h"

#include <string.h>

namespace hk
{

lua_CFunction stockSort;

int sort(lua_State* L);

namespace
{

constexpr size_t kBytesPerPoll = size_t(1) << 20;
constexpr size_t kStepsPerPoll = 4096;

struct NumberLess
{
    bool operator()(const TValue& a, const TValue& b)
    {
        return a.value.n < b.value.n;
    }
};

struct StringLess
{
    hk_vm* vm;

    bool operator()(const TValue& a, const TValue& b)
    {
        const TString* x = tsvalue(&a);
        const TString* y = tsvalue(&b);
        if (x == y)
            return false;
        const size_t shared = x->len < y->len ? x->len : y->len;
        for (size_t at = 0; at < shared; at += kBytesPerPoll)
        {
            size_t n = shared - at < kBytesPerPoll ? shared - at : kBytesPerPoll;
            if (int order = memcmp(getstr(x) + at, getstr(y) + at, n))
                return order < 0;
            if (n == kBytesPerPoll)
                poll(vm);
        }
        return x->len < y->len;
    }
};

// Sorts values in place. Every index stays inside, also when the order is none (NaN), and nothing is
// allocated: an error or a kill leaves a permutation behind.
template<typename Less>
class Sorter
{
public:
    Sorter(hk_vm* vm, TValue* values, Less less) : vm(vm), values(values), less(less) {}

    // From first to last, both included. budget bounds how often bad pivots are forgiven.
    void quick(int first, int last, int budget)
    {
        while (last - first > kSmall)
        {
            if (budget-- == 0)
                return heap(first, last);
            int middle = partition(first, last);
            if (middle - first < last - middle)
            {
                quick(first, middle - 1, budget);
                first = middle + 1;
            }
            else
            {
                quick(middle + 1, last, budget);
                last = middle - 1;
            }
        }
        insertion(first, last);
    }

private:
    static constexpr int kSmall = 12;

    void step()
    {
        if (++steps % kStepsPerPoll == 0)
            poll(vm);
    }

    void swap(int i, int j)
    {
        TValue t = values[i];
        values[i] = values[j];
        values[j] = t;
    }

    void order(int i, int j)
    {
        if (less(values[j], values[i]))
            swap(i, j);
    }

    // Puts a pivot in its place and gives that.
    int partition(int first, int last)
    {
        int middle = first + (last - first) / 2;
        order(first, middle);
        order(first, last);
        order(middle, last);
        swap(middle, last - 1);
        TValue pivot = values[last - 1];
        int i = first, j = last - 1;
        for (;;)
        {
            while (++i < last && less(values[i], pivot))
                step();
            while (--j > first && less(pivot, values[j]))
                step();
            step();
            if (i >= j)
                break;
            swap(i, j);
        }
        if (i > last - 1)
            i = last - 1;
        swap(i, last - 1);
        return i;
    }

    void insertion(int first, int last)
    {
        for (int i = first + 1; i <= last; i++)
        {
            TValue v = values[i];
            int j = i;
            for (; j > first && less(v, values[j - 1]); j--)
                values[j] = values[j - 1];
            values[j] = v;
            step();
        }
    }

    void heap(int first, int last)
    {
        int count = last - first + 1;
        for (int root = count / 2 - 1; root >= 0; root--)
            sift(first, root, count);
        for (int n = count - 1; n > 0; n--)
        {
            swap(first, first + n);
            sift(first, 0, n);
        }
    }

    void sift(int first, int root, int count)
    {
        for (int child; (child = 2 * root + 1) < count; root = child)
        {
            if (child + 1 < count && less(values[first + child], values[first + child + 1]))
                child++;
            if (!less(values[first + root], values[first + child]))
                return;
            swap(first + root, first + child);
            step();
        }
    }

    hk_vm* vm;
    TValue* values;
    Less less;
    size_t steps = 0;
};

template<typename Less>
void sort_values(hk_vm* vm, LuaTable* t, int n, Less less)
{
    int budget = 2;
    for (int m = n; m > 0; m /= 2)
        budget += 2;
    Sorter<Less>(vm, t->array, less).quick(0, n - 1, budget);
}

bool all_are(const LuaTable* t, int n, int type)
{
    for (int i = 0; i < n; i++)
        if (ttype(&t->array[i]) != type)
            return false;
    return true;
}

int polled_less(lua_State* L)
{
    check_kill(vm_of(L));
    lua_pushboolean(L, lua_lessthan(L, 1, 2));
    return 1;
}

// A comparator in C that looks for a kill and then asks the script's, which is C as well.
int polled_comparator(lua_State* L)
{
    check_kill(vm_of(L));
    lua_settop(L, 2);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 2, 1);
    return 1;
}

// The elements as they are, when they are of one type that needs no metamethod.
bool sort_plain(lua_State* L)
{
    LuaTable* t = hvalue(L->base);
    int n = luaH_getn(t);
    if (n > t->sizearray)
        return false;
    if (n < 2)
        return true;
    hk_vm* vm = vm_of(L);
    if (all_are(t, n, LUA_TNUMBER))
        sort_values(vm, t, n, NumberLess{});
    else if (all_are(t, n, LUA_TSTRING))
        sort_values(vm, t, n, StringLess{vm});
    else
        return false;
    return true;
}

} // namespace

int sort(lua_State* L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    if (lua_getreadonly(L, 1))
        return stockSort(L); // for its error
    if (lua_isnil(L, 2))
    {
        if (sort_plain(L))
            return 0;
        lua_pushcfunction(L, polled_less, "less");
        lua_replace(L, 2);
    }
    else if (lua_iscfunction(L, 2))
    {
        lua_pushcclosure(L, polled_comparator, "comparator", 1);
    }
    return stockSort(L);
}

} // namespace hk
