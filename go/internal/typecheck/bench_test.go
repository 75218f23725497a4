package typecheck_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/typecheck"
)

// manyFunctions are definitions of so many functions, each with types of its own.
func manyFunctions(n int) typecheck.Definitions {
	var types, functions strings.Builder
	for i := range n {
		fmt.Fprintf(&types, "type Thing%d = { id: number, name: string, owner: { login: string, id: number }?, tags: { string }?, state: \"open\" | \"closed\", parent: Thing%d? }\n", i, i/10*10)
		fmt.Fprintf(&functions, "f%d: (args: { id: number, name: string?, limit: number?, filter: { a: string?, b: boolean? }?, kind: (\"a\" | \"b\")? }) -> Thing%d,\n", i, i)
	}
	return typecheck.NewDefinitions(types.String() + "declare sdk: { api: {\n" + functions.String() + "} }\n")
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{100, 1000} {
		d := manyFunctions(n)
		c, seen := checker(b, typecheck.Options{})
		ask := func(i int) {
			findings, err := c.Check(context.Background(), typecheck.Request{Definitions: d, Source: fmt.Sprintf(
				"local thing = sdk.api.f%d{ id = %d, kind = \"a\" }\nif thing.owner then\n\treturn thing.owner.login\nend\nreturn thing.name", i%n, i)})
			require.NoError(b, err)
			require.Empty(b, findings)
		}
		ask(0)
		i := 0
		b.Run(fmt.Sprintf("new-of-%d", n), func(b *testing.B) {
			for b.Loop() {
				ask(i)
				i++
			}
			b.ReportMetric(float64(seen.resident(b)), "MiB")
		})
		b.Run(fmt.Sprintf("known-of-%d", n), func(b *testing.B) {
			for b.Loop() {
				ask(0)
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		d := manyFunctions(n)
		c, _ := checker(b, typecheck.Options{Sets: 1, Cached: -1})
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				i++
				_, err := c.Check(context.Background(), typecheck.Request{Definitions: typecheck.Definitions{ID: fmt.Sprint(n, i), Text: d.Text}, Source: "return 1"})
				require.NoError(b, err)
			}
		})
	}
}
