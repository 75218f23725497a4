package module

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// navigator walks from a requiring module to another one by Luau's rules. It
// moves over module paths: a file without its extension, or a directory.
//
// It differs from Luau's own in two points, both so that a file elsewhere cannot
// break a require: a name that is ambiguous matters only when it is the one
// required, not on the way to another; and a module may sit at the root "/".
type navigator struct {
	resolver *Resolver
	in       tree
	requirer string // module path that require was called from
	at       string
	notes    []string // what could not be looked at, and why
	blocked  bool     // a note is about permission
}

func (n *navigator) navigate(name string) (Location, *Error) {
	n.at = n.requirer
	var err *Error
	if strings.HasPrefix(name, "@") {
		err = n.toAliased(name)
	} else if err = n.toParent(""); err == nil {
		err = n.through(name)
	}
	if err != nil {
		return Location{}, err
	}
	file, err := n.module()
	if err != nil {
		return Location{}, err
	}
	return n.resolver.locate(n.in, name, file)
}

// through follows the parts of a path from the present place.
func (n *navigator) through(parts string) *Error {
	previous := ""
	for _, part := range strings.Split(parts, "/") {
		var err *Error
		switch part {
		case "", ".":
			continue
		case "..":
			err = n.toParent(previous)
		default:
			err = n.toChild(part)
		}
		if err != nil {
			return err
		}
		previous = part
	}
	return nil
}

func (n *navigator) toParent(previous string) *Error {
	if n.at == "/" {
		from := "requiring context"
		if previous != "" {
			from = fmt.Sprintf("component %q", previous)
		}
		return &Error{
			Code:    CodeNotFound,
			Message: "could not get parent of " + from,
			Details: []string{fmt.Sprintf("%s is the topmost directory", n.show("/"))},
			Hint:    `use fewer "../"`,
		}
	}
	n.at = path.Dir(n.at)
	return nil
}

func (n *navigator) toChild(part string) *Error {
	child := path.Join(n.at, part)
	if part != configModule && n.exists(child) {
		n.at = child
		return nil
	}
	err := n.lost(child)
	err.Message = fmt.Sprintf("could not resolve child component %q", part)
	if part == configModule {
		err.Hint = ".config.luau is configuration and no module"
		return err
	}
	err.Hint = n.childHint(part)
	return err
}

// lost is the error for a module path at which there is nothing.
func (n *navigator) lost(at string) *Error {
	var tried []string
	for _, file := range candidates(at) {
		tried = append(tried, n.show(file))
	}
	e := &Error{Code: CodeNotFound, Details: append([]string{"looked for " + strings.Join(tried, ", ")}, n.notes...), Err: fs.ErrNotExist}
	if n.blocked {
		e.Code, e.Err = CodePermission, fs.ErrPermission
	}
	return e
}

const initHint = "an init file is required by the name of its directory"

func (n *navigator) childHint(part string) string {
	if without, ok := cutExtension(part); ok && n.exists(path.Join(n.at, without)) {
		return fmt.Sprintf("leave the extension off: write %q", without)
	}
	if part == "init" && n.at != "/" {
		return initHint
	}
	return didYouMean(near(n.in.files, n.at, part, moduleNames))
}

// candidates are the files that the module at a module path may be, in the order
// they are listed to the user. A file named init is only ever its directory's.
func candidates(at string) []string {
	var files []string
	if path.Base(at) != "init" && at != "/" {
		for _, suffix := range suffixes {
			files = append(files, at+suffix)
		}
	}
	for _, suffix := range initSuffixes {
		files = append(files, path.Clean(at+suffix))
	}
	return files
}

// module tells the file of the module at the present place.
func (n *navigator) module() (string, *Error) {
	var files, inits []string
	for _, file := range candidates(n.at) {
		if !n.isFile(file) {
			continue
		}
		if path.Dir(file) == n.at {
			inits = append(inits, file)
		} else {
			files = append(files, file)
		}
	}
	found := append(files, inits...)
	if len(files) > 0 && n.isDir(n.at) {
		// Luau holds a file and a directory of one name to be ambiguous even
		// without an init file: the type checker would say so too.
		return "", n.ambiguous(append(files, strings.TrimSuffix(n.at, "/")+"/"))
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		err := n.lost(n.at)
		err.Message = "no module present at resolved path"
		if n.isDir(n.at) {
			err.Hint = "the directory has no init.luau: add one, or name a file in it"
		}
		return "", err
	}
	return "", n.ambiguous(found)
}

func (n *navigator) ambiguous(found []string) *Error {
	for i, file := range found {
		found[i] = n.show(file)
		if strings.HasSuffix(file, "/") {
			found[i] = strings.TrimSuffix(found[i], "/") + "/"
		}
	}
	return &Error{
		Code:    CodeAmbiguous,
		Message: fmt.Sprintf("could not resolve child component %q (ambiguous)", path.Base(n.at)),
		Details: []string{"each of these answers to the name: " + strings.Join(found, ", ")},
		Hint:    "rename or remove all but one",
	}
}

func (n *navigator) exists(at string) bool {
	if n.isDir(at) {
		return true
	}
	for _, file := range candidates(at) {
		if n.isFile(file) {
			return true
		}
	}
	return false
}

func (n *navigator) isDir(at string) bool {
	info := n.stat(at)
	return info != nil && info.IsDir()
}

// isFile holds for special files too: reading one fails with a clear error,
// where passing over it would find another module than the user expects.
func (n *navigator) isFile(file string) bool {
	info := n.stat(file)
	return info != nil && !info.IsDir()
}

func (n *navigator) stat(file string) fs.FileInfo {
	info, err := n.in.files.Stat(file)
	if err == nil {
		return info
	}
	if isAbsent(err) {
		return nil
	}
	if note := n.show(file) + ": " + reason(err); len(n.notes) == 0 || n.notes[len(n.notes)-1] != note {
		n.notes = append(n.notes, note)
	}
	n.blocked = n.blocked || errors.Is(err, ErrOutside) || errors.Is(err, fs.ErrPermission)
	return nil
}

func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrInvalid)
}

func (n *navigator) show(file string) string { return n.resolver.show(n.in, file) }
