package hostapp

import (
	"errors"
	"io/fs"
	"slices"
	"sync"

	"github.com/hukilau/hukilau/go/internal/module"
)

// openFiles reads below folders that may become others while it is used.
type openFiles struct {
	mu    sync.RWMutex
	roots []string
	files *module.Rooted
	old   []*module.Rooted // somebody may read there still
}

// open makes these the folders.
func (o *openFiles) open(roots []string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files != nil && slices.Equal(o.roots, roots) {
		return nil
	}
	files, err := module.RootFS(roots...)
	if err != nil {
		return err
	}
	if o.files != nil {
		o.old = append(o.old, o.files)
	}
	if len(o.old) > 3 { // whoever reads takes less than three changes of folders
		_ = o.old[0].Close()
		o.old = o.old[1:]
	}
	o.roots, o.files = roots, files
	return nil
}

func (o *openFiles) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs []error
	for _, files := range append(o.old, o.files) {
		if files != nil {
			errs = append(errs, files.Close())
		}
	}
	o.old, o.files = nil, nil
	return errors.Join(errs...)
}

func (o *openFiles) now() (*module.Rooted, error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if o.files == nil {
		return nil, fs.ErrClosed
	}
	return o.files, nil
}

// Stat implements module.FS.
func (o *openFiles) Stat(file string) (fs.FileInfo, error) {
	files, err := o.now()
	if err != nil {
		return nil, err
	}
	return files.Stat(file)
}

// Open implements module.FS.
func (o *openFiles) Open(file string) (fs.File, error) {
	files, err := o.now()
	if err != nil {
		return nil, err
	}
	return files.Open(file)
}

// Names implements module.FS.
func (o *openFiles) Names(dir string, limit int) ([]string, error) {
	files, err := o.now()
	if err != nil {
		return nil, err
	}
	return files.Names(dir, limit)
}

// RealPath implements module.FS.
func (o *openFiles) RealPath(file string) (string, error) {
	files, err := o.now()
	if err != nil {
		return "", err
	}
	return files.RealPath(file)
}
