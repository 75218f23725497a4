package fsmod

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// access is what a script wants to do with a path.
type access struct {
	verb, key, denyKey string
	granted            func(*hostmod.Grants) []string
	denied             func(*hostmod.Grants) []string
	inside             bool // the path is that of a directory, which is what to grant
}

var (
	toRead  = access{"reading", "read", "deny_read", readGrants, readDenials, false}
	toList  = access{"reading", "read", "deny_read", readGrants, readDenials, true}
	toWrite = access{"writing", "write", "deny_write",
		func(g *hostmod.Grants) []string { return g.Write }, func(g *hostmod.Grants) []string { return g.DenyWrite }, false}
)

func readGrants(g *hostmod.Grants) []string { return g.Read }

func readDenials(g *hostmod.Grants) []string { return g.DenyRead }

// denial says what takes a path away.
func (a access) denial() string {
	return fmt.Sprintf("%s it is denied by %s (on the command line: --deny-%s)", a.verb, a.denyKey, a.key)
}

// advice says how a directory is granted.
func (a access) advice(g *hostmod.Grants, dir string) string {
	text := shown(dir)
	if strings.ContainsAny(dir, " '$&;,*") {
		text = strconv.Quote(dir)
	}
	return hostmod.Advice(g.Tool, a.key, dir, text)
}

// everything in a list of directories stands for all of them.
const everything = "*"

// place is a path that the script may use.
type place struct {
	tree
	name   string // in the tree
	given  string // by the script, cleaned
	abs    string
	denied *denials
}

// maxPath is the longest path in bytes.
const maxPath = 4096

// absolute checks a path and makes it absolute.
func (i *instance) absolute(path string) (string, error) {
	switch {
	case path == "":
		return "", invalid("the path is empty")
	case strings.IndexByte(path, 0) >= 0:
		return "", invalid("a path cannot contain a zero byte")
	case len(path) > maxPath:
		return "", invalid(fmt.Sprintf("the path is longer than %d bytes", maxPath))
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	}
	base, err := i.base()
	return filepath.Join(base, path), err
}

// base is where relative paths begin.
func (i *instance) base() (string, error) {
	if filepath.IsAbs(i.dir) {
		return i.dir, nil
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", &fault{code: codeIO, message: "the working directory is gone", cause: err}
	}
	return filepath.Join(wd, i.dir), nil
}

// places finds the tree in which the paths are, all of them, and gives a place for each. Close one.
// With below, access to the directory is access to all that is in it.
func (i *instance) places(how access, below bool, paths ...string) ([]*place, error) {
	g := i.vm.Grants()
	list := make([]*place, len(paths))
	for n, path := range paths {
		abs, err := i.absolute(path)
		if err != nil {
			return nil, named(path, err)
		}
		list[n] = &place{given: filepath.Clean(path), abs: abs}
	}
	if err := i.refuse(how, below, list); err != nil {
		return nil, err
	}
	if g.All || slices.Contains(how.granted(g), everything) {
		for _, p := range list {
			p.tree, p.name = whole{}, p.abs
		}
	} else if err := i.enterRoot(how, list); err != nil {
		return list, err
	}
	for _, p := range list {
		if p.denied != nil {
			p.tree = checked{p.tree, how, p.denied}
		}
	}
	return list, nil
}

// place is places for one path.
func (i *instance) place(how access, below bool, path string) (*place, error) {
	list, err := i.places(how, below, path)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// refuse fails for what is denied, which no grant gives.
func (i *instance) refuse(how access, below bool, list []*place) error {
	denied := how.denied(i.vm.Grants())
	if len(denied) == 0 {
		return nil
	}
	base, err := i.base()
	if err != nil {
		return err
	}
	d := newDenials(denied, base)
	for _, p := range list {
		p.denied = d
		if d.cover(p.abs, below) || d.cover(real(p.abs, 0), below) {
			return &fault{code: codePermission, path: p.given, key: how.denyKey, message: how.denial()}
		}
	}
	return nil
}

// enterRoot opens the innermost granted directory that holds all places.
func (i *instance) enterRoot(how access, list []*place) error {
	base, err := i.base()
	if err != nil {
		return err
	}
	granted := how.granted(i.vm.Grants())
	for _, p := range list {
		if _, dir := innermost(granted, base, p); dir == "" {
			g := i.vm.Grants()
			wanted := p.directory(how.inside)
			if g.Tool != "" && hostmod.Inside(base, p.abs) {
				wanted = fromBase(base, wanted)
			}
			what := g.Instead
			if what == "" {
				what = "add its directory to " + how.key + " " + how.advice(g, wanted)
			}
			return &fault{code: codePermission, path: p.given, key: how.key, message: how.verb + " it is not granted; " + what}
		}
	}
	entry, dir := innermost(granted, base, list...)
	if dir == "" {
		return invalid("the two paths are in different granted directories; copy and remove")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return how.unusable(i.vm.Grants(), entry, dir, list[0], err)
	}
	for _, p := range list {
		p.tree = root
		p.name, _ = filepath.Rel(dir, p.abs) // it is inside
	}
	return nil
}

// fromBase is a directory as a configuration in base has it.
func fromBase(base, dir string) string {
	if !filepath.IsAbs(dir) {
		return dir
	}
	way, err := filepath.Rel(base, dir)
	if err != nil {
		return dir
	}
	return way
}

// directory is what to grant for the place, as the script would call it. It depends on the path alone: what
// is on the disk is nothing that a script without a grant learns.
func (p *place) directory(itself bool) string {
	if name := filepath.Base(p.given); itself || name == ".." {
		return p.given
	}
	return filepath.Dir(p.given)
}

// unusable says why the granted directory that a place is in cannot be opened. A script that was given a
// relative name sees none that is absolute.
func (a access) unusable(g *hostmod.Grants, entry, dir string, p *place, err error) error {
	name, above := "the directory that is granted for it ("+a.key+")", ""
	if filepath.IsAbs(p.given) || !filepath.IsAbs(entry) {
		name = shown(entry) + ", which is granted for it (" + a.key + "),"
		above = " " + a.advice(g, filepath.Dir(filepath.Clean(entry)))
	}
	f := *faultOf(err)
	info, other := os.Stat(dir)
	switch {
	case other == nil && !info.IsDir():
		f = fault{code: codeNotFound, message: name + " is a file, and directories are granted: grant the one it is in" + above}
	case errors.Is(err, fs.ErrNotExist):
		f.message = name + " does not exist: make it before the script starts, or grant the one above it" + above
	default:
		f.message = name + " cannot be opened: " + f.message
	}
	return &f
}

// innermost is the longest of the directories that all places are in, as it is granted and made absolute; ""
// when there is none.
func innermost(dirs []string, base string, list ...*place) (entry, best string) {
	for _, given := range dirs {
		dir := hostmod.From(base, given)
		outside := slices.ContainsFunc(list, func(p *place) bool { return !hostmod.Inside(dir, p.abs) })
		if !outside && len(dir) > len(best) {
			entry, best = given, dir
		}
	}
	return entry, best
}

// denials are directories that are denied, by their names and by where links lead.
type denials struct {
	all  bool
	dirs []string
}

func newDenials(list []string, base string) *denials {
	d := &denials{all: slices.Contains(list, everything)}
	for _, dir := range list {
		dir = hostmod.From(base, dir)
		d.dirs = append(d.dirs, dir)
		if r := real(dir, 0); r != dir {
			d.dirs = append(d.dirs, r)
		}
	}
	return d
}

// cover says whether path is denied; with below also whether something in it is.
func (d *denials) cover(path string, below bool) bool {
	if d == nil {
		return false
	}
	return d.all || slices.ContainsFunc(d.dirs, func(dir string) bool {
		return hostmod.Inside(dir, path) || below && hostmod.Inside(path, dir)
	})
}

// maxLinks is how many links one path may lead through.
const maxLinks = 40

// real is the path without links, also when its end does not exist.
func real(path string, links int) string {
	if r, err := filepath.EvalSymlinks(path); err == nil || links > maxLinks {
		return cmp.Or(r, path)
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	if to, err := os.Readlink(path); err == nil {
		return real(hostmod.From(real(dir, links+1), to), links+1)
	}
	return filepath.Join(real(dir, links), filepath.Base(path))
}

// target is the name that a place's links lead to, whether something is there or not.
func (p *place) target() (string, error) {
	name := p.name
	for range maxLinks {
		info, err := p.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return name, nil
		}
		if err != nil {
			return "", err
		}
		to, err := p.Readlink(name)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(to) {
			name = to // which an os.Root refuses
			continue
		}
		// Not cleaned: ".." counts from where a link in front of it leads.
		name = directory(name) + to
	}
	return "", &fault{code: codeIO, message: "too many links, or links in a circle"}
}

// directory is a name without its last part, with the separator.
func directory(name string) string { return name[:strings.LastIndexByte(name, filepath.Separator)+1] }
