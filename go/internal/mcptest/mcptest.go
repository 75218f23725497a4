// Package mcptest serves tools of a folder to MCP clients, for the transcripts in tests/mcp.
package mcptest

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/libs"
)

// Served are tools with the server that serves them.
type Served struct {
	Server *mcpserver.Server
	root   string
	host   *toolhost.Host
	store  *store.Store
}

// Serve serves the tools of folders below root. The state is in memory.
func Serve(ctx context.Context, root string, logger *slog.Logger, dirs ...string) (*Served, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	resolver, err := module.New(module.Options{Embedded: libs.FS})
	if err != nil {
		return nil, err
	}
	kept, err := store.Open(ctx, store.Options{Path: store.Memory})
	if err != nil {
		return nil, err
	}
	s := &Served{root: root, store: kept}
	s.host = toolhost.New(toolhost.Options{
		Store: kept, Logger: logger, Resolver: func(*tooldef.Tool) engine.Resolver { return resolver },
	})
	s.Server = mcpserver.New(mcpserver.Options{Host: s.host, Logger: logger, Version: "1.0.0"})
	if err := s.Use(ctx, dirs...); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Use swaps the tools for those of other folders. Each definition must be a tool.
func (s *Served) Use(ctx context.Context, dirs ...string) error {
	files, err := module.RootFS(s.root)
	if err != nil {
		return err
	}
	defer files.Close()
	set, err := tooldef.Load(ctx, tooldef.Options{Files: files, Root: s.root, Dirs: dirs})
	if err != nil {
		return err
	}
	var broken []error
	for _, b := range set.Errors() {
		broken = append(broken, b.Err)
	}
	if err := errors.Join(broken...); err != nil {
		return err
	}
	s.host.Serve(set)
	s.Server.Changed()
	return nil
}

// Close ends it.
func (s *Served) Close() {
	s.Server.Close()
	s.host.Close()
	s.store.Close()
}
