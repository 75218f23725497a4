package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Library calls that do a lot in one go, where Luau looks for a kill only between calls.
var longCalls = map[string]string{
	"sort by C function":  `local t = table.create(2e6) for i = 1, 2e6 do t[i] = math.random() end READY while true do pcall(table.sort, t, rawequal) end`,
	"date":                `local s = ("%c"):rep(4e7) READY while true do pcall(os.date, s) end`,
	"pattern: class":      `local s = ("a"):rep(2e8) READY s:find("^[bcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOPQRSTUVWXYZ%da]*$")`,
	"pattern: any":        `local s = ("a"):rep(2e8) READY s:find("^.*b")`,
	"pattern: minimal":    `local s = ("a"):rep(1e8) READY s:find(".-b")`,
	"pattern: balance":    `local s = ("("):rep(1e6) READY s:find("%b()")`,
	"pattern: frontier":   `local s = ("a"):rep(1e8) READY s:find("%f[b]")`,
	"pattern: captures":   `local s = ("a"):rep(1e6) READY s:find("(a*)%1b")`,
	"pattern: literal":    `local s = ("a"):rep(1e6) READY s:find(("a"):rep(5e5) .. "[b]")`,
	"gsub by table":       `local s = ("a"):rep(1e7) READY while true do s:gsub("a", {}) end`,
	"gsub by C function":  `local s = ("a"):rep(1e7) READY while true do s:gsub("a", type) end`,
	"gsub long pieces":    `local s, r = ("a"):rep(1e4), ("%1"):rep(2e7) READY s:gsub("(b*)", r)`,
	"sort numbers":        `local t = table.create(3e6) for i = 1, 3e6 do t[i] = math.random() end READY while true do table.sort(t) for i = 1, 3e6, 7 do t[i] = math.random() end end`,
	"sort long strings":   `local a, b = ("x"):rep(2e7) .. "a", ("x"):rep(2e7) .. "b" local t = table.create(1e6, a) for i = 1, 1e6, 2 do t[i] = b end READY table.sort(t)`,
	"sort by metamethod":  `local m = {__lt = rawequal} local t = table.create(1e5) for i = 1, 1e5 do t[i] = setmetatable({}, m) end READY while true do pcall(table.sort, t) end`,
	"compare strings":     `local a, b = ("x"):rep(5e7) .. "a", ("x"):rep(5e7) .. "b" READY while true do local c = a < b end`,
	"find in table":       `local t = table.create(1.2e7, 1) READY while true do table.find(t, 2) end`,
	"find long string":    `local t = table.create(1.2e7, "a") READY while true do table.find(t, "b") end`,
	"clone":               `local t = table.create(5e6, 1) READY while true do table.clone(t) end`,
	"clear":               `local t = table.create(5e6, 1) READY while true do table.clear(t) end`,
	"concat":              `local t = table.create(5e6, "ab") READY while true do pcall(table.concat, t, "") end`,
	"move":                `local t = table.create(5e6, 1) READY while true do table.move(t, 1, 5e6, 2) end`,
	"move far":            `local t = {} READY while true do pcall(table.move, t, 1, 2^30, 2^30) end`,
	"unpack":              `local t = table.create(9e5, 1) READY while true do math.max(table.unpack(t)) end`,
	"maxn":                `local t = table.create(1.2e7, 1) READY while true do table.maxn(t) end`,
	"foreach":             `local t = table.create(1.2e7, 1) READY while true do table.foreach(t, type) end`,
	"foreachi":            `local t = table.create(1.2e7, 1) READY while true do table.foreachi(t, type) end`,
	"rep":                 `READY while true do local s = ("x"):rep(1.5e8) end`,
	"rep too much":        `READY while true do pcall(string.rep, "x", 2^30) end`,
	"split":               `local s = ("x,"):rep(1e6) READY while true do s:split(",") end`,
	"split by nothing":    `local s = ("x"):rep(4e6) READY while true do s:split("") end`,
	"split long":          `local s = ("x"):rep(2e6) local p = ("x"):rep(1e6) .. "y" READY while true do s:split(p) end`,
	"byte":                `local s = ("x"):rep(9e5) READY while true do s:byte(1, -1) end`,
	"pack":                `local f = ("i1"):rep(4e5) READY while true do pcall(string.pack, f, 1) end`,
	"unpack bytes":        `local s = ("x"):rep(9e5) local f = ("b"):rep(9e5) READY while true do pcall(string.unpack, f, s) end`,
	"buffer fill":         `local b = buffer.create(2e8) READY while true do buffer.fill(b, 0, 1) end`,
	"buffer copy":         `local b = buffer.create(2e8) READY while true do buffer.copy(b, 0, b, 1, 1e8) end`,
	"buffer tostring":     `local b = buffer.create(1e8) READY while true do buffer.tostring(b) end`,
	"arithmetic on text":  `local s = "0." .. ("1"):rep(1e8) READY while true do local x = s + 1 end`,
	"gsub":                `local s = ("a"):rep(2e7) READY while true do s:gsub("", "") end`,
	"gmatch":              `local s = ("a"):rep(1e8) READY for _ in s:gmatch("b") do end`,
	"json encode":         `local t = table.create(1e6, {1, 2}) READY while true do pcall(__native.json_encode, t) end`,
	"json decode":         `local s = "[" .. ("1,"):rep(1e7) .. "1]" READY while true do pcall(__native.json_decode, s) end`,
	"json decode spaces":  `local s = (" "):rep(1e8) READY while true do pcall(__native.json_decode, s) end`,
	"json decode nothing": `local s = ("["):rep(1e8) READY while true do pcall(__native.json_decode, s) end`,
	"print":               `local s = ("x"):rep(1e7) READY while true do print(s, s, s) end`,
	"tostring":            `local s = ("x"):rep(1e8) READY while true do tostring(s) end`,
	"concat operator":     `local s = ("x"):rep(5e7) READY while true do local c = s .. "y" end`,
	"host argument":       `local t = table.create(1e6, {1, 2}) READY while true do pcall(__native.probe_echo, t) end`,
	"coroutines":          `READY while true do coroutine.wrap(function() end)() end`,
	"coroutine flood":     `local t = {} READY while true do local ok = pcall(function() t[#t + 1] = coroutine.create(type) end) if not ok then t = {} end end`,
	"garbage":             `local t = {} for i = 1, 1e6 do t[i] = {i} end READY while true do local x = table.create(1e4, 1) end`,
	"weak tables":         `local t = {} for i = 1, 5e5 do t[i] = setmetatable({}, {__mode = "k"}) end READY while true do local x = table.create(1e4, 1) end`,
	"long chain":          `local t = nil for i = 1, 3e6 do t = {t} end READY while true do local x = table.create(1e4, 1) end`,
	"freeze":              `READY while true do table.freeze(table.create(1e6, 1)) end`,
	"traceback":           `local function f(n) if n > 0 then f(n - 1) else READY while true do debug.traceback() end end end f(15000)`,
	"error values":        `READY while true do pcall(error, ("x"):rep(1e7)) end`,
	"concat metamethods":  `local t = setmetatable({}, {__concat = rawequal}) READY while true do local x = t .. t .. t end`,
	"bit32":               `local t = table.create(9e5, 1) READY while true do bit32.band(table.unpack(t)) end`,
	"noise":               `READY while true do math.noise(math.random(), 1, 2) end`,
	"string keys":         `local t = {} READY for i = 1, 1e9 do t["k" .. i % 1e6] = i end`,
	"char":                `local t = table.create(9e5, 65) READY while true do string.char(table.unpack(t)) end`,
	"concat empty":        `local t = table.create(1.2e7, "") READY while true do table.concat(t) end`,
	"format":              `local s = ("%%"):rep(4e7) READY while true do s:format() end`,
	"insert in front":     `local t = table.create(5e6, 1) READY while true do table.insert(t, 1, 1) table.remove(t, 1) end`,
	"next over holes":     `local t = {} for i = 1, 2e6 do t[i * 3 + 0.5] = 1 end for k in t do t[k] = nil end READY while true do next(t) end`,
	"packsize":            `local f = ("b"):rep(1e8) READY while true do pcall(string.packsize, f) end`,
	"reverse":             `local s = ("x"):rep(1e8) READY while true do local u = s:reverse() end`,
	"tonumber of a base":  `local s = ("1"):rep(1e8) READY while true do tonumber(s, 36) end`,
	"tonumber":            `local s = ("1"):rep(1e8) READY while true do tonumber(s) end`,
	"upper":               `local s = ("x"):rep(1e8) READY while true do local u = s:upper() end`,
	"utf8.len":            `local s = ("\u{1F9EA}"):rep(4e7) READY while true do utf8.len(s) end`,
	"utf8.offset":         `local s = ("\u{1F9EA}"):rep(4e7) READY while true do utf8.offset(s, 3e7) end`,
	"deep pcall":          `READY local function f() pcall(f) end while true do f() end`,
	"deep coroutines":     `READY local function f() coroutine.wrap(f)() end while true do pcall(f) end`,
	"deep xpcall":         `READY local function f() xpcall(f, f) end while true do pcall(f) end`,
}

// ready puts the signal in that says the long call comes now.
func ready(source string) string {
	return strings.ReplaceAll(source, "READY", `__native.probe_signal("ready")`)
}

// A cancelled run ends soon, whatever library call it is in.
func TestX03LibraryCallsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	for name, source := range longCalls {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withMemory(256<<20))
			late, err := w.cancelled(ready(source), 20*time.Millisecond)
			requireEnds(t, luau.CodeCancelled, withinCall, late, err)
		})
	}
}
