package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// A client that sends and never reads: no more answers are made than may wait, and the server ends all the same.
func TestClientThatReadsNothing(t *testing.T) {
	var ran atomic.Int32
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{MaxInFlight: 4, Grace: time.Millisecond}, tool(t, "echo", echo))
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- f.server.Stdio(context.Background(), in, out) }()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(toServer, initialize("2025-11-25", "{}")+"\n")
		for n := range 100 {
			if _, err := io.WriteString(toServer, callOf(fmt.Sprint(n), "echo", "{}")+"\n"); err != nil {
				return
			}
			ran.Add(1)
		}
	}()
	require.Never(t, func() bool { return ran.Load() > 20 }, 200*time.Millisecond, time.Millisecond, "it goes on reading")
	toServer.Close()
	in.Close()
	<-sent
	fromServer.CloseWithError(io.ErrClosedPipe) // so that nothing is left of the test
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
}

// Whoever closes standard input and reads no answers is not waited for.
func TestUnreadAnswersKeepNobody(t *testing.T) {
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{Grace: time.Millisecond}, tool(t, "echo", echo))
	fromServer, out := io.Pipe()
	in := strings.NewReader(initialize("2025-11-25", "{}") + "\n")
	ended := make(chan error, 1)
	go func() { ended <- f.server.Stdio(context.Background(), in, out) }()
	select {
	case err := <-ended:
		require.ErrorContains(t, err, "does not read")
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
	fromServer.Close()
}

// An answer that belongs to nothing is no reason for another one: two sides that do so would never end.
func TestAnswersAreNotAnswered(t *testing.T) {
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{}, tool(t, "echo", echo))
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not mine"}}`, `{"jsonrpc":"2.0","id":1.5,"result":{}}`, callOf("7", "echo", "{}"))
	require.Equal(t, "7", fmt.Sprint(p.next()["id"]))
}
