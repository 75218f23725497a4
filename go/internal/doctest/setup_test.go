package doctest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Commands of a reader's own that a page may show without the tree's having anything to do with them.
var ownCommands = []string{"cd", "git", "export", "eval", "source", "sudo", "mkdir"}

var (
	separators = regexp.MustCompile(`\s*(?:&&|;|\|)\s*`)
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	remark     = regexp.MustCompile(`(?:^|\s)#.*$`)
	quoted     = regexp.MustCompile(`'[^']*'|"[^"]*"`)
)

// checkSetup looks at the commands of an sh block, which are not run: they build, install or test the
// project itself. What they name must be there.
func checkSetup(root string, b block) (faults []fault) {
	for i, line := range lines(b.text) {
		line = quoted.ReplaceAllString(line, "text")
		line = remark.ReplaceAllString(line, "")
		for _, one := range separators.Split(line, -1) {
			words := strings.Fields(one)
			for len(words) > 0 && assignment.MatchString(words[0]) {
				words = words[1:]
			}
			if len(words) == 0 {
				continue
			}
			if err := checkCommand(root, words); err != nil {
				faults = append(faults, fault{b.line + i, fmt.Sprintf("%s: %v", one, err)})
			}
		}
	}
	return faults
}

func checkCommand(root string, words []string) error {
	name, args := words[0], words[1:]
	switch {
	case name == "make":
		return checkTargets(root, args)
	case name == "go":
		return checkGo(root, args)
	case name == "bazel":
		return checkBazel(root, args)
	case strings.HasPrefix(name, "tools/"), strings.HasPrefix(name, ".ci/"), strings.HasPrefix(name, "./"):
		return mustExist(root, name)
	case slices.Contains(ownCommands, name):
		return nil
	case filepath.Base(name) == "luau":
		return fmt.Errorf("show what it prints, in a console block")
	}
	return fmt.Errorf("the test does not know %s: teach it in go/internal/doctest", name)
}

func mustExist(root, path string) error {
	if _, err := os.Stat(filepath.Join(root, path)); err != nil {
		return fmt.Errorf("there is no %s", path)
	}
	return nil
}

func checkTargets(root string, args []string) error {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return err
	}
	for _, arg := range args {
		target := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(arg) + `:`)
		if !assignment.MatchString(arg) && !strings.HasPrefix(arg, "-") && !target.Match(makefile) {
			return fmt.Errorf("the Makefile has no target %s", arg)
		}
	}
	return nil
}

const module = "github.com/hukilau/hukilau"

func checkGo(root string, args []string) error {
	known := []string{"run", "doc", "get", "mod", "build", "test", "work", "install", "version"}
	if len(args) == 0 || !slices.Contains(known, args[0]) {
		return fmt.Errorf("go has %s", strings.Join(known, ", "))
	}
	for _, arg := range args[1:] {
		path, ours := strings.CutPrefix(strings.TrimSuffix(arg, "/..."), module+"/")
		if ours || strings.HasPrefix(path, "./") {
			if err := mustExist(root, path); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkBazel(root string, args []string) error {
	for _, arg := range args {
		if label, ok := strings.CutPrefix(arg, "//"); ok {
			folder, _, _ := strings.Cut(label, ":")
			if err := mustExist(root, filepath.Join(folder, "BUILD.bazel")); err != nil {
				return err
			}
		}
	}
	return nil
}
