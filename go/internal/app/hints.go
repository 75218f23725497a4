package app

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/luau"
	"github.com/hukilau/hukilau/libs"
)

// scriptHint says what a failed operation of a script was about, and what to write in place of it.
func scriptHint(err error) string {
	var e *luau.Error
	if !errors.As(err, &e) || e.Subject == nil {
		return ""
	}
	s := e.Subject
	if instead := insteadOf(s); instead != "" {
		return instead
	}
	return s.String()
}

// insteadOf is for names of other Luas, of JavaScript, and of libraries that nobody required.
func insteadOf(s *luau.Subject) string {
	switch {
	case s.Type != "nil":
		return ""
	case s.Kind == "field":
		return insteadOfField(s)
	case s.Kind != "global":
		return ""
	}
	if use := inPlaceOf(s.Key); use != "" {
		return fmt.Sprintf("there is no %s here: %s", s.Key, use)
	}
	if isLibrary(s.Key) {
		return fmt.Sprintf("%s is a library: local %s = require(%q)", s.Key, s.Key, s.Key)
	}
	return ""
}

func insteadOfField(s *luau.Subject) string {
	owner := s.Owner
	if name, ok := strings.CutPrefix(owner, `require("`); ok {
		owner = strings.TrimSuffix(name, `")`)
	}
	if owner == "os" {
		if use := inPlaceOf("os." + s.Key); use != "" {
			return fmt.Sprintf("there is no os.%s here: %s", s.Key, use)
		}
	}
	// A table of the script's own may have the name of a library.
	if name := otherName(owner + "." + s.Key); name != "" && (len(s.Names) == 0 || slices.Contains(s.Names, name)) {
		return fmt.Sprintf("%s has no %q: it is %s.%s here", s.Owner, s.Key, s.Owner, name)
	}
	return ""
}

// otherName is what the SDK calls a function of a library that others call otherwise.
func otherName(function string) string {
	switch function {
	case "json.stringify", "json.dump", "json.dumps", "json.serialize":
		return "encode"
	case "json.parse", "json.load", "json.loads", "json.deserialize":
		return "decode"
	case "async.gather":
		return "all"
	case "http.fetch":
		return "get"
	}
	return ""
}

// inPlaceOf says what is written in place of a global, or a function of os, that other places have.
func inPlaceOf(name string) string {
	switch name {
	case "os.exit":
		return `require("process").exit(code)`
	case "os.getenv":
		return `require("env").get(name)`
	case "os.remove", "os.rename", "os.tmpname":
		return `require("fs") has what scripts may do with files`
	case "os.execute":
		return "scripts start no other programs"
	case "io":
		return `require("fs") reads and writes files, print writes to the output`
	case "loadstring", "load", "dofile", "loadfile":
		return `put the code into a file and require("./file") it`
	case "getfenv", "setfenv":
		return "pass values as arguments, or in a table"
	case "collectgarbage":
		return "memory is collected by itself, and limited from outside"
	case "newproxy":
		return "setmetatable({}, {...}) makes an object"
	case "console", "printf", "println", "echo":
		return `print(...), or require("log").info(message, fields)`
	case "JSON", "cjson", "dkjson":
		return `local json = require("json")`
	case "fetch":
		return `require("http").get(url)`
	case "sleep", "wait", "setTimeout":
		return `require("time").sleep(seconds)`
	case "task", "spawn":
		return `require("async").spawn(f) runs f in a task`
	}
	return ""
}

// isLibrary says whether the SDK has a library of that name.
func isLibrary(name string) bool {
	_, err := fs.Stat(libs.FS, name+"/init.luau")
	return err == nil
}
