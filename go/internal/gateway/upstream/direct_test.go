package upstream

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// unread are lines over pipes of the system, and the other end of their input.
func unread(t *testing.T) (*lines, *os.File) {
	t.Helper()
	theirIn, ourIn, err := os.Pipe()
	require.NoError(t, err)
	ourOut, theirOut, err := os.Pipe()
	require.NoError(t, err)
	p := newPeer(slog.New(slog.DiscardHandler), 1<<20, nil)
	newLines(&Process{In: ourIn, Out: ourOut, Stop: func() { _ = theirOut.Close() }}, p, 1<<20)
	l := p.conn.(*lines)
	require.NotNil(t, l.now, "writes to pipes are bounded")
	t.Cleanup(func() {
		l.close()
		_ = theirIn.Close()
	})
	return l, theirIn
}

// A short request is in the pipe when send returns.
func TestShortRequestsAreWrittenAtOnce(t *testing.T) {
	l, in := unread(t)
	require.NoError(t, in.SetReadDeadline(time.Now().Add(patience)))
	q := newPending(t.Context(), "ping")
	require.NoError(t, l.send(t.Context(), []byte(`{"id":1}`), q))
	require.True(t, q.sent.Load())
	line, err := bufio.NewReader(in).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "{\"id\":1}\n", line)
}

// A server that does not read keeps nobody who has an end, and gets every line whole and once when it does.
func TestRequestsToAServerThatDoesNotRead(t *testing.T) {
	l, in := unread(t)
	const requests = 3000
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var sending sync.WaitGroup
	for i := range requests {
		sending.Go(func() {
			text := fmt.Appendf(nil, `{"id":%d,"text":"%0*d"}`, i, 20+i%600, i)
			if err := l.send(ctx, text, newPending(ctx, "ping")); err != nil {
				t.Error(err)
			}
		})
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	require.Eventually(t, func() bool { return len(l.queue) == cap(l.queue) }, patience, time.Millisecond, "the pipe is full")
	require.Error(t, l.send(gone, []byte(`{"id":-1}`), newPending(gone, "ping")), "whoever has gone does not wait")

	require.NoError(t, in.SetReadDeadline(time.Now().Add(patience)))
	reader := bufio.NewReader(in)
	seen := map[int]bool{}
	for range requests {
		line, err := reader.ReadString('\n')
		require.NoError(t, err)
		var id, text int
		_, err = fmt.Sscanf(line, "{\"id\":%d,\"text\":\"%d\"}\n", &id, &text)
		require.NoError(t, err, line)
		require.Equal(t, id, text)
		require.False(t, seen[id])
		seen[id] = true
	}
	sending.Wait()
}
