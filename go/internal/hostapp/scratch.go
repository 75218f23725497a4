package hostapp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Bounds of the files of one session.
const (
	maxScratchFile  = 16 << 20
	maxScratchBytes = 128 << 20
	maxScratchFiles = 10_000
	scratchAge      = 24 * time.Hour // after the last change
)

// scratchFolder is where sessions have their files, each in a folder of its own.
func (p *Project) scratchFolder() string {
	return filepath.Join(filepath.Dir(p.StatePath()), "sessions")
}

// scratch opens the files of a session. Old ones of others are deleted.
func (h *Host) scratch(session string) (gateway.Folder, error) {
	all, err := openSessions(h.Project.scratchFolder())
	if err != nil {
		return nil, withoutPath(err)
	}
	defer all.Close()
	if !strings.HasPrefix(session, cliSession) {
		session += h.gateways.start // who served before had other clients
	}
	sum := sha256.Sum256([]byte(session))
	name := hex.EncodeToString(sum[:12])
	trimScratch(all, name)
	if err := all.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, withoutPath(err)
	}
	root, err := all.OpenRoot(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	made := &scratch{root: root, most: maxScratchFiles}
	made.inUse()
	return made, nil
}

// cliSession is what the sessions of the command line begin with: a person finds the files of the last run.
const cliSession = `"cli" `

// inUse notes that the folder is; where that fails it may be deleted a day later.
func (s *scratch) inUse() {
	now := time.Now()
	_ = s.root.Chtimes(".", now, now)
}

// openSessions opens the folder of all sessions. A project may come from a stranger: a link in the folder of its state
// must not lead out of that.
func openSessions(path string) (*os.Root, error) {
	state, name := filepath.Split(path)
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(state)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = errors.New("what stands at " + name + " in the folder of the state is no folder: remove it")
	}
	if err != nil {
		return nil, err
	}
	return root.OpenRoot(name)
}

// sessionName is what the folder of a session is called. Nothing else is ever deleted.
var sessionName = regexp.MustCompile(`^[0-9a-f]{24}$`)

// trimScratch deletes what was not used for a day, but for one folder.
func trimScratch(all *os.Root, but string) {
	entries, err := fs.ReadDir(all.FS(), ".")
	if err != nil {
		return // there is nothing to delete
	}
	for _, e := range entries {
		if e.Name() == but || !e.IsDir() || !sessionName.MatchString(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > scratchAge {
			_ = all.RemoveAll(e.Name()) // the next session tries again
		}
	}
}

// scratch are the files of one session.
type scratch struct {
	root *os.Root
	most int // files

	mu      sync.Mutex // of what changes
	size    int64      // of all files, when they were last looked at
	files   int        // with folders
	counted time.Time  // zero: not yet
}

// countTime is how long a count holds: another process may write for the same session. A look at all files for each
// that is written would take a script of many small files minutes.
const countTime = 10 * time.Second

func (s *scratch) Close() { _ = s.root.Close() }

// cleaned is a path within the folder.
func cleaned(name string) (string, error) {
	inside := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if name == "" || inside == "." || !filepath.IsLocal(filepath.FromSlash(inside)) || strings.ContainsRune(name, 0) {
		return "", &luau.Error{Code: luau.CodeArgument, Message: fmt.Sprintf(
			"scratch: %.100q is no path of a file here; paths are relative and do not lead out of the session's folder", name)}
	}
	return filepath.FromSlash(inside), nil
}

// Read implements gateway.Folder.
func (s *scratch) Read(_ context.Context, name string) (string, error) {
	inside, err := cleaned(name)
	if err != nil {
		return "", err
	}
	text, err := readIn(s.root, inside, maxScratchFile)
	if err != nil {
		return "", fileError(name, err)
	}
	return string(text), nil
}

var errNoFile = errors.New("there is no such file")

// fileError is an error of the session's files without the path of the host.
func fileError(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = errNoFile
	}
	return fmt.Errorf("%s: %w", name, withoutPath(err))
}

// Write implements gateway.Folder.
func (s *scratch) Write(_ context.Context, name, text string, add bool) error {
	inside, err := cleaned(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count()
	size, files := s.size, s.files
	before := int64(0)
	if info, err := s.root.Stat(inside); err == nil {
		before, files = info.Size(), files-1
	}
	after := int64(len(text))
	if add {
		after += before
	}
	switch {
	case after > maxScratchFile:
		return fileError(name, fmt.Errorf("a file may have %d bytes", maxScratchFile))
	case size-before+after > maxScratchBytes:
		return fileError(name, fmt.Errorf("the session's files may have %d bytes together; remove some", maxScratchBytes))
	case files >= s.most:
		return fileError(name, fmt.Errorf("the session may have %d files; remove some", s.most))
	}
	if dir := filepath.Dir(inside); dir != "." {
		if _, err := s.root.Stat(dir); err != nil {
			s.counted = time.Time{} // it makes folders, too
		}
		if err := s.root.MkdirAll(dir, 0o700); err != nil {
			return fileError(name, err)
		}
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if add {
		flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	f, err := s.root.OpenFile(inside, flags, 0o600)
	if err != nil {
		return fileError(name, err)
	}
	s.size, s.files = size-before+after, files+1
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		s.counted = time.Time{}
		return fileError(name, err)
	}
	return nil
}

// count looks at all files, where that was long ago. The lock is held.
func (s *scratch) count() {
	if s.counted.IsZero() || time.Since(s.counted) > countTime {
		s.inUse()
		s.size, s.files = s.used()
		s.counted = time.Now()
	}
}

// used is how many bytes and files there are. Folders count as files.
func (s *scratch) used() (size int64, files int) {
	_ = fs.WalkDir(s.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return nil
		}
		files++
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size, files
}

// List implements gateway.Folder.
func (s *scratch) List(_ context.Context, folder string) (string, error) {
	inside := "."
	if folder != "" && folder != "." {
		var err error
		if inside, err = cleaned(folder); err != nil {
			return "", err
		}
	}
	list := []any{}
	err := fs.WalkDir(s.root.FS(), filepath.ToSlash(inside), func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			list = append(list, map[string]any{"path": name, "size": float64(info.Size())})
		}
		return nil
	})
	if err != nil {
		return "", fileError(folder, err)
	}
	text, err := jsonvalue.Encode(list)
	return string(text), err
}

// Remove implements gateway.Folder.
func (s *scratch) Remove(_ context.Context, name string) error {
	inside, err := cleaned(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := s.root.Lstat(inside)
	if err == nil {
		err = s.root.Remove(inside)
	}
	if err != nil {
		return fileError(name, err)
	}
	if s.files--; info.Mode().IsRegular() {
		s.size -= info.Size()
	}
	return nil
}
