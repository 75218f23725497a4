// Package module finds the source of a module that a script requires: it turns
// the requiring chunk and the name given to require into a file's identity, its
// chunk name and its text. It follows Luau's own require-by-string rules for
// "./", "../" and "@", and searches library roots for bare names.
//
// It is not what runs a module: compiling, the cache of results, cycles between
// modules and the check that a module returns one value belong to the engine.
package module

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// Options say where modules come from. The zero value reads the real file
// system, knows no library root and embeds nothing.
type Options struct {
	// Roots are library directories, searched in order for bare names. Relative
	// ones start from Dir. Empty entries are ignored (a stray ":" in a path list
	// must not mean the working directory). None: only libs/ and Embedded.
	Roots []string
	// LastRoots are further ones, searched after those of Script.
	LastRoots []string
	// Embedded holds the libraries inside the binary, searched last. Nil: none.
	Embedded fs.FS
	// Script is the path of the main script, as the user typed it. The libs/
	// directories beside it and beside the nearest .luaurc above it become
	// library roots. Empty: code that came from no file, without such roots.
	Script string
	// FS is how files are read. Nil: the real file system.
	FS FS
	// Dir is where relative paths start. Empty: the working directory at the
	// time New is called; a later change of directory changes nothing.
	Dir string
	// Hosted says that the program has neither --lib nor LUAU_PATH: hints do not name them.
	Hosted bool
}

// Resolver finds modules. It is safe for concurrent use and remembers nothing
// about files: each call looks at them again.
type Resolver struct {
	files     tree
	embedded  tree
	dir       string
	roots     []string
	lastRoots []string
	script    string // absolute, or empty
	relative  bool   // paths are shown relative to dir, as the script's was typed
	hosted    bool   // see Options
	upward    bool   // the script was typed with a leading "..", so others may be shown so
}

// Source is the text of one module or script.
type Source struct {
	// ID is the same for the same file however it was reached: its absolute real
	// path, or "@embedded/" and the module's name.
	ID string
	// Chunk is the chunk name for Luau: "@" and the file's path in the form the
	// user typed the script's (relative or absolute, links kept), or
	// "=@embedded/" and the path in the embedded libraries.
	Chunk string
	// Code is the text without byte order mark and shebang; line numbers are
	// those of the file.
	Code []byte
}

// Location is where a module was found. It lets a caller that keeps a cache by
// ID skip reading the file.
type Location struct {
	ID    string
	Chunk string

	name string
	path string
	in   tree
}

// goneDir stands for a working directory that was deleted: nothing is there. Only a module that is named from
// it is missed.
const goneDir = "/(deleted)"

// New checks the options and returns a resolver.
func New(o Options) (*Resolver, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		dir = goneDir
		if filepath.IsAbs(o.Script) {
			dir = filepath.Dir(o.Script)
		}
	}
	r := &Resolver{dir: dir, files: tree{files: o.FS}, hosted: o.Hosted}
	if o.FS == nil {
		r.files.files = systemFS{}
	}
	if o.Embedded != nil {
		r.embedded = tree{files: embeddedFS{o.Embedded}, embedded: true}
	}
	if o.Script != "" {
		r.script = r.absolute(o.Script)
		r.relative = !filepath.IsAbs(o.Script)
		r.upward = strings.HasPrefix(filepath.ToSlash(o.Script), "../")
	}
	if r.roots, err = r.libraries(o.Roots); err != nil {
		return nil, err
	}
	r.lastRoots, err = r.libraries(o.LastRoots)
	return r, err
}

// libraries makes library roots absolute.
func (r *Resolver) libraries(roots []string) (all []string, err error) {
	for _, root := range roots {
		if root == "" {
			continue
		}
		abs := r.absolute(root)
		if info, err := r.files.files.Stat(abs); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("module: library root %q is not a directory; give the directory that holds the modules", root)
		}
		all = append(all, abs)
	}
	return all, nil
}

// Resolve finds the module that name means in requirerChunk and reads it. The
// error is an *Error.
func (r *Resolver) Resolve(requirerChunk, name string) (Source, error) {
	at, err := r.Find(requirerChunk, name)
	if err != nil {
		return Source{}, err
	}
	return r.Load(at)
}

// Find is Resolve without reading the module's text.
func (r *Resolver) Find(requirerChunk, name string) (Location, error) {
	at, err := r.find(requirerChunk, name)
	if err != nil {
		return Location{}, err.named(name)
	}
	return at, nil
}

// Load reads the module that Find found.
func (r *Resolver) Load(at Location) (Source, error) {
	code, err := readSource(at.in.files, at.path, fileOnly)
	if err != nil {
		err.Details = append(err.Details, "in "+r.show(at.in, at.path))
		return Source{}, err.named(at.name)
	}
	return Source{ID: at.ID, Chunk: at.Chunk, Code: code}, nil
}

func (r *Resolver) find(requirerChunk, name string) (Location, *Error) {
	if err := checkName(name, r.hosted); err != nil {
		return Location{}, err
	}
	if !isNavigated(name) {
		return r.findLibrary(requirerChunk, name)
	}
	in, file, ok := r.requirer(requirerChunk)
	if !ok {
		return Location{}, &Error{
			Code:    CodeName,
			Message: fmt.Sprintf("could not reset to requiring context: %q comes from no file, so there is nothing to start from", chunkTitle(requirerChunk)),
			Hint:    "put the code in a file, or require a library by its bare name, such as require(\"json\")",
		}
	}
	n := &navigator{resolver: r, in: in, requirer: modulePath(file)}
	return n.navigate(name)
}

// requirer tells the file a chunk name stands for, and the tree it is in.
func (r *Resolver) requirer(chunk string) (tree, string, bool) {
	if inside, ok := strings.CutPrefix(chunk, "="+embeddedPrefix); ok {
		return r.embedded, path.Clean("/" + inside), r.embedded.files != nil
	}
	if file, ok := strings.CutPrefix(chunk, "@"); ok && file != "" && !strings.ContainsRune(file, 0) {
		return r.files, filepath.ToSlash(r.absolute(file)), true
	}
	return tree{}, "", false
}

// locate names the module in file.
func (r *Resolver) locate(in tree, name, file string) (Location, *Error) {
	at := Location{name: name, path: file, in: in}
	if in.embedded {
		at.ID = embeddedPrefix + strings.TrimPrefix(modulePath(file), "/")
		at.Chunk = "=" + embeddedPrefix + strings.TrimPrefix(file, "/")
		return at, nil
	}
	real, err := in.files.RealPath(file)
	if err != nil {
		return Location{}, unreadable(err, r.show(in, file))
	}
	at.ID = real
	at.Chunk = "@" + r.show(in, file)
	return at, nil
}

// show writes a path the way the user wrote the script's.
func (r *Resolver) show(in tree, file string) string {
	if in.embedded {
		return embeddedPrefix + strings.TrimPrefix(file, "/")
	}
	if !r.relative {
		return file
	}
	rel, err := filepath.Rel(r.dir, file)
	if err != nil || (!r.upward && (rel == ".." || strings.HasPrefix(rel, "../"))) {
		return file
	}
	return rel
}

func (r *Resolver) absolute(file string) string {
	if filepath.IsAbs(file) {
		return filepath.Clean(file)
	}
	return filepath.Join(r.dir, file)
}

// chunkTitle is a chunk name as Luau prints it.
func chunkTitle(chunk string) string {
	if title, ok := strings.CutPrefix(chunk, "="); ok {
		return title
	}
	return chunk
}
