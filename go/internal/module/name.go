package module

import (
	"fmt"
	"path"
	"strings"
)

// maxName bounds a module name, so that an error can quote it.
const maxName = 1024

var (
	suffixes     = [...]string{".luau", ".lua"}
	initSuffixes = [...]string{"/init.luau", "/init.lua"}
)

// configModule is the one name Luau keeps back: .config.luau is configuration.
const configModule = ".config"

// isNavigated tells names that start from the requiring file from bare ones.
func isNavigated(name string) bool {
	return strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") || strings.HasPrefix(name, "@")
}

// checkName refuses what no kind of module name may contain. hosted is as in Options.
func checkName(name string, hosted bool) *Error {
	bad := func(message, hint string) *Error {
		return &Error{Code: CodeName, Message: message, Hint: hint}
	}
	switch {
	case name == "":
		return bad("the name is empty", `write require("json") for a library, or require("./file") for the file beside this one`)
	case len(name) > maxName:
		return bad(fmt.Sprintf("the name has %d bytes; the limit is %d", len(name), maxName), "")
	case strings.ContainsRune(name, 0):
		return bad("the name contains a NUL byte", "")
	case strings.Contains(name, `\`):
		return bad(`the name contains a backslash`, fmt.Sprintf("write %q", strings.ReplaceAll(name, `\`, "/")))
	case strings.HasPrefix(name, "/"):
		hint := `start from this file with "./" or "../", or put the directory into the library path (--lib DIR, LUAU_PATH) or behind an alias in .luaurc`
		if hosted {
			hint = `start from this file with "./" or "../", or put the directory behind an alias in .luaurc`
		}
		return bad("an absolute path cannot be required", hint)
	}
	for i := 0; i < len(name); i++ {
		if name[i] < ' ' || name[i] == 0x7f {
			return bad(fmt.Sprintf("the name contains the control character 0x%02x", name[i]), "")
		}
	}
	if !isNavigated(name) {
		return checkBareName(name)
	}
	return nil
}

// checkBareName keeps a library name inside its root.
func checkBareName(name string) *Error {
	for _, part := range strings.Split(name, "/") {
		switch part {
		case "":
			return &Error{Code: CodeName, Message: "the library name has an empty part", Hint: fmt.Sprintf("write %q", joinParts(name))}
		case ".", "..":
			return &Error{
				Code:    CodeName,
				Message: fmt.Sprintf("a library name cannot have %q as a part", part),
				Hint:    `to name a file, start from the requiring one with "./" or "../"`,
			}
		}
	}
	return nil
}

// joinParts drops the empty parts of a name.
func joinParts(name string) string {
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '/' }), "/")
}

// modulePath turns a file into the module it is: without extension, and for an
// init file its directory.
func modulePath(file string) string {
	for _, suffix := range initSuffixes {
		if at, ok := strings.CutSuffix(file, suffix); ok {
			if at == "" {
				return "/"
			}
			return at
		}
	}
	for _, suffix := range suffixes {
		if at, ok := strings.CutSuffix(file, suffix); ok && path.Base(file) != suffix {
			return at
		}
	}
	return file
}

// cutExtension drops the extension that require adds itself.
func cutExtension(name string) (without string, ok bool) {
	for _, suffix := range suffixes {
		if without, ok = strings.CutSuffix(name, suffix); ok {
			return without, true
		}
	}
	return name, false
}

// lower folds the ASCII letters of an alias: Luau's aliases ignore their case.
func lower(alias string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, alias)
}
