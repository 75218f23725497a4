package hostapp

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long nothing may change before files are read again: editors write in several steps.
const settle = 100 * time.Millisecond

// maxWatched is how many folders are watched.
const maxWatched = 1000

// watcher reloads a host when its files change.
type watcher struct {
	host    *Host
	changed func()
	notify  *fsnotify.Watcher
	watched map[string]bool
}

func newWatcher(h *Host, changed func()) (*watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watcher{host: h, changed: changed, notify: notify, watched: map[string]bool{}}
	w.watchAll()
	return w, nil
}

// watchAll watches the folder of the configuration, and those of tools with what is in them.
func (w *watcher) watchAll() {
	p := w.host.Project
	w.watch(p.Folder)
	for _, dir := range p.dirs(p.Config()) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.Folder, dir)
		}
		w.watchBelow(dir)
	}
	for _, s := range p.Config().Tools.Scripts {
		w.watch(filepath.Dir(p.Config().Path(s.Path)))
	}
}

func (w *watcher) watchBelow(dir string) {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // it is gone, or the loader tells
		case !entry.IsDir():
			if path == dir {
				w.watch(filepath.Dir(path))
			}
			return nil
		case path != dir && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case len(w.watched) >= maxWatched:
			return fs.SkipAll
		}
		w.watch(path)
		return nil
	})
	if err != nil {
		w.host.Logger.Warn("a folder of tools cannot be watched", "folder", dir, "error", err.Error())
	}
}

func (w *watcher) watch(dir string) {
	if w.watched[dir] || len(w.watched) >= maxWatched {
		return
	}
	if err := w.notify.Add(dir); err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, os.ErrNotExist) {
			w.host.Logger.Warn("a folder cannot be watched: changes in it are not seen", "folder", dir, "error", err.Error())
		}
		return
	}
	w.watched[dir] = true
}

// run reloads after changes until ctx ends.
func (w *watcher) run(ctx context.Context) {
	defer w.notify.Close()
	quiet := time.NewTimer(settle)
	quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event, open := <-w.notify.Events:
			if !open {
				return
			}
			if event.Op == fsnotify.Chmod || w.isState(event.Name) {
				continue
			}
			if event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
				delete(w.watched, event.Name)
			}
			quiet.Reset(settle)
		case err, open := <-w.notify.Errors:
			if !open {
				return
			}
			w.host.Logger.Warn("watching files", "error", err.Error())
			quiet.Reset(settle) // something may have been missed
		case <-quiet.C:
			w.reload(ctx)
		}
	}
}

// isState says whether a file is the store's own.
func (w *watcher) isState(path string) bool {
	return strings.HasPrefix(path, filepath.Dir(w.host.Project.StatePath())+string(filepath.Separator)) || path == filepath.Dir(w.host.Project.StatePath())
}

// reload reads everything again. What is broken is told and listed; the last good versions go on.
func (w *watcher) reload(ctx context.Context) {
	if err := w.host.Reload(ctx); err != nil {
		w.host.Logger.Error("the configuration cannot be read; the last one goes on", "error", w.host.Project.redact(err.Error()))
		return
	}
	w.watchAll()
	w.host.tellBroken()
	w.changed()
}
