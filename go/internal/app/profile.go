package app

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// profileFile is where a profile goes once the run is over.
type profileFile struct {
	path string // without links
	mode fs.FileMode
}

// profileAt finds out before the run whether a profile can be written to path.
func profileAt(path string) (*profileFile, error) {
	f := &profileFile{path, 0o666}
	err := f.check()
	if err != nil {
		return nil, &OptionError{fmt.Sprintf("--profile %s: %v", path, reason(err))}
	}
	return f, nil
}

func (f *profileFile) check() error {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !strings.HasSuffix(f.path, string(filepath.Separator)):
		if _, err := os.Lstat(f.path); err == nil {
			return errors.New("it is a link that leads nowhere")
		}
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errNoFile // a pipe might never take it
	default:
		if err := f.checkOld(info); err != nil {
			return err
		}
	}
	part, err := f.create()
	if err != nil {
		return err
	}
	return errors.Join(part.Close(), os.Remove(part.Name()))
}

// checkOld finds out whether a file that is there may be replaced.
func (f *profileFile) checkOld(info fs.FileInfo) error {
	old, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	f.mode = info.Mode().Perm()
	if err := old.Close(); err != nil {
		return err
	}
	f.path, err = filepath.EvalSymlinks(f.path)
	return err
}

// create makes a file beside the one that is wanted.
func (f *profileFile) create() (*os.File, error) {
	name := filepath.Join(filepath.Dir(f.path), fmt.Sprintf(".luau-profile-%x", rand.Uint64()))
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, f.mode)
}

// end writes the profile of a run that ended with err. That says more than a profile that cannot be written,
// of which there is a word then.
func (f *profileFile) end(state *luau.State, name string, words *console, err error) (*luau.Profile, error) {
	p, failed := state.StopProfile()
	if failed == nil {
		failed = f.write(p, name)
	}
	if failed != nil && err != nil {
		Warn(&words.err, failed.Error())
		failed = nil
	}
	if err == nil {
		err = failed
	}
	return p, err
}

// write puts the profile there, whole or not at all.
func (f *profileFile) write(p *luau.Profile, name string) error {
	part, err := f.create()
	if err == nil {
		err = errors.Join(p.WriteSpeedscope(part, name), part.Close())
		if err == nil {
			err = os.Rename(part.Name(), f.path)
		}
		if err != nil {
			_ = os.Remove(part.Name())
		}
	}
	if err != nil {
		return &runnerError{"output", fmt.Errorf("cannot write the profile to %s: %w", f.path, reason(err))}
	}
	return nil
}
