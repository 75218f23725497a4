package servertest

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// misbehavior is what the server writes for a path, before it closes the connection.
var misbehavior = map[string]string{
	"/truncated": "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this",
	"/mid-chunk": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n10\r\nhalf",
	"/no-last":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
	"/until-end": "HTTP/1.1 200 OK\r\n\r\nall of it",
	"/chunked":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;name=value\r\nhello\r\n6\r\n world\r\n0\r\nX-Late: yes\r\n\r\n",
	"/nothing":   "",
	"/garbage":   "SSH-2.0-OpenSSH_9.2\r\n\r\n",
	"/half-head": "HTTP/1.1 200 OK\r\nContent-Type: te",
}

// misbehaving starts a server that breaks the protocol, and gives its address. "/silent" is never
// answered, "/late" in two parts; "/reset" breaks the connection with a reset.
func misbehaving(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	over := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { misbehave(conn, over) })
		}
	})
	t.Cleanup(func() { listener.Close(); close(over); running.Wait() })
	return listener.Addr().String()
}

func misbehave(conn net.Conn, over <-chan struct{}) {
	defer conn.Close()
	stopped := make(chan struct{})
	defer close(stopped)
	go func() {
		select {
		case <-over:
			conn.Close()
		case <-stopped:
		}
	}()
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	switch request.URL.Path {
	case "/silent":
		<-over
	case "/late":
		_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nfirst, "))
		select {
		case <-over:
		case <-time.After(300 * time.Millisecond):
			_, _ = conn.Write([]byte("second"))
		}
	case "/reset":
		_ = conn.(*net.TCPConn).SetLinger(0)
	default:
		_, _ = conn.Write([]byte(misbehavior[request.URL.Path]))
	}
}
