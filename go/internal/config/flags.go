package config

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Flags are the sources that a command line names.
type Flags struct {
	MCP   []string // name=command or name=URL
	APIs  []string // name=spec or spec
	Specs []string // arguments that are the same as APIs
}

// ParseFlags reads the sources of a command line, with paths from the working directory. Two of one name are an error.
func ParseFlags(f Flags) (Sources, error) {
	s := Sources{MCPServers: map[string]MCPServer{}, APIs: map[string]API{}}
	taken := func(name string) error {
		_, server := s.MCPServers[name]
		if _, api := s.APIs[name]; server || api {
			return fmt.Errorf("two sources have the name %q: write --api NAME=SPEC or --mcp NAME=COMMAND with another one", name)
		}
		return nil
	}
	var errs []error
	for _, text := range f.MCP {
		name, server, err := parseMCPFlag(text)
		if err = errors.Join(err, taken(name)); err != nil {
			errs = append(errs, err)
			continue
		}
		s.MCPServers[name] = server
	}
	for _, text := range slices.Concat(f.APIs, f.Specs) {
		name, api, err := parseAPIFlag(text)
		if err = errors.Join(err, taken(name)); err != nil {
			errs = append(errs, err)
			continue
		}
		s.APIs[name] = api
	}
	return s, errors.Join(errs...)
}

// parseMCPFlag reads the value of --mcp: a name with the address of a server, or with its command, which is split into
// words as a shell does, without variables and patterns. Errors do not show the command: it may hold a secret.
func parseMCPFlag(text string) (name string, s MCPServer, err error) {
	name, what, named := strings.Cut(text, "=")
	if !named || !isFlagName(name) {
		return "", s, errors.New(`--mcp needs NAME=COMMAND or NAME=URL, as "files=npx -y @modelcontextprotocol/server-filesystem ." or "remote=https://example.com/mcp"`)
	}
	what = strings.TrimSpace(what)
	if isAddress(what) {
		if problem := addressProblem(what); problem != "" {
			return "", s, fmt.Errorf("--mcp %s: the address %s", name, problem)
		}
		return name, MCPServer{URL: what, Transport: StreamableHTTP}, nil
	}
	words, err := splitWords(what)
	switch {
	case err != nil:
		return "", s, fmt.Errorf("--mcp %s: %w", name, err)
	case len(words) == 0 || words[0] == "":
		return "", s, fmt.Errorf("--mcp %s: needs a command or an address behind the =", name)
	}
	s = MCPServer{Command: words[0], Args: words[1:]}
	s.startedIn("")
	return name, s, nil
}

// parseAPIFlag reads the value of --api: a document with a name, or one whose file gives it the name.
func parseAPIFlag(text string) (name string, a API, err error) {
	name, spec, named := strings.Cut(text, "=")
	if !named || !isFlagName(name) {
		spec = text
		if name = specName(spec); name == "" {
			return "", a, fmt.Errorf("the document %s needs a name: write NAME=SPEC", shownSpec(spec))
		}
	}
	if spec == "" {
		return "", a, fmt.Errorf(`--api %s: needs a document behind the =, as "petstore.yaml"`, name)
	}
	if problem := specProblem(spec); problem != "" {
		return "", a, fmt.Errorf("--api %s: the document %s", name, problem)
	}
	if !isAddress(spec) && !filepath.IsAbs(spec) {
		spec = filepath.Clean(filepath.FromSlash(spec))
	}
	return name, API{Spec: spec}, nil
}

// shownSpec is a document as errors name it: the query of an address may hold a secret.
func shownSpec(spec string) string {
	if u, err := url.Parse(spec); err == nil && isAddress(spec) {
		spec = u.Scheme + "://" + u.Host + u.Path
	}
	return strconv.Quote(spec)
}

// isFlagName says whether what stands before a "=" is a name, and not a part of a path or of an address.
func isFlagName(name string) bool {
	return sourceNameProblem(name) == "" && !strings.ContainsAny(name, `/\:?"'`)
}

// specName is the file's name without what says that it is a document: petstore of specs/petstore.openapi.yaml.
func specName(spec string) string {
	if isAddress(spec) {
		u, err := url.Parse(spec)
		if err != nil {
			return ""
		}
		spec = u.Path
	}
	name := path.Base(filepath.ToSlash(spec))
	for _, end := range []string{".json", ".yaml", ".yml", ".openapi", ".swagger"} {
		name = strings.TrimSuffix(name, end)
	}
	if !isFlagName(name) || name == "." || name == ".." {
		return ""
	}
	return name
}

// splitWords splits a command into words: spaces part them, quotes and backslashes keep them together. Within single
// quotes a backslash is itself, within double ones it stands before a quote or another one.
func splitWords(text string) (words []string, err error) {
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote == 0 && strings.IndexByte(" \t\r\n", c) >= 0:
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
			continue
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '\\' && escapes(text, i, quote):
			if i++; i == len(text) {
				return nil, errors.New(`ends with a backslash: write \\ for one`)
			}
			word.WriteByte(text[i])
		default:
			word.WriteByte(c)
		}
		inWord = true
	}
	if quote != 0 {
		return nil, fmt.Errorf("has a %c without its end", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// escapes says whether the backslash at a place is one before something else.
func escapes(text string, at int, quote byte) bool {
	if quote != '"' {
		return quote == 0
	}
	return at+1 < len(text) && strings.IndexByte("\"\\$`", text[at+1]) >= 0
}
