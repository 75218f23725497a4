// Command everything serves the tools of tests/mcp, which the conformance suite of the Model Context Protocol
// calls: over standard input and output, or with -http over HTTP, where it says its address on standard output.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/hukilau/hukilau/go/internal/mcptest"
)

func main() {
	address := flag.String("http", "", "address to listen at; empty: standard input and output")
	root := flag.String("root", "tests/mcp", "folder that has the folders `tools` and `changed`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *root, *address); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, root, address string) error {
	changes := &changes{Handler: slog.NewTextHandler(os.Stderr, nil)}
	served, err := mcptest.Serve(ctx, root, slog.New(changes), "tools")
	if err != nil {
		return err
	}
	defer served.Close()
	changes.swap = func(odd bool) {
		dirs := []string{"tools"}
		if odd {
			dirs = append(dirs, "changed")
		}
		if err := served.Use(ctx, dirs...); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
		}
	}
	if address == "" {
		return served.Server.Stdio(ctx, os.Stdin, os.Stdout)
	}
	return listen(ctx, address, served.Server.HTTP())
}

func listen(ctx context.Context, address string, handler http.Handler) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	web := &http.Server{Handler: http.NewCrossOriginProtection().Handler(mux)}
	context.AfterFunc(ctx, func() { web.Close() })
	return web.Serve(listener)
}

// changes swaps the tools when the log tells of a call of the tool that asks for it.
type changes struct {
	slog.Handler
	swap  func(odd bool)
	count atomic.Int64
}

// Handle implements slog.Handler.
func (c *changes) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if r.Message == "call" && a.Key == "tool" && a.Value.String() == "test_trigger_tool_change" {
			go c.swap(c.count.Add(1)%2 == 1)
		}
		return true
	})
	return c.Handler.Handle(ctx, r)
}
