package toolhost

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Codes has each constant of the type Code.
func TestCodesAreAll(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "error.go", nil, 0)
	require.NoError(t, err)
	var want []Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if kind, named := specType(spec, ok); named && kind == "Code" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			want = append(want, Code(text))
		}
		return true
	})
	require.NotEmpty(t, want)
	require.Equal(t, want, Codes())
}

func specType(spec *ast.ValueSpec, ok bool) (string, bool) {
	if !ok || spec.Type == nil {
		return "", false
	}
	name, ok := spec.Type.(*ast.Ident)
	if !ok {
		return "", false
	}
	return name.Name, true
}
