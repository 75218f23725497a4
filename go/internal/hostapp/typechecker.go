package hostapp

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/hukilau/hukilau/go/internal/hostmods/builtin"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/typecheck"
	"github.com/hukilau/hukilau/libs"
)

// StartChecker starts luau-check with these arguments; main sets it.
var StartChecker = func(args []string) (typecheck.Process, error) { return nil, typecheck.ErrAbsent }

// newChecker makes the checker of a command. What it has to say itself goes to warn.
func newChecker(warn func(message string)) *typecheck.Checker {
	return typecheck.New(typecheck.Options{Start: StartChecker, Warn: warn, Idle: -1})
}

// hostDefinitions declare what every script finds.
var hostDefinitions = sync.OnceValue(func() typecheck.Definitions { return typecheck.NewDefinitions(builtin.Definitions()) })

// modulesOf are what a resolver finds. id is as of typecheck.Modules.
func modulesOf(id string, resolver interface {
	Resolve(requirerChunk, name string) (module.Source, error)
}) typecheck.Modules {
	return typecheck.Modules{
		ID: id, Names: libraryNames(),
		Resolve: func(from, name string) (string, string, error) {
			found, err := resolver.Resolve(from, name)
			if err != nil {
				problem, _, _ := strings.Cut(err.Error(), "\n") // what follows is about command lines
				return "", "", errors.New(strings.TrimPrefix(problem, fmt.Sprintf("error requiring module %q: ", name)))
			}
			return found.Chunk, string(found.Code), nil
		},
	}
}

// libraryNames are the modules of the SDK that are required by one name.
var libraryNames = sync.OnceValue(func() []string {
	entries, err := libs.FS.ReadDir(".")
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".luau"))
	}
	return names
})
