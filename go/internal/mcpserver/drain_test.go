package mcpserver_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/mcpserver"
)

// Calls that do not end soon after their client has closed the input are cancelled, and answered; then it is over.
func TestCallsAreCancelledWhenTheInputHasEnded(t *testing.T) {
	url, asked, gone := hanging(t)
	var log bytes.Buffer
	f := servingWith(t, one(t), mcpserver.Options{Grace: time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))},
		tool(t, "waits", `function invoke(ctx) return ctx.http.get("`+url+`") end`))
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(callOf(`"a"`, "waits", "{}"))
	<-asked
	p.send(callOf("2", "waits", "{}")) // waits for a place
	require.NoError(t, p.in.Close())
	<-gone
	answers := map[string]message{}
	for range 2 {
		m, _ := p.answer()
		answers[fmt.Sprint(m["id"])] = m
	}
	require.Equal(t, "cancelled", answers["a"].told(t)["code"])
	require.Equal(t, "cancelled", answers["2"].told(t)["code"])
	p.close()
	require.Contains(t, log.String(), "standard input has ended, and calls that still ran are cancelled")
	require.Contains(t, log.String(), "calls=2")
}

// Who pipes requests in and closes the input gets the answers of calls that end in time.
func TestCallsThatEndInTimeAreAnswered(t *testing.T) {
	asked, release := make(chan bool), make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- true
		<-release
		fmt.Fprint(w, "late, not too late")
	}))
	t.Cleanup(server.Close)
	f := servingWith(t, one(t), mcpserver.Options{Grace: patience},
		tool(t, "waits", `function invoke(ctx) return ctx.http.get("`+server.URL+`").body end`))
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(callOf("1", "waits", "{}"))
	<-asked
	require.NoError(t, p.in.Close())
	release <- true
	m, _ := p.answer()
	require.Equal(t, "late, not too late", m.at("result.content.0.text"))
	p.close()
}
