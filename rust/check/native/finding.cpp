#include "finding.h"

#include <algorithm>

namespace lc
{

static lc_text view(const std::string& s)
{
    return {s.data(), s.size()};
}

void Finding::choose(const std::string& wanted, std::vector<std::string> all)
{
    constexpr size_t kFew = 12;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    allNames = all.size() <= kFew;
    size_t room = std::max(size_t(1), wanted.size() / 3);
    auto far = [&](const std::string& other)
    {
        size_t more = std::max(other.size(), wanted.size()), less = std::min(other.size(), wanted.size());
        return more - less > room;
    };
    if (!allNames)
        all.erase(std::remove_if(all.begin(), all.end(), far), all.end());
    names = std::move(all);
}

void report(const Findings& findings, const lc_host* host)
{
    for (const Finding& f : findings)
    {
        std::vector<lc_text> names;
        for (const std::string& name : f.names)
            names.push_back(view(name));
        lc_finding c{};
        c.kind = view(f.kind);
        c.line = f.location.begin.line + 1;
        c.column = f.location.begin.column + 1;
        c.endLine = f.location.end.line + 1;
        c.endColumn = f.location.end.column + 1;
        c.declared = f.declared;
        c.path = view(f.path);
        c.field = view(f.field);
        c.name = view(f.name);
        c.wanted = view(f.wanted);
        c.given = view(f.given);
        c.text = view(f.text);
        c.names = names.data();
        c.nameCount = names.size();
        c.allNames = f.allNames;
        host->found(host->context, &c);
    }
}

} // namespace lc
