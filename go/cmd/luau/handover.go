package main

import (
	"fmt"
	"os"
	"syscall"

	"github.com/hukilau/hukilau/go/cmd/internal/programs"
	"github.com/hukilau/hukilau/go/internal/cli/hostedcmd"
)

// handOver becomes the program that has the verb: the one beside this program, else the one in PATH.
func handOver(args []string) error {
	var tried error
	for _, name := range hostedcmd.Programs(args, os.Getenv) {
		path, err := programs.Find(name)
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
