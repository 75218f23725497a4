package gateway_test

import (
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/typecheck"
)

// checkerProcess is a luau-check as a program starts it.
type checkerProcess struct {
	io.Reader
	io.Writer
	cmd *exec.Cmd
}

func (p *checkerProcess) Kill() { _ = p.cmd.Process.Kill() }

func (p *checkerProcess) Wait() (int, string) {
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode(), ""
}

func checker(t testing.TB) *gateway.TypeChecker {
	path, err := filepath.Abs("../../../build/bin/luau-check")
	require.NoError(t, err)
	c := typecheck.New(typecheck.Options{Start: func(args []string) (typecheck.Process, error) {
		p := &checkerProcess{cmd: exec.Command(path, args...)}
		in, err := p.cmd.StdinPipe()
		require.NoError(t, err)
		out, err := p.cmd.StdoutPipe()
		require.NoError(t, err)
		p.Reader, p.Writer = out, in
		return p, p.cmd.Start()
	}})
	t.Cleanup(c.Close)
	return gateway.NewTypeChecker(c, typecheck.Modules{})
}

// tracker has an issue tracker's functions.
func tracker(t testing.TB) *fake {
	f := server(t, "tracker", "ping")
	f.source.Functions = append(f.source.Functions,
		catalog.Function{
			Name: "create_issue",
			Params: tree(t, `{"type":"object","properties":{"title":{"type":"string"},"body":{"type":"string"},"state":{"enum":["open","closed"]}},
				"required":["title"]}`),
			Result: tree(t, `{"type":"object","properties":{"id":{"type":"integer"},"title":{"type":"string"}},"required":["id","title"]}`),
		},
		catalog.Function{Name: "list_issues", Params: tree(t, `{"type":"object","properties":{"limit":{"type":"integer"}}}`)},
	)
	return f
}

func TestScriptsAreCheckedBeforeTheyRun(t *testing.T) {
	upstream := tracker(t)
	f := newFixture(t, gateway.Options{Checker: checker(t)}, upstream)
	for script, want := range map[string]string{
		`return sdk.tracker.create_isue{ title = "x" }`:                     "did you mean create_issue",
		`return sdk.traker.create_issue{ title = "x" }`:                     "did you mean sdk.tracker",
		`return sdk.tracker.create_issue{ tilte = "x" }`:                    "title",
		`return sdk.tracker.create_issue{}`:                                 "title",
		`return sdk.tracker.list_issues{ limt = 5 }`:                        "did you mean 'limit'",
		`return sdk.tracker.create_issue{ title = "x" }.idd`:                "idd",
		`local i = sdk.tracker.create_issue{ title = "x" } return i.titel`:  "did you mean 'title'",
		`return tracker.create_issue{ title = "x", stat = "open" }:await()`: "did you mean 'state'",
		`return async.al{}`: "did you mean 'all'",
	} {
		failed := f.fails(script)
		t.Log(failed.Message)
		require.Equal(t, "type_check", failed.Detail, script)
		require.Contains(t, failed.Message, "nothing has run", script)
		require.Contains(t, failed.Message, want, script)
	}
	require.Empty(t, upstream.seen())
	for _, script := range []string{
		`return sdk.tracker.create_issue{ title = "x", state = "open" }`, `return sdk.tracker.ping()`, `return sdk.tracker.list_issues()`,
		`local ok, err = pcall(function() return sdk.tracker.ping{} end) return ok`, `result(tracker.ping():await())`, `return sdk["tracker"]["create_issue"]{ title = "x" }`,
		`local out = {} for name, f in sdk.tracker do table.insert(out, name) end return out`, `local out = {} for name, f in pairs(sdk.tracker) do table.insert(out, name) end for name in pairs(sdk) do table.insert(out, name) end return out`, `x = 1 return x`,
		`return async.map({ 1, 2 }, function(n) return sdk.tracker.ping{ n = n }.n end)`, `return json.encode({})`,
		// Results of different types in one list, or one variable.
		`return { sdk.tracker.create_issue{ title = "x" }, { other = 1 }, sdk.tracker.ping{} }`,
		`local list = { sdk.tracker.create_issue{ title = "x" } } table.insert(list, { other = 1 }) return list`,
		`local x = sdk.tracker.create_issue{ title = "x" } x = { other = 1 } return x`,
		`return async.all{ function() return sdk.tracker.create_issue{ title = "x" } end, function() return { other = 1 } end }`,
	} {
		text, failed := f.call("execute_script", map[string]any{"script": script})
		if failed != nil {
			require.Nil(t, failed, failed.Message)
		}
		t.Log(script, text)
	}
}
