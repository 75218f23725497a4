package upstream

import (
	"io"
	"slices"
	"strings"
)

// Process is the program of a server. Stop ends it and all that it has started, and waits for that; it may be called
// again.
type Process struct {
	In   io.WriteCloser
	Out  io.ReadCloser
	Err  io.ReadCloser
	Stop func()
}

// inherited are the variables of our environment that a server gets: what programs need to run, and nothing that
// may be a secret.
var inherited = []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LANGUAGE", "TMPDIR", "TZ"}

// environment is that of a server: a little of ours, and what is configured.
func environment(ours []string, configured map[string]string) []string {
	var env []string
	for _, entry := range ours {
		name, value, _ := strings.Cut(entry, "=")
		if _, set := configured[name]; set || strings.HasPrefix(value, "()") { // a shell's function
			continue
		}
		if slices.Contains(inherited, name) || strings.HasPrefix(name, "LC_") {
			env = append(env, entry)
		}
	}
	for name, value := range configured {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}
