package builtin

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

func TestEveryModuleHasItsStub(t *testing.T) {
	entries, err := os.ReadDir("..")
	require.NoError(t, err)
	var want, have []string
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), "mod"); ok {
			want = append(want, name)
		}
	}
	for _, stub := range stubs {
		have = append(have, stub.Name)
	}
	require.Equal(t, want, have)
}

func TestDefinitionsHoldEveryFieldOnce(t *testing.T) {
	text := Definitions()
	require.Equal(t, 1, strings.Count(text, "declare __native"))
	field := regexp.MustCompile(`(?m)^\t(\w+): `)
	seen := map[string]bool{}
	_, fields, _ := strings.Cut(text, declaration)
	for _, match := range field.FindAllStringSubmatch(fields, -1) {
		require.False(t, seen[match[1]], "%s is declared twice", match[1])
		seen[match[1]] = true
	}
	for _, stub := range stubs {
		_, body, found := strings.Cut(stub.Text, declaration)
		require.True(t, found && strings.HasSuffix(body, "\n"+declarationEnd), "%s: the declaration is not the stub's end", stub.Name)
		require.Contains(t, text, strings.TrimSuffix(body, declarationEnd), stub.Name)
		for _, match := range field.FindAllStringSubmatch(body, -1) {
			require.True(t, seen[match[1]], "%s: %s is missing", stub.Name, match[1])
		}
	}
	require.Equal(t, strings.Count(text, "{"), strings.Count(text, "}"))
}

// The compiler knows no declarations, but what follows them is a type, which it reads as type checkers do.
func TestDefinitionsAreTypesThatLuauReads(t *testing.T) {
	aliases := strings.NewReplacer("declare __native:", "type Native =", "declare package:", "type Package =")
	text := aliases.Replace(Definitions())
	require.NotContains(t, text, "declare")
	_, err := luau.Compile("=definitions", text, luau.CompileOptions{})
	require.NoError(t, err)
	_, err = luau.Compile("=definitions", strings.Replace(text, "->", ">", 1), luau.CompileOptions{})
	require.Error(t, err, "the compiler reads types")
}
