package engine

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scriptBlocks reads testdata/scripts: pieces of code that stand for themselves, with an empty line between.
func scriptBlocks(t testing.TB) []string {
	files, err := filepath.Glob("testdata/scripts/*.luau")
	require.NoError(t, err)
	var blocks []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		blocks = append(blocks, strings.Split(strings.TrimSpace(string(text)), "\n\n")...)
	}
	require.NotEmpty(t, blocks)
	return blocks
}

// mixer makes new scripts of old ones: most byte mutations do not compile, these nearly all do.
type mixer struct {
	*rand.Rand
	blocks []string
}

// maxParts keeps mixed scripts small: the fuzzer likes empty lines.
const maxParts = 8

// places are where code may stand: Luau can yield in some of them only. % is the code.
var places = []string{
	"do % end", "do % end", "do % end", "pcall(function(...) % end, 1, {})", "(function() % end)()",
	"coroutine.wrap(function() % end)()", "coroutine.resume(coroutine.create(function() % coroutine.yield(1) end))",
	"table.sort({ 3, 1, 2 }, function(a, b) do % end return a < b end)", "print((\"ab\"):gsub(\".\", function(c) % end))",
	"print(setmetatable({}, { __index = function() % end }).x)", "setmetatable({}, { __newindex = function() % end }).x = 1",
	"print(pcall(tostring, setmetatable({}, { __tostring = function() do % end return \"\" end })))",
	"xpcall(error, function(e) % end)", "for i = 1, 3 do % end", "__native.spawn(function() % end) __native.await(0)", "__native.call(function() % end)",
	"for _ in setmetatable({}, { __iter = function() do % end return next, {} end }) do end", "for i in function(_, i) % end, nil, 0 do break end",
	"__native.await(0) % __native.sleep(0)", "if math.random() < 2 then % else % end", "local f f = function(n) if n > 0 then return f(n - 1) end % end f(30)",
}

var (
	number  = regexp.MustCompile(`\b[0-9]+\b`)
	library = regexp.MustCompile(`\b(string|table|buffer|bit32|math|utf8|coroutine|vector)\.[a-z0-9]+\b`)
	edges   = []string{"0", "-1", "2", "255", "65536", "2^31", "-2^31", "2^53", "1e308", "0/0", "1/0", "0.5", "nil", "{}", "\"\"", "\"x\"", "print", "5i", "true"}
)

// mix makes a script from source and other blocks. The same seed gives the same script.
func (m mixer) mix(source string) string {
	parts := strings.SplitN(source, "\n\n", maxParts)
	for range 1 + m.IntN(4) {
		at := m.IntN(len(parts) + 1)
		parts = append(parts[:at:at], append([]string{m.blocks[m.IntN(len(m.blocks))]}, parts[at:]...)...)
	}
	for i, part := range parts {
		if m.IntN(2) == 0 {
			part = m.change(part)
		}
		for range 1 + m.IntN(3) {
			part = strings.ReplaceAll(places[m.IntN(len(places))], "%", strings.ReplaceAll(part, "--!", "-- ")+"\n")
		}
		parts[i] = part
	}
	if m.IntN(4) == 0 {
		parts = append([]string{"--!native"}, parts...)
	}
	return strings.Join(parts, "\n")
}

// change swaps some numbers and library functions for others.
func (m mixer) change(code string) string {
	code = number.ReplaceAllStringFunc(code, func(old string) string {
		if m.IntN(4) > 0 {
			return old
		}
		return edges[m.IntN(len(edges))]
	})
	return library.ReplaceAllStringFunc(code, func(old string) string {
		if m.IntN(4) > 0 {
			return old
		}
		return m.function(old)
	})
}

// function gives the name of a library function that some block calls, else the old one.
func (m mixer) function(old string) string {
	for range 8 {
		if names := library.FindAllString(m.blocks[m.IntN(len(m.blocks))], -1); len(names) > 0 {
			return names[m.IntN(len(names))]
		}
	}
	return old
}
