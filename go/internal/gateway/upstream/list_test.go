package upstream

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// paged answers tools/list by page, as the cursor says.
func paged(page func(cursor string) string) func(*running, message) bool {
	return func(r *running, m message) bool {
		if m.method != "tools/list" {
			return false
		}
		cursor := ""
		members(m.params, func(key, value []byte) {
			if string(key) == "cursor" {
				cursor = str(value)
			}
		})
		r.result(m, page(cursor))
		return true
	}
}

func toolEntry(name string) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name)
}

// D09: all pages are read, and a repeated cursor ends the reading.
func TestD09Pages(t *testing.T) {
	for name, c := range map[string]struct {
		pages   map[string]string // cursor and end of its answer
		tools   string
		warning string
	}{
		"three pages":       {map[string]string{"": `,"nextCursor":"a"`, "a": `,"nextCursor":"b"`, "b": ""}, "t- t-a t-b", ""},
		"an empty cursor":   {map[string]string{"": `,"nextCursor":"a"`, "a": `,"nextCursor":""`}, "t- t-a", ""},
		"null":              {map[string]string{"": `,"nextCursor":null`}, "t-", ""},
		"a repeated cursor": {map[string]string{"": `,"nextCursor":"a"`, "a": `,"nextCursor":"a"`}, "t- t-a", "the same cursor twice"},
		"a longer circle":   {map[string]string{"": `,"nextCursor":"a"`, "a": `,"nextCursor":"b"`, "b": `,"nextCursor":"a"`}, "t- t-a t-b", "the same cursor twice"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t, paged(func(cursor string) string {
				return `{"tools":[` + toolEntry("t-"+cursor) + `]` + c.pages[cursor] + `}`
			}))
			snapshot := p.open(Options{}).Snapshot()
			require.Equal(t, c.tools, names(snapshot))
			warnings := strings.Join(snapshot.Warnings, "\n")
			require.Contains(t, warnings, c.warning)
			require.Equal(t, c.warning == "", warnings == "")
		})
	}
}

// D09: A list that never ends does.
func TestD09EndlessPages(t *testing.T) {
	var n atomic.Int32
	p := newProgram(t, paged(func(string) string {
		i := n.Add(1)
		return fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, toolEntry(fmt.Sprint("t", i)), i)
	}))
	snapshot := p.open(Options{}).Snapshot()
	require.Len(t, snapshot.Tools, mostPages)
	require.Contains(t, snapshot.Warnings[0], "too long")
}

func TestEntriesThatAreNoTools(t *testing.T) {
	p := newProgram(t, paged(func(string) string {
		return `{"tools":[null,{"name":7},{"inputSchema":{}},{"name":"a"},{"name":"a","description":"other"},{"name":"b","inputSchema":true,"annotations":[]},{"name":"c","name":"d"}]}`
	}))
	snapshot := p.open(Options{}).Snapshot()
	require.Equal(t, "a b", names(snapshot))
	require.Len(t, snapshot.Warnings, 5)
	require.Contains(t, snapshot.Warnings[3], `another tool named "a"`)
	require.Empty(t, snapshot.Tools[0].Description, "the first stays")
}

func TestAllows(t *testing.T) {
	p := newProgram(t, nil)
	p.tools.Store("[" + toolEntry("read_file") + "," + toolEntry("read_secret") + "," + toolEntry("write_file") + "]")
	require.Equal(t, "read_file read_secret write_file", names(p.open(Options{}).Snapshot()))
	s := open(t, Config{Name: "fake", Command: "fake", Allows: func(tool string) bool { return tool == "read_file" }}, Options{Start: p.start})
	require.Equal(t, "read_file", names(s.Snapshot()))
	_, err := call(t, s, "read_secret", "{}", CallOptions{})
	require.Equal(t, CodePermission, failure(t, err).Code)
	require.Zero(t, p.now().calls.Load(), "a name that is known is of no use")
}

// D10: changed lists are seen without a restart.
func TestD10ListsChange(t *testing.T) {
	var told atomic.Int32
	p := newProgram(t, func(r *running, m message) bool {
		if m.method == "initialize" && strings.Contains(string(m.params), `"capabilities":{"elicitation":{"form":{}}}`) {
			told.Add(1)
		}
		return false
	})
	changed := make(chan struct{}, 10)
	s := p.open(Options{OnChange: func() { changed <- struct{}{} }, Client: Client{Elicitation: true}})
	<-changed
	another := s.Another(Options{})
	t.Cleanup(another.Close)
	ctx := t.Context()
	require.NoError(t, another.Ready(ctx))
	require.EqualValues(t, 2, told.Load(), "both connections know what our client can")
	p.mu.Lock()
	second := p.last
	p.mu.Unlock()
	require.Equal(t, 2, second.number)

	p.tools.Store(`[{"name":"echo","inputSchema":{"type":"object","properties":{"new":{}}}},` + toolEntry("more") + "]")
	for range 5 { // the second connection hears of it; the lists are one
		second.sayf(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	}
	<-changed
	require.Equal(t, "echo more", names(s.Snapshot()))
	require.Same(t, s.Snapshot(), another.Snapshot())
	require.Contains(t, shownTree(t, s.Snapshot().Tools[0].InputSchema), "new")
	_, err := call(t, another, "more", "{}", CallOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 1, second.calls.Load(), "each has its own connection")

	before, lists := s.Snapshot(), p.lists.Load()
	eventually(t, func() bool {
		second.sayf(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		return p.lists.Load() > lists+1
	})
	require.Same(t, before, s.Snapshot(), "nothing has changed")
	p.tools.Store("[" + toolEntry("more") + "]")
	eventually(t, func() bool {
		second.sayf(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		return names(s.Snapshot()) == "more"
	})
}
