package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// maxIdent is the length of the longest name that scripts get.
const maxIdent = 64

// The suffix of a name that is not its owner's alone: an underscore and so many digits of a hash.
const (
	shortSuffix = 6
	longSuffix  = 40
)

var keywords = setOf(`and break do else elseif end false for function if in local nil not or repeat return then true
	until while`)

// builtins are the global names that no source may have: those of Luau, those that the gateway gives to every script,
// and those that definitions cannot declare.
var builtins = setOf(`_G _VERSION assert bit32 buffer collectgarbage coroutine debug error gcinfo getfenv getmetatable
	integer io ipairs loadstring math module newproxy next os package pairs pcall print rawequal rawget rawlen rawset
	require select setfenv setmetatable shared string table task tonumber tostring type typeof unpack utf8 vector xpcall
	__native arg args async call_tool json read_result result scratch script sdk class extern`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// IsIdent says whether a text can stand behind a dot in Luau and is no longer than what scripts get.
func IsIdent(name string) bool {
	if name == "" || len(name) > maxIdent || name[0] >= '0' && name[0] <= '9' || keywords[name] {
		return false
	}
	for i := range len(name) {
		if !isWord(name[i]) {
			return false
		}
	}
	return true
}

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// Sanitise makes an identifier of any name: each character that is none of Luau's becomes an underscore, and a
// digit or a keyword gets one in front. What it gives may be longer than an identifier by the length of the name.
func Sanitise(name string) string {
	var b strings.Builder
	if name == "" || name[0] >= '0' && name[0] <= '9' || keywords[name] {
		b.WriteByte('_')
	}
	for _, r := range name {
		if r < 0x80 && isWord(byte(r)) {
			b.WriteByte(byte(r))
		} else {
			b.WriteByte('_')
		}
	}
	return b.String()
}

// named is one member of a namespace.
type named struct {
	key      string // what tells it from all others, whatever happens to the rest
	original string // scripts may always use it
	wanted   string // what its identifier is made of
}

// assign gives each member its identifier. What a member had before it keeps; an original that is an identifier
// belongs to its owner; a made one that several want goes to none of them without a suffix, whatever their order.
func assign(members []named, before map[string]string) map[string]string {
	owners := make(map[string]string, len(members)) // of originals
	for _, m := range members {
		if owner, taken := owners[m.original]; !taken || m.key < owner {
			owners[m.original] = m.key
		}
	}
	free := func(ident string, m named) bool {
		owner, taken := owners[ident]
		return !taken || owner == m.key
	}
	idents := make(map[string]string, len(members))
	used := make(map[string]bool, len(members))
	give := func(m named, ident string) {
		idents[m.key] = ident
		used[ident] = true
	}
	wanted := make(map[string][]named)
	for _, m := range members {
		if m.wanted == m.original && IsIdent(m.original) && owners[m.original] == m.key {
			give(m, m.original)
		}
	}
	for _, m := range members {
		if _, done := idents[m.key]; done {
			continue
		}
		if ident := before[m.key]; ident != "" && free(ident, m) && !used[ident] {
			give(m, ident)
			continue
		}
		ident := Sanitise(m.wanted)
		wanted[ident] = append(wanted[ident], m)
	}
	for _, ident := range slices.Sorted(maps.Keys(wanted)) {
		group := wanted[ident]
		slices.SortFunc(group, func(a, b named) int { return strings.Compare(a.key, b.key) })
		for _, m := range group {
			if len(group) == 1 && IsIdent(ident) && free(ident, m) && !used[ident] {
				give(m, ident)
			} else {
				give(m, suffixed(ident, m, func(s string) bool { return free(s, m) && !used[s] }))
			}
		}
	}
	return idents
}

// suffixed adds as much of the hash of a member's key as makes its name its own.
func suffixed(ident string, m named, free func(string) bool) string {
	sum := sha256.Sum256([]byte(m.key))
	digits := hex.EncodeToString(sum[:])
	name := ""
	for n := shortSuffix; n <= longSuffix; n++ {
		name = ident[:min(len(ident), maxIdent-1-n)] + "_" + digits[:n]
		if free(name) {
			break
		}
	}
	return name
}
