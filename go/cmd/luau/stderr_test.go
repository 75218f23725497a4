package main

import (
	"io"
	"net"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server that sends more than it said puts no line of the HTTP library among the script's errors.
func TestServerThatSaysTooMuchIsNotLogged(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			buffer := make([]byte, 4096)
			_, _ = conn.Read(buffer)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdefg")
		}
	}()
	code := `local time = require("time") print(require("http").get("http://` + listener.Addr().String() + `/").body) time.sleep(0.3)`
	out, err := exec.Command("luau", "-e", code).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "abc\n", string(out))
}
