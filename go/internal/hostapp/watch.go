package hostapp

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/hukilau/hukilau/go/internal/server"
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
	told    map[string]string // what is broken, by file and name
	stray   map[string]bool   // policies that hold nowhere, as they were told
	wrong   string            // of the configuration, as it was told
}

func newWatcher(h *Host, changed func()) (*watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watcher{host: h, changed: changed, notify: notify, watched: map[string]bool{}, told: map[string]string{}}
	for _, b := range h.Project.Broken() { // they were told at the start
		w.told[b.File+"\x00"+b.Name] = b.Err.Error()
	}
	w.stray = h.tellStray(nil)
	w.watchAll()
	return w, nil
}

// watchAll watches the folder of the configuration, and those of tools with what is in them.
func (w *watcher) watchAll() {
	p := w.host.Project
	w.watch(p.Folder)
	if libraries := p.libraries(); isFolder(libraries) {
		w.watchBelow(libraries)
	}
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
			if event.Op == fsnotify.Chmod || w.isState(event.Name) || !w.matters(event.Name) {
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

// matters says whether a change of that path may change what is served: the server's own log may be in the same
// folder.
func (w *watcher) matters(path string) bool {
	switch filepath.Ext(path) {
	case ".yaml", ".yml", ".lua", ".luau", ".toml":
		return true
	}
	if w.watched[path] || path == w.host.Project.file {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// reload reads everything again. What is broken is told and listed; the last good versions go on.
func (w *watcher) reload(ctx context.Context) {
	h := w.host
	before := hashes(h)
	if err := h.Reload(ctx); err != nil {
		text := h.Project.redact(err.Error())
		h.wrong.Store(&server.Broken{File: h.Project.configName(), Error: text})
		if text != w.wrong {
			w.wrong = text
			h.Logger.Error("the configuration cannot be read; the last one goes on", "error", text)
		}
		return
	}
	h.wrong.Store(nil)
	if w.wrong != "" {
		w.wrong = ""
		h.Logger.Info("the configuration can be read again")
	}
	w.watchAll()
	w.tellChanges(before)
	w.tellBroken()
	w.stray = w.host.tellStray(w.stray)
	w.changed()
}

// hashes are the versions of the tools by name.
func hashes(h *Host) map[string]string {
	all := map[string]string{}
	for _, t := range h.Tools() {
		all[t.Name] = t.Hash
	}
	return all
}

// tellChanges logs which tools are others than before.
func (w *watcher) tellChanges(before map[string]string) {
	now := hashes(w.host)
	var added, changed, removed []string
	for name, hash := range now {
		switch old, there := before[name]; {
		case !there:
			added = append(added, name)
		case old != hash:
			changed = append(changed, name)
		}
	}
	for name := range before {
		if _, there := now[name]; !there {
			removed = append(removed, name)
		}
	}
	var attrs []any
	for _, list := range []struct {
		what  string
		names []string
	}{{"added", added}, {"changed", changed}, {"removed", removed}} {
		if len(list.names) > 0 {
			slices.Sort(list.names)
			attrs = append(attrs, list.what, strings.Join(list.names, ", "))
		}
	}
	if attrs != nil {
		w.host.Logger.Info("tools were reloaded", attrs...)
	}
}

// tellBroken logs what is broken in another way than before.
func (w *watcher) tellBroken() {
	now := map[string]string{}
	for _, b := range w.host.Project.Broken() {
		key, text := b.File+"\x00"+b.Name, b.Err.Error()
		if now[key] = text; w.told[key] != text {
			w.host.tellOneBroken(b)
		}
	}
	w.told = now
}
