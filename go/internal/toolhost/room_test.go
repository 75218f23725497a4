package toolhost_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Small texts that become large values: no call takes more memory than its tool has, nor all calls together more
// than there is for them.
func TestLargeValuesHaveABound(t *testing.T) {
	many := strings.Repeat(`{"":0},`, 100_000) + "{}"
	echo, checked := tool(t, "echo", "function invoke(ctx, args) return 1 end"), tool(t, "checked", "function invoke(ctx, args) local l = table.create(200000, 1) return l end")
	echo.Memory, checked.Memory = 16<<20, 6<<20
	checked.Result = object(t, nil)
	h := newHost(t, toolhost.Options{}, echo, checked, tool(t, "waits", `function invoke(ctx) ctx.emit("") end`))
	_, failed := call(h, "echo", `{"a":[`+many+`]}`)
	require.NotNil(t, failed)
	require.Equal(t, toolhost.TooLarge, failed.Code)
	require.Equal(t, "the arguments take more memory than tool 'echo' has: 16777216 bytes", failed.Message)
	_, failed = call(h, "checked", "{}")
	require.NotNil(t, failed)
	require.Equal(t, toolhost.TooLarge, failed.Code, failed.Message)
	result, failed := call(h, "echo", `{"a":["`+strings.Repeat("x", 1<<20)+`"]}`)
	require.Nil(t, failed)
	require.Equal(t, "1", result)

	h = newHost(t, toolhost.Options{Values: 48 << 20}, tool(t, "waits", `function invoke(ctx) ctx.emit("") end`))
	inside, end := make(chan bool), make(chan bool)
	s := &sink{emitted: func(string) { inside <- true; <-end }}
	done := make(chan *toolhost.Error)
	go func() {
		_, failed := h.Call(context.Background(), toolhost.Request{Tool: "waits", Args: []byte(`{"a":[` + many + `]}`), Sink: s})
		done <- failed
	}()
	<-inside
	_, failed = call(h, "waits", `{"a":[`+many+`]}`)
	require.NotNil(t, failed)
	require.Equal(t, toolhost.Busy, failed.Code)
	require.NotZero(t, failed.RetryAfter)
	_, failed = call(h, "waits", `{"a":1}`)
	require.Nil(t, failed, "small ones need no room")
	close(end)
	require.Nil(t, <-done)
	s.emitted = nil
	_, failed = call(h, "waits", `{"a":[`+many+`]}`)
	require.Nil(t, failed, "it was given back")
}

// Events count while they are made, each for itself.
func TestLargeEventsHaveABound(t *testing.T) {
	tells := tool(t, "tells", `function invoke(ctx, args)
		local list = table.create(args.n, 1)
		for i = 1, 3 do ctx.emit({ list = list }) end
		return pcall(ctx.emit, { list = table.create(300000, {}) })
	end`)
	tells.Memory = 16 << 20
	h := newHost(t, toolhost.Options{Values: 16 << 20}, tells)
	s := &sink{}
	answer, failed := h.Call(context.Background(), toolhost.Request{Tool: "tells", Args: []byte(`{"n":100000}`), Sink: s})
	require.Nil(t, failed)
	require.Equal(t, "false", string(answer.JSON))
	require.Len(t, s.chunks, 3)
	_, failed = h.Call(context.Background(), toolhost.Request{Tool: "tells", Args: []byte(`{"n":100000}`), Sink: s})
	require.Nil(t, failed, "all was given back")
}
