package gateway

import (
	"context"

	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
)

// Folder is where the files of one session are. Paths are relative, with slashes; none leads out of it.
type Folder interface {
	sdkmod.Files
	Close()
}

// noted is a session's files, for one run: what it writes is told.
type noted struct {
	run *run
}

func (n noted) with(ctx context.Context, path string, change bool, do func(Folder) error) error {
	folder, err := n.run.gateway.sessions.folder(n.run.client)
	if err != nil {
		return err
	}
	if err := do(folder); err != nil {
		return err
	}
	if change {
		n.run.touch(path)
	}
	return nil
}

// Read implements sdkmod.Files.
func (n noted) Read(ctx context.Context, path string) (text string, err error) {
	err = n.with(ctx, path, false, func(f Folder) (err error) {
		text, err = f.Read(ctx, path)
		return err
	})
	return text, err
}

// Write implements sdkmod.Files.
func (n noted) Write(ctx context.Context, path, text string, add bool) error {
	return n.with(ctx, path, true, func(f Folder) error { return f.Write(ctx, path, text, add) })
}

// List implements sdkmod.Files.
func (n noted) List(ctx context.Context, folder string) (text string, err error) {
	err = n.with(ctx, folder, false, func(f Folder) (err error) {
		text, err = f.List(ctx, folder)
		return err
	})
	return text, err
}

// Remove implements sdkmod.Files.
func (n noted) Remove(ctx context.Context, path string) error {
	return n.with(ctx, path, true, func(f Folder) error { return f.Remove(ctx, path) })
}
