// Package programs finds the other programs of Hukilau, which are installed side by side.
package programs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// Beside is the program of a name in the folder of this one; "" where there is none.
func Beside(name string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	path := filepath.Join(filepath.Dir(self), name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// Find is Beside, or else the program of that name in PATH. One in the working directory is not meant: that is an
// error, as is that there is none.
func Find(name string) (string, error) {
	if path := Beside(name); path != "" {
		return path, nil
	}
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		return "", err
	}
	return path, err
}
