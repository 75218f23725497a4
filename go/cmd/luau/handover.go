package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// handOver becomes luau-host: the one beside this program, else the one in PATH.
func handOver(args []string) error {
	path, err := findHost()
	if err != nil {
		return fmt.Errorf("luau %s needs the program luau-host, which is neither beside luau nor in PATH: install both together (`make install` does)", args[0])
	}
	err = syscall.Exec(path, append([]string{"luau-host"}, args...), os.Environ())
	return fmt.Errorf("cannot start %s: %w", path, err)
}

func findHost() (string, error) {
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		beside := filepath.Join(filepath.Dir(self), "luau-host")
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	path, err := exec.LookPath("luau-host")
	if errors.Is(err, exec.ErrDot) {
		return "", err // one in the working directory was not meant
	}
	return path, err
}
