package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// summary is what a long result is shown as.
type summary struct {
	Characters int    `json:"characters"`
	Shape      string `json:"shape"`
	Handle     string `json:"handle"`
	Note       string `json:"note"`
}

func (f *fixture) keeps(c toolhost.Caller, script string) summary {
	f.t.Helper()
	var s summary
	all := f.by(c, script)
	require.NoError(f.t, json.Unmarshal(all.Result, &s), string(all.Result))
	return s
}

func TestLongResultsAreKept(t *testing.T) {
	f := newFixture(t, gateway.Options{MaxResult: 200}, server(t, "s", "one"))
	require.Equal(t, 100, len(f.run(`return string.rep("x", 98)`)))
	require.Len(t, []rune(f.run(`return string.rep("ʻ", 198)`)), 200, "characters count, not bytes")
	kept := f.keeps(bob, `
		local items = {}
		for i = 1, 100 do items[i] = { id = i, title = "no. " .. i, ["a.b"] = i == 7 } end
		return { items = items, text = string.rep("ʻokina ", 100), null = json.null, n = json.decode("12345678901234567890") }`)
	require.Equal(t, "r1", kept.Handle)
	require.Greater(t, kept.Characters, 200)
	require.Contains(t, kept.Note, `read_result("r1"`)
	require.Contains(t, kept.Shape, "items")
	require.Contains(t, kept.Shape, "title: string")
	for script, want := range map[string]string{
		`return #read_result("r1").items`:                                                        `100`,
		`return read_result("r1", "items.3")`:                                                    `{"a.b":false,"id":3,"title":"no. 3"}`,
		`return read_result("r1", "items.3.title")`:                                              `"no. 3"`,
		`return read_result("r1", "items.7.a.b")`:                                                `true`,
		`return #read_result("r1", "items", { 11, 20 })`:                                         `10`,
		`return read_result("r1", "items", { 99, 200 })[2].id`:                                   `100`,
		`return read_result("r1", "items", { 200, 300 })`:                                        `[]`,
		`return read_result("r1", "items", { from = 2, to = 2 })[1].id`:                          `2`,
		`return read_result("r1", "text", { 1, 6 })`:                                             `"ʻokina"`,
		`return read_result("r1", "text", { 696 })`:                                              `"kina "`,
		`return read_result("r1", "n")`:                                                          `12345678901234567890`,
		`return read_result("r1", "null")`:                                                       `null`,
		`local sum = 0 for _, i in read_result("r1").items do sum += i.id end return sum`:        `5050`,
		`return async.map({ 1, 2 }, function(n) return read_result("r1", "items." .. n).id end)`: `[1,2]`,
	} {
		require.Equal(t, want, f.run(script), script)
	}
	for script, want := range map[string]string{
		`return read_result("r2")`:                        `there is no result "r2"; the kept ones are r1 to r1`,
		`return read_result("r1", "itms")`:                `the result has no field "itms", did you mean "items"?`,
		`return read_result("r1", "items.101")`:           `items is an array of 100 items, and has no item "101"`,
		`return read_result("r1", "items.0")`:             `has no item "0"`,
		`return read_result("r1", "items.x")`:             `has no item "x"`,
		`return read_result("r1", "n.x")`:                 `n is a number, and has no "x"`,
		`return read_result("r1", "n", { 1, 2 })`:         `a range is of an array or a string, and this is a number`,
		`return read_result("r1", "", { 1, 2 })`:          `this is an object`,
		`return read_result(1)`:                           `argument 1 must be a handle`,
		`return read_result("r1", {})`:                    `argument 2 must be a path`,
		`return read_result("r1", "items", 5)`:            `argument 3 must be a range`,
		`return read_result("r1", "items", { "a", "b" })`: `number`,
	} {
		require.Contains(t, f.fails(script).Message, want, script)
	}
	again := f.keeps(bob, `return read_result("r1")`)
	require.Equal(t, "r2", again.Handle, "what is read whole is as long as it was")
}

// The oldest results make room; what no session could keep is said to be too long.
func TestKeptResultsMakeRoom(t *testing.T) {
	f := newFixture(t, gateway.Options{MaxResult: 10}, server(t, "s", "one"))
	for i := 1; i <= 40; i++ {
		require.Equal(t, fmt.Sprint("r", i), f.keeps(bob, `return string.rep("x", 20)`).Handle)
	}
	require.Contains(t, f.fails(`return read_result("r8")`).Message, "the kept ones are r9 to r40")
	require.Equal(t, `20`, f.run(`return #read_result("r9")`))
}

// What a session keeps is nobody else's, and ends with it.
func TestSessionsAreApart(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := server(t, "s", "one")
	f := newFixture(t, gateway.Options{MaxResult: 10, Now: func() time.Time { return now }}, s)
	long := func(c toolhost.Caller) string { return f.keeps(c, `return string.rep("x", 20)`).Handle }
	callers := []toolhost.Caller{
		bob, {Name: "bob", Face: "mcp", Client: "2"}, {Name: "eve", Face: "mcp", Client: "1"}, {Name: "bob", Session: "s", Client: "1"},
		{Name: `bob" "`, Client: "1"}, {Name: "bob", Session: `" 1`},
	}
	for _, c := range callers {
		_, failed := f.host.Call(t.Context(), toolhost.Request{Tool: "execute_script", Caller: c, Value: map[string]any{"script": `return read_result("r1")`}})
		require.NotNil(t, failed)
		require.Contains(t, failed.Message, "none is kept for this session", c)
		require.Equal(t, "r1", long(c))
		require.Equal(t, "r2", long(c))
	}
	now = now.Add(61 * time.Minute)
	require.Equal(t, "r1", long(toolhost.Caller{Name: "new"}), "whoever comes makes the old ones end")
	require.Contains(t, f.fails(`return read_result("r1")`).Message, "none is kept")
}

// A script cannot see what another left, in globals, in libraries or in functions of sources.
func TestRunsAreApart(t *testing.T) {
	f := newFixture(t, gateway.Options{}, server(t, "s", "one"))
	f.run(`
		leaked = "secret"
		_G.other = "secret"
		sdk.s.mine = "secret"
		s.one_more = "secret"
		pcall(function() table.secret = 1 end)
		pcall(function() json.secret = "secret" end)
		pcall(function() async.secret = "secret" end)
		pcall(function() files.secret = "secret" end)
		pcall(function() string.rep = nil end)
		return 1`)
	seen := f.run(`local all = { leaked = leaked, other = other, mine = rawget(sdk.s, "mine"), more = rawget(s, "one_more"), rep = type(string.rep) }
		for name, lib in { table = table, json = json, async = async, files = files } do all[name] = (lib :: any).secret end
		return all`)
	require.Equal(t, `{"rep":"function"}`, seen)
}

// A part of a result is what a tree of it would give, however it is written.
func TestPartsOfKeptResults(t *testing.T) {
	const text = ` { "a" : [ 1 , "x,]}\"" , { "b.c" : { "d\u00e9" : [ ] } , "b" : 2 } , [ true , null ] ] , "t" : "aʻb\n\ud83d\ude00" } `
	for _, c := range []struct {
		path     string
		from, to int
		want     string
	}{
		{"a.1", 0, 0, "1"}, {"a.2", 0, 0, `x,]}"`}, {"a.3.b.c.dé", 0, 0, "[ ]"}, {"a.3.b", 0, 0, "2"}, {"a.4.1", 0, 0, "true"}, {"a.4.2", 0, 0, "null"},
		{"a", 2, 2, `["x,]}\""]`}, {"a", 4, 0, `[[ true , null ]]`}, {"a", 5, 9, "[]"}, {"a", 3, 2, "[]"}, {"a.3.b.c.dé", 1, 5, "[]"},
		{"t", 0, 0, "aʻb\n😀"}, {"t", 2, 3, "ʻb"}, {"t", 5, 0, "😀"}, {"t", 6, 9, ""}, {"t", 3, 2, ""}, {"t", 0, 1, "a"},
	} {
		_, found, err := gateway.Part([]byte(text), c.path, c.from, c.to)
		require.NoError(t, err, c)
		require.Equal(t, c.want, found, c)
	}
	for path, want := range map[string]string{
		"a.5": "an array of 4 items", "a.x": "no item", "t.x": "t is a string", "b": `has no field "b"`, "a.3.b.x": "a.3.b is a number", "a.4.1.x": "a.4.1 is a boolean", "a.4.2.x": "is null",
	} {
		_, _, err := gateway.Part([]byte(text), path, 0, 0)
		require.ErrorContains(t, err, want, path)
	}
	for _, torn := range []string{"", "[", "{", `{"a"`, `{"a":`, `["`, `["\`, "[1,", `{"a":[{`, "]", "}", ",", `{"a" 1}`} {
		for _, path := range []string{"a", "1", "a.1.b"} {
			_, _, _ = gateway.Part([]byte(torn), path, 1, 2) // it ends, whatever it finds
		}
	}
}

// Parts of a long result cost no more memory than they have.
func TestPartsTakeLittleMemory(t *testing.T) {
	text := []byte("[" + strings.Repeat(`{"a":1},`, 200_000) + `{"a":2}]`)
	allocated := testing.AllocsPerRun(3, func() {
		_, found, err := gateway.Part(text, "200001.a", 0, 0)
		require.NoError(t, err)
		require.Equal(t, "2", found)
	})
	require.Less(t, allocated, 100.0)
}
