// Command everything serves the tools that the conformance suite of the Model Context Protocol calls: over
// standard input and output, or with -http over HTTP, where it says its address on standard output.
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
	"syscall"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/libs"
)

func main() {
	address := flag.String("http", "", "address to listen at; empty: standard input and output")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *address); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, address string) error {
	resolver, err := module.New(module.Options{Embedded: libs.FS})
	if err != nil {
		return err
	}
	kept, err := store.Open(ctx, store.Options{Path: store.Memory})
	if err != nil {
		return err
	}
	defer kept.Close()
	changes := &changes{Handler: slog.NewTextHandler(os.Stderr, nil)}
	host := toolhost.New(toolhost.Options{
		Store: kept, Logger: slog.New(changes),
		Resolver: func(*tooldef.Tool) engine.Resolver { return resolver },
	})
	defer host.Close()
	first, err := newSet(0)
	if err != nil {
		return err
	}
	host.Serve(first)
	server := mcpserver.New(mcpserver.Options{Host: host, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), Version: "1.0.0"})
	defer server.Close()
	changes.swap = func(version int) {
		if next, err := newSet(version); err == nil {
			host.Serve(next)
			server.Changed()
		}
	}
	if address == "" {
		return server.Stdio(ctx, os.Stdin, os.Stdout)
	}
	return listen(ctx, address, server)
}

func listen(ctx context.Context, address string, server *mcpserver.Server) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.HTTP())
	web := &http.Server{Handler: http.NewCrossOriginProtection().Handler(mux)}
	context.AfterFunc(ctx, func() { web.Close() })
	return web.Serve(listener)
}

// changes swaps the tools when a call of the tool that asks for it is told to the log.
type changes struct {
	slog.Handler
	swap  func(version int)
	count int
}

func (c *changes) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "tool" && a.Value.String() == "test_trigger_tool_change" {
			c.count++
			go c.swap(c.count)
		}
		return true
	})
	return c.Handler.Handle(ctx, r)
}
