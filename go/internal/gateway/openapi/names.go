package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
)

// longestFunction is how long the name of a function may be.
const longestFunction = 64

// nameOperations gives each operation a name of its own. It depends on nothing but the operation and on which others
// would have the same one, so that it stays when a document is loaded again.
func nameOperations(list []*operation) {
	wanted := make([]string, len(list))
	explicit, generated := map[string]int{}, map[string]int{}
	for i, op := range list {
		if wanted[i] = strings.TrimSpace(op.ID); wanted[i] != "" {
			explicit[wanted[i]]++
			continue
		}
		wanted[i] = pathName(op)
		generated[wanted[i]]++
	}
	taken := map[string]bool{}
	for i, op := range list {
		name := wanted[i]
		clash := explicit[name] > 1
		if strings.TrimSpace(op.ID) == "" {
			clash = explicit[name] > 0 || generated[name] > 1
		}
		if !clash && len(name) <= longestFunction {
			op.Name = name
			taken[name] = true
		}
	}
	for i, op := range list {
		if op.Name == "" {
			op.Name = withDigits(wanted[i], op.Method+" "+op.Path, taken)
			taken[op.Name] = true
		}
		if snake := snakeCase(op.Name); snake != op.Name {
			op.Suggested = snake
		}
	}
}

// withDigits cuts a name to make room for digits that tell it from others.
func withDigits(name, distinct string, taken map[string]bool) string {
	hash := sha256.Sum256([]byte(distinct))
	digits := hex.EncodeToString(hash[:])
	for n := 8; ; n += 8 {
		short := strings.ToValidUTF8(name[:min(len(name), longestFunction-1-n)], "")
		if made := short + "_" + digits[:n]; !taken[made] || n >= 56 {
			return made
		}
	}
}

// pathName is the name of an operation that has none: get_pets_id of GET /pets/{id}.
func pathName(op *operation) string {
	path, _, _ := strings.Cut(op.Path, "#")
	return strings.TrimRight(snakeCase(strings.ToLower(op.Method)+path), "_")
}

// snakeCase writes a name as scripts do: create_pet of createPet, get_http_url of getHTTPUrl. Other letters than
// ASCII's are left out.
func snakeCase(name string) string {
	var out strings.Builder
	runes := []rune(name)
	gap := false
	for i, r := range runes {
		if r > unicode.MaxASCII || !isWord(byte(r)) || r == '_' {
			gap = true
			continue
		}
		if i > 0 && unicode.IsUpper(r) {
			before := runes[i-1]
			next := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			gap = gap || unicode.IsLower(before) || unicode.IsDigit(before) || unicode.IsUpper(before) && next
		}
		if gap && out.Len() > 0 {
			out.WriteByte('_')
		}
		gap = false
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
