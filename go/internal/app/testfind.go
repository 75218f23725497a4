package app

import (
	"fmt"
	"hash/maphash"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FindTests gives the test files among paths: files as they are, and of folders those named
// test_*.luau, *_test.luau or *.test.luau, in order. Hidden folders are left out.
func FindTests(paths []string) ([]string, error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	var found []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, &OptionError{fmt.Sprintf("%s: no such file or folder", path)}
		}
		if !info.IsDir() {
			found = append(found, filepath.Clean(path))
			continue
		}
		inside, err := testsIn(path)
		if err != nil {
			return nil, err
		}
		found = append(found, inside...)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) == 0 {
		return nil, &OptionError{fmt.Sprintf("no test files in %s: their names are test_*.luau, *_test.luau or *.test.luau", strings.Join(paths, ", "))}
	}
	return found, nil
}

func testsIn(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil { // and maybe no entry
			return fmt.Errorf("looking for tests: %w", err)
		}
		switch name := entry.Name(); {
		case entry.IsDir() && path != root && strings.HasPrefix(name, "."):
			return filepath.SkipDir
		case !entry.IsDir() && isTestName(name):
			found = append(found, path)
		}
		return nil
	})
	return found, err
}

func isTestName(name string) bool {
	stem, ok := strings.CutSuffix(name, ".luau")
	return ok && (strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, ".test"))
}

func shufflePaths(paths []string, seed uint32) {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	random.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
}

// watchSeed is of all sums of one process.
var watchSeed = maphash.MakeSeed()

// WatchState sums up the Luau files below the paths, and the other files: it changes when one of them
// does, comes or goes.
func WatchState(paths, others []string) uint64 {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	var sum maphash.Hash
	sum.SetSeed(watchSeed)
	note := func(path string, info fs.FileInfo) {
		fmt.Fprintln(&sum, path, info.Size(), info.ModTime().UnixNano())
	}
	for _, root := range paths {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil // it may be gone already, which is a change as well
			}
			if entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), ".") {
				return filepath.SkipDir
			}
			if info, err := entry.Info(); err == nil && (strings.HasSuffix(path, ".luau") || entry.Name() == ".luaurc") {
				note(path, info)
			}
			return nil
		})
	}
	for _, path := range others {
		if info, err := os.Stat(path); err == nil {
			note(path, info)
		}
	}
	return sum.Sum64()
}
