package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/hukilau/hukilau/go/internal/cli/hostedcmd"
)

// handOver becomes the program that has the verb: the one beside this program, else the one in PATH.
func handOver(args []string) error {
	var tried error
	for _, name := range hostedcmd.Programs(args, os.Getenv) {
		path, err := find(name)
		if err == nil {
			err = syscall.Exec(path, append([]string{name}, args...), os.Environ())
			tried = fmt.Errorf("cannot start %s: %w", path, err)
		}
	}
	if tried != nil {
		return tried
	}
	return fmt.Errorf("luau %s needs the program luau-host, which is neither beside luau nor in PATH: install both together (`make install` does)", args[0])
}

func find(name string) (string, error) {
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		return "", err // one in the working directory was not meant
	}
	return path, err
}
