package module

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzResolveName holds a served resolver against any name from several files:
// what it finds lies in the granted directory or in the binary.
func FuzzResolveName(f *testing.F) {
	root := servedTree(f)
	granted := filepath.Join(root, "tools")
	served := rootedResolver(f, Options{Script: granted + "/main.luau", Roots: []string{granted + "/deep"}, Embedded: embeddedLibraries}, granted)
	person := newResolver(f, Options{Roots: []string{granted + "/deep"}, Embedded: embeddedLibraries})
	from := []string{"@" + granted + "/main.luau", "@" + granted + "/deep/a.luau", "=@embedded/haivivi/init.luau", "=stdin", "@" + root + "/secret.luau"}

	for _, name := range []string{"./part", "../secret", "@etc/passwd", "@up/secret", "./outdir", "json", "a/../../secret", "", "@self/../..", "./\x00", "....//", "@"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, chunk := range from {
			s, err := served.Resolve(chunk, name)
			checkOutcome(t, s, err, granted)
			if !isNavigated(name) {
				s, err = person.Resolve(chunk, name)
				checkOutcome(t, s, err, granted+"/deep")
			}
		}
	})
}

func checkOutcome(t *testing.T, s Source, err error, inside string) {
	if err == nil {
		if !strings.HasPrefix(s.ID, inside+"/") && !strings.HasPrefix(s.ID, embeddedPrefix) {
			t.Fatalf("found %q, outside of %q", s.ID, inside)
		}
		if bytes.Contains(s.Code, []byte("secret")) || bytes.Contains(s.Code, []byte("root:")) {
			t.Fatalf("read %q", s.Code)
		}
		return
	}
	var e *Error
	if !errors.As(err, &e) || e.Code == "" || e.Message == "" {
		t.Fatalf("%#v is no *Error with code and message", err)
	}
	if strings.ContainsRune(err.Error(), 0) {
		t.Fatalf("the error carries a NUL byte: %q", err)
	}
}

// FuzzParseConfig checks that whatever is accepted means the same when written
// out as JSON and read again, and that every mistake is placed in the text.
func FuzzParseConfig(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"aliases": {"a": "./b", "c": "@a/d",},}`, "{ // c\n\"languageMode\": \"strict\" }", `{"lint": {"*": true}}`,
		`{"globals": ["a", "b",]}`, `{"aliases": {"a": "\ud83e\uddea"}}`, `{"aliases": {'x': 'y'}}`, "\ufeff{}", `{"a`, `[`, `{"a": {"b": {"c": {}}}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseConfig(text)
		if err != nil {
			var at *configError
			if !errors.As(err, &at) || at.message == "" || at.column < 1 || at.line < 1 || at.line > bytes.Count(text, []byte("\n"))+1 {
				t.Fatalf("%v is not a mistake in %q", err, text)
			}
			return
		}
		aliases := map[string]string{}
		for name, alias := range c.aliases {
			if strings.ToValidUTF8(alias.value, "") == alias.value { // JSON cannot write the rest
				aliases[name] = alias.value
			}
		}
		written, err := json.Marshal(map[string]any{"aliases": aliases})
		require.NoError(t, err)
		again, err := parseConfig(written)
		require.NoError(t, err, "%s", written)
		require.Len(t, again.aliases, len(aliases))
		for name, value := range aliases {
			require.Equal(t, value, again.aliases[name].value)
		}
	})
}

// FuzzSource checks that cleaning keeps every line where it was.
func FuzzSource(f *testing.F) {
	for _, text := range []string{"", "#!luau", "#!luau\nx", "\ufeff#!luau\r\nx", "\xff\xfe", "a\x00", "print(1)\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		code, err := cleanSource(bytes.Clone(text))
		if err != nil {
			require.NotEmpty(t, err.Message)
			return
		}
		require.False(t, bytes.HasPrefix(code, shebangMark))
		require.False(t, bytes.ContainsRune(code, 0))
		require.Equal(t, bytes.Count(text, []byte("\n")), bytes.Count(code, []byte("\n")))
		require.True(t, bytes.HasSuffix(text, code))
	})
}
