package hostapp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/typecheck"
	"github.com/hukilau/hukilau/go/pkg/luau"
	"github.com/hukilau/hukilau/libs"
)

// FileCheck says what is to be type-checked, for `luau check`.
type FileCheck struct {
	Paths     []string // files, and folders with *.luau files; none: the working directory
	Libs      []string // library roots, before those of LUAU_PATH
	Declared  []string // files with definitions of further globals, as `luau gateway generate` writes them
	Config    string   // a configuration whose sources the files call as scripts of its gateway do; "": none
	Nonstrict bool     // for files that say nothing themselves
	Warn      func(message string)
}

// FileFinding is one thing that is wrong with a file.
type FileFinding struct {
	Path string `json:"path"` // as it was named
	typecheck.Finding
}

// FileReport is what was found.
type FileReport struct {
	Files    int
	Findings []FileFinding // by file and line
}

// maxDeclared is the longest file with definitions, in bytes.
const maxDeclared = 32 << 20

// maxCheckedFiles is how many files one command looks at.
const maxCheckedFiles = 20_000

// CheckFiles type-checks scripts without running them. Without the checker, what does not compile is found.
func CheckFiles(ctx context.Context, o FileCheck) (FileReport, error) {
	paths, err := findScripts(o.Paths)
	if err != nil {
		return FileReport{}, err
	}
	sources, err := o.ofSources(ctx)
	if err != nil {
		return FileReport{}, err
	}
	definitions, err := declaredIn(sources, o.Declared)
	if err != nil {
		return FileReport{}, err
	}
	checker := newChecker(o.Warn)
	defer checker.Close()
	report := FileReport{Files: len(paths)}
	for _, path := range paths {
		found, err := checkFile(ctx, checker, path, definitions, o)
		if err != nil {
			return report, err
		}
		for _, f := range found {
			report.Findings = append(report.Findings, FileFinding{path, f})
		}
	}
	return report, nil
}

func checkFile(ctx context.Context, checker *typecheck.Checker, path string, definitions typecheck.Definitions, o FileCheck) ([]typecheck.Finding, error) {
	source, err := module.ReadScript(path)
	if err != nil {
		return nil, err
	}
	roots := slices.Concat(o.Libs, filepath.SplitList(os.Getenv("LUAU_PATH")))
	resolver, err := module.New(module.Options{Roots: roots, Embedded: libs.FS, Script: path})
	if err != nil {
		return nil, err
	}
	req := typecheck.Request{
		Chunk: source.Chunk, Source: string(source.Code), Definitions: definitions,
		// What a name means depends on the folder of the script.
		Modules: modulesOf(filepath.Dir(path), resolver),
	}
	if o.Nonstrict {
		req.Mode = typecheck.Nonstrict
	}
	found, err := checker.Check(ctx, req)
	var failed *typecheck.Failure
	if err == nil || ctx.Err() != nil || errors.As(err, &failed) && failed.Code == "definitions" {
		return found, err
	}
	if !errors.Is(err, typecheck.ErrAbsent) && o.Warn != nil {
		o.Warn(fmt.Sprintf("%s was not type-checked: %v", path, err))
	}
	return onlySyntax(source), nil
}

// ofSources are the definitions of what the gateway of a configuration gives to scripts. Its sources are connected to
// for that.
func (o *FileCheck) ofSources(ctx context.Context) (string, error) {
	if o.Config == "" {
		return "", nil
	}
	project, err := Open(ctx, Options{ConfigFile: o.Config, Stderr: io.Discard, QuietLevel: "error"})
	if err != nil {
		return "", err
	}
	defer project.Close()
	host, err := project.NewHost(ctx, HostOptions{Gateway: true})
	if err != nil {
		return "", err
	}
	defer host.Close()
	g := host.AwaitSources(ctx)
	for _, s := range g.Sources() {
		if s.State != gateway.Healthy && o.Warn != nil {
			o.Warn(fmt.Sprintf("nothing is known of sdk.%s: %s", s.Ident, s.Reason))
		}
	}
	return g.Stubs()[gateway.DefinitionsFile], nil
}

// declaredIn are the definitions of the host, of sources and of files.
func declaredIn(sources string, files []string) (typecheck.Definitions, error) {
	if len(files) == 0 && sources == "" {
		return hostDefinitions(), nil
	}
	text := ""
	for _, file := range files {
		more, err := readWhole(file, maxDeclared)
		if err != nil {
			return typecheck.Definitions{}, fmt.Errorf("the definitions %s: %w", file, withoutPath(err))
		}
		text += string(more) + "\n"
	}
	if sources != "" {
		text += sources + "\n"
	}
	return typecheck.NewDefinitions(text + hostDefinitions().Text), nil // errors have the lines of the first file
}

// onlySyntax is what can be said without the checker.
func onlySyntax(source module.Source) []typecheck.Finding {
	_, err := luau.Compile(source.Chunk, string(source.Code), luau.CompileOptions{})
	if err == nil {
		return nil
	}
	f := typecheck.Finding{Line: 1, Column: 1, Severity: typecheck.Error, Kind: typecheck.Syntax, Message: err.Error()}
	var e *luau.Error
	if errors.As(err, &e) {
		f.Line, f.Message = max(1, e.Line), e.Message
	}
	f.EndLine, f.EndColumn = f.Line, f.Column
	return []typecheck.Finding{f}
}

// findScripts gives files as they are, and of folders the *.luau files that are no definitions. Hidden folders are left
// out.
func findScripts(paths []string) ([]string, error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	var found []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, &usageError{fmt.Sprintf("%s: no such file or folder", path)}
		}
		if !info.IsDir() {
			found = append(found, filepath.Clean(path))
			continue
		}
		if found, err = scriptsIn(path, found); err != nil {
			return nil, err
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) == 0 {
		return nil, &usageError{fmt.Sprintf("no *.luau files in %s", strings.Join(paths, ", "))}
	}
	return found, nil
}

func scriptsIn(root string, found []string) ([]string, error) {
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("looking for scripts: %w", err)
		}
		name := entry.Name()
		switch {
		case entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".luau") || strings.HasSuffix(name, ".d.luau"):
			return nil
		case len(found) >= maxCheckedFiles:
			return &usageError{fmt.Sprintf("more than %d files below %s: name fewer", maxCheckedFiles, root)}
		}
		found = append(found, path)
		return nil
	})
	return found, err
}
