package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/zalando/go-keyring"
)

// Keyring keeps grants in the keyring of the operating system.
type Keyring struct{}

// service is the name that people see in their keyring.
const service = "hukilau"

func account(name string) string { return "mcp server " + name }

// keyringTime is how long a keyring may take: it may ask its owner to unlock it, and there may be nobody.
const keyringTime = 30 * time.Second

var errKeyring = errors.New("it does not answer; is it locked?")

// patiently does something that cannot be broken off. What it does after its time is nobody's any more.
func patiently(do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	late := time.NewTimer(keyringTime)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return errKeyring
	}
}

// Load implements Store.
func (Keyring) Load(name string) (*Grant, error) {
	found := make(chan string, 1)
	err := patiently(func() error {
		text, err := keyring.Get(service, account(name))
		found <- text
		return err
	})
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the keyring: %w", err)
	}
	return decode([]byte(<-found))
}

// Save implements Store.
func (Keyring) Save(name string, g *Grant) error {
	text, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if err := patiently(func() error { return keyring.Set(service, account(name), string(text)) }); err != nil {
		return fmt.Errorf("the keyring: %w", err)
	}
	return nil
}

// Delete implements Store.
func (Keyring) Delete(name string) error {
	err := patiently(func() error { return keyring.Delete(service, account(name)) })
	if err != nil && !errors.Is(err, keyring.ErrNotFound) {
		return fmt.Errorf("the keyring: %w", err)
	}
	return nil
}

// Files keeps each grant in a file of a folder that is its owner's alone.
type Files struct{ Dir string }

func (f Files) path(name string) string { return filepath.Join(f.Dir, url.PathEscape(name)+".json") }

// Load implements Store. A file that others may read is refused: what is in it may be known.
func (f Files) Load(name string) (*Grant, error) {
	path := f.path(name)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s may be read by others: run `chmod 600` on it, or log in again", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return decode(text)
}

// Save implements Store. The file is replaced whole.
func (f Files) Save(name string, g *Grant) error {
	text, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(f.Dir, ".new-*") // for its owner alone
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), f.path(name))
}

// Delete implements Store.
func (f Files) Delete(name string) error {
	if err := os.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Either is a store that is used where it works, and another where it does not, as where there is no desktop.
type Either struct{ First, Second Store }

// Load implements Store.
func (e Either) Load(name string) (*Grant, error) {
	if g, err := e.First.Load(name); err == nil && g != nil {
		return g, nil
	}
	return e.Second.Load(name)
}

// Save implements Store. What the other one kept is out of date then.
func (e Either) Save(name string, g *Grant) error {
	if e.First.Save(name, g) == nil {
		return e.Second.Delete(name)
	}
	_ = e.First.Delete(name) // it may not work at all
	return e.Second.Save(name, g)
}

// Delete implements Store.
func (e Either) Delete(name string) error {
	_ = e.First.Delete(name) // where it does not work, it holds nothing
	return e.Second.Delete(name)
}
