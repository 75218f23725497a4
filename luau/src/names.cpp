// Names that look alike, for what somebody may have meant.
#include "subject.h"

#include "lobject.h"
#include "ltable.h"

#include <ctype.h>

#include <algorithm>
#include <utility>

namespace hk
{

namespace
{

constexpr size_t kMostCompared = 40; // length of a name
constexpr size_t kMostNames = 1000;
constexpr size_t kMostListed = 12;

char lower(char c)
{
    return char(tolower(uint8_t(c)));
}

// How many bytes must be added, dropped, changed or exchanged with their neighbour.
size_t distance(const std::string& a, const std::string& b)
{
    size_t rows[3][kMostCompared + 1];
    size_t *older = rows[0], *old = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.size(); j++)
        row[j] = j;
    for (size_t i = 1; i <= a.size(); i++)
    {
        std::swap(older, old);
        std::swap(old, row);
        row[0] = i;
        for (size_t j = 1; j <= b.size(); j++)
        {
            bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({old[j] + 1, row[j - 1] + 1, old[j - 1] + !same});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = std::min(row[j], older[j - 2] + 1);
        }
    }
    return row[b.size()];
}

bool begins(const std::string& text, const std::string& with)
{
    return with.size() >= 3 && text.size() > with.size() &&
           std::equal(with.begin(), with.end(), text.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

constexpr size_t kFar = kMostCompared;

// Smaller is nearer; kFar where a name is not like the key at all.
size_t score(const std::string& key, const std::string& name)
{
    if (key.empty() || key.size() > kMostCompared || name.size() > kMostCompared || key == name)
        return kFar;
    size_t d = distance(key, name);
    if (d <= std::max<size_t>(1, key.size() / 3) && d < key.size())
        return d;
    return begins(key, name) || begins(name, key) ? kFar - 1 : kFar;
}

void gather(const LuaTable* h, bool callable, std::vector<std::string>& names)
{
    for (int i = 0; i < sizenode(h) && names.size() < kMostNames; i++)
    {
        const LuaNode* n = &h->node[i];
        if (!ttisstring(gkey(n)) || ttisnil(gval(n)))
            continue;
        if (callable && !ttisfunction(gval(n)) && !ttistable(gval(n)))
            continue;
        const TString* s = tsvalue(gkey(n));
        if (s->len == 0 || s->len > kMostCompared || getstr(s)[0] == '_')
            continue;
        names.emplace_back(getstr(s), s->len);
    }
}

} // namespace

Names names_in(lua_State* L, const TValue* owner, const std::string& key, bool callable)
{
    std::vector<std::string> all;
    for (int i = 0; i < kMostTables && !ttisnil(owner); i++)
    {
        if (ttistable(owner))
            gather(hvalue(owner), callable, all);
        owner = index_of(L, owner);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    Names names;
    names.count = all.size();
    size_t best = kFar;
    for (const std::string& name : all)
        if (size_t s = score(key, name); s < best)
        {
            best = s;
            names.near = name;
        }
    all.resize(std::min(all.size(), kMostListed));
    names.few = std::move(all);
    return names;
}

} // namespace hk
