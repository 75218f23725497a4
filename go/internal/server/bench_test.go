package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/server"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

const benchBody = `{"city":"Honolulu","days":[1,2,3],"units":{"temperature":"celsius","wind":"knots"},"verbose":true,"limit":12.5}`

// bare decodes and encodes the same JSON as an echo tool.
func bare(w http.ResponseWriter, r *http.Request) {
	var args map[string]any
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"result": args})
}

// BenchmarkEcho posts to a tool that gives its arguments back, beside a handler that does so without a tool.
func BenchmarkEcho(b *testing.B) {
	for _, kept := range []struct {
		name string
		log  bool
	}{{"tool", false}, {"tool and log", true}} {
		b.Run(kept.name, func(b *testing.B) {
			host, s := newHost(b, toolhost.Options{}, echo(b))
			if !kept.log {
				host = toolhost.New(toolhost.Options{})
				host.Serve(set{echo(b)})
				b.Cleanup(host.Close)
			}
			benchServer(b, host, s)
		})
	}
	b.Run("bare", func(b *testing.B) {
		f := httptest.NewServer(http.HandlerFunc(bare))
		defer f.Close()
		post(b, f.URL+"/tools/echo")
	})
}

func benchServer(b *testing.B, host *toolhost.Host, s *store.Store) {
	served, err := server.New(server.Options{Host: host, Store: s})
	require.NoError(b, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	ctx, stop := cancelled(b)
	done := make(chan error, 1)
	go func() { done <- served.Serve(ctx, l) }()
	post(b, "http://"+l.Addr().String()+"/tools/echo")
	stop()
	require.NoError(b, <-done)
}

// post sends requests over kept connections, with a client that costs little.
func post(b *testing.B, url string) {
	host := url[len("http://"):]
	host = host[:bytes.IndexByte([]byte(host), '/')]
	request := []byte("POST /tools/echo HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: application/json\r\nContent-Length: 111\r\n\r\n" + benchBody)
	require.Len(b, benchBody, 111)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		c, err := net.Dial("tcp", host)
		if err != nil {
			b.Error(err)
			return
		}
		defer c.Close()
		buf := make([]byte, 4<<10)
		for pb.Next() {
			if _, err := c.Write(request); err != nil {
				b.Error(err)
				return
			}
			if err := readAnswer(c, buf); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// readAnswer reads one answer with a length.
func readAnswer(c net.Conn, buf []byte) error {
	n := 0
	for {
		m, err := c.Read(buf[n:])
		if err != nil {
			return err
		}
		n += m
		head, body, found := bytes.Cut(buf[:n], []byte("\r\n\r\n"))
		if !found {
			continue
		}
		length := 0
		_, value, _ := bytes.Cut(head, []byte("Content-Length: "))
		for _, digit := range value {
			if digit < '0' || digit > '9' {
				break
			}
			length = 10*length + int(digit-'0')
		}
		if !bytes.HasPrefix(head, []byte("HTTP/1.1 200")) {
			return io.ErrUnexpectedEOF
		}
		if len(body) >= length {
			return nil
		}
	}
}
