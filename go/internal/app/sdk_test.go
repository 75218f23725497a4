package app_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/app"
)

func run(t *testing.T, s app.Script) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	s.Grants.All, s.Stdout, s.Stderr = true, &out, &errs
	_, err := app.Run(ctx, s)
	if err != nil {
		require.NoError(t, err, "%s%s", app.Report(err, false), errs.String())
	}
	return out.String()
}

// The suites in Luau that need a server, with one of this process.
func TestSuitesWithAServer(t *testing.T) {
	server := newServer(t)
	for _, suite := range []string{"test_sdk_http", "test_http", "test_native_http"} {
		t.Run(suite, func(t *testing.T) {
			out := run(t, app.Script{Path: "../../../tests/luau/" + suite + ".luau", Args: []string{server.URL}})
			require.Equal(t, suite+" passed\n", out)
		})
	}
}

// The example of the specification, with the local server in the place of the public one.
func TestProviderExample(t *testing.T) {
	server := newServer(t)
	source, err := os.ReadFile("testdata/provider.luau")
	require.NoError(t, err)
	text := strings.ReplaceAll(string(source), "https://api.haivivi.com", server.URL)
	require.NotEqual(t, string(source), text)
	out := run(t, app.Script{Path: "provider.luau", Text: &text})
	require.Equal(t, `{"documents":["one & two","10"],"metadata":{"count":2,"query":"one & two","source":"haivivi"}}`+"\n", out)
}

// A script pays for no library that it does not require.
func TestNothingOfTheSDKLoadsByItself(t *testing.T) {
	text := `local function count() local n = 0 for _ in package.loaded do n += 1 end return n end
		print(count())
		require("json")
		print(count())
		require("haivivi")
		print(count() > 5, package.loaded["haivivi"] ~= nil, package.loaded["async"])`
	require.Equal(t, "0\n1\ntrue\ttrue\tnil\n", run(t, app.Script{Path: "x", Text: &text}))
}
