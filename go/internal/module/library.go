package module

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const libraryDir = "libs"

// findLibrary looks a bare name up in each library root, then in the embedded
// libraries. Within a root the first of the candidates wins.
func (r *Resolver) findLibrary(requirerChunk, name string) (Location, *Error) {
	places := r.places()
	var tried []string
	blocked := false
	for _, p := range places {
		n := &navigator{resolver: r, in: p.in}
		for _, file := range libraryFiles(path.Join(p.root, name)) {
			if n.isFile(file) {
				return r.locate(p.in, name, file)
			}
		}
		tried = append(tried, r.describe(n, p, name))
		tried = append(tried, n.notes...)
		blocked = blocked || n.blocked
	}
	e := &Error{Code: CodeNotFound, Message: "no library has this name", Details: tried, Err: fs.ErrNotExist}
	if blocked {
		e.Code, e.Err = CodePermission, fs.ErrPermission
	}
	e.Hint = r.libraryHint(requirerChunk, name, places)
	return Location{}, e
}

// libraryFiles are the files a library may be. Luau files go before old Lua ones.
func libraryFiles(at string) []string {
	base := path.Base(at)
	if base == configModule {
		return nil
	}
	if base == "init" {
		return []string{at + initSuffixes[0], at + initSuffixes[1]}
	}
	return []string{at + initSuffixes[0], at + suffixes[0], at + initSuffixes[1], at + suffixes[1]}
}

// place is one library root in its tree.
type place struct {
	in   tree
	root string
}

func (r *Resolver) places() []place {
	roots := slices.Clone(r.roots)
	if r.script != "" {
		dir := path.Dir(filepath.ToSlash(r.script))
		roots = append(roots, path.Join(dir, libraryDir))
		if above, ok := r.configDir(dir); ok {
			roots = append(roots, path.Join(above, libraryDir))
		}
	}
	roots = append(roots, r.lastRoots...)
	var places []place
	for i, root := range roots {
		if !slices.Contains(roots[:i], root) {
			places = append(places, place{r.files, root})
		}
	}
	if r.embedded.files != nil {
		places = append(places, place{r.embedded, "/"})
	}
	return places
}

// configDir is the nearest directory, from dir upwards, that has a .luaurc.
func (r *Resolver) configDir(dir string) (string, bool) {
	for {
		info, err := r.files.files.Stat(path.Join(dir, configName))
		if err == nil && !info.IsDir() {
			return dir, true
		}
		if dir == path.Dir(dir) {
			return "", false
		}
		dir = path.Dir(dir)
	}
}

// describe says what was looked for in one place.
func (r *Resolver) describe(n *navigator, p place, name string) string {
	if p.in.embedded {
		return "looked in the libraries inside the program"
	}
	if !n.isDir(p.root) {
		return "no directory " + r.show(p.in, p.root)
	}
	files := libraryFiles(path.Join(p.root, name))
	for i, file := range files {
		files[i] = r.show(p.in, file)
	}
	return "looked for " + strings.Join(files, ", ")
}

func (r *Resolver) libraryHint(requirerChunk, name string, places []place) string {
	if in, file, ok := r.requirer(requirerChunk); ok {
		n := &navigator{resolver: r, in: in}
		if n.exists(path.Join(path.Dir(modulePath(file)), name)) {
			return fmt.Sprintf("a file beside this one is required as %q", "./"+name)
		}
	}
	if path.Base(name) == "init" {
		return initHint
	}
	var found []string
	for _, p := range places {
		n := &navigator{resolver: r, in: p.in}
		if without, ok := cutExtension(name); ok && n.isLibrary(p.root, without) {
			return fmt.Sprintf("leave the extension off: write %q", without)
		}
		if dotted := strings.ReplaceAll(name, ".", "/"); dotted != name && checkBareName(dotted) == nil && n.isLibrary(p.root, dotted) {
			return fmt.Sprintf("write %q: parts of a name are set off by a slash", dotted)
		}
		found = append(found, n.nearLibrary(p.root, name)...)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) > 0 {
		return didYouMean(found[:min(len(found), maxSuggested)])
	}
	if _, _, ofFile := r.requirer(requirerChunk); r.hosted && !ofFile {
		return "a script of no file has the libraries of the program alone, which `luau doc` lists"
	}
	if r.hosted {
		return `for a file beside this one write "./" in front, as require("./file"); a library may also be in libs/ beside the tool's file or beside hukilau.toml`
	}
	return `put it into libs/ beside the script, or give its directory with --lib DIR or LUAU_PATH; for a file beside this one write "./" in front`
}

func (n *navigator) isLibrary(root, name string) bool {
	return slices.ContainsFunc(libraryFiles(path.Join(root, name)), n.isFile)
}

// nearLibrary follows a name as far as its parts exist and suggests for the
// first that does not.
func (n *navigator) nearLibrary(root, name string) []string {
	done := ""
	for {
		part, rest, more := strings.Cut(name, "/")
		if more && n.isDir(path.Join(root, done, part)) {
			done, name = path.Join(done, part), rest
			continue
		}
		if more {
			rest = "/" + rest
		}
		var found []string
		for _, other := range near(n.in.files, path.Join(root, done), part, moduleNames) {
			// A file found for an inner part, or an empty directory, helps nobody.
			if whole := path.Join(done, other) + rest; n.isLibrary(root, whole) {
				found = append(found, whole)
			}
		}
		return found
	}
}
