// Package servertest holds the HTTP client of scripts against servers that others wrote: nginx, Python's
// http.server and Node's http2. The checks are suites in Luau, in testdata, which the program runs as
// its users do.
package servertest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/cli"
)

// The test binary is the program itself when it is started as `luau`.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"luau": func() {
		os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}})
}

// patience is how long anything may take before it counts as hanging.
const patience = 2 * time.Minute

// suite runs one file of testdata and gives what it printed on both streams.
func suite(t *testing.T, name string, env []string, flags []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	line := append(append([]string{}, flags...), filepath.Join("testdata", name))
	cmd := exec.CommandContext(ctx, "luau", append(line, args...)...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "LUAU_PATH=", "NO_PROXY=*", "SSL_CERT_FILE=", "SSL_CERT_DIR=")
	cmd.Env = append(cmd.Env, env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	require.NoError(t, err, out.String())
	return out.String()
}

// program finds a program. Without it a test is skipped, but not where all must hold.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) {
		path, err = exec.LookPath("/usr/sbin/" + name)
	}
	switch {
	case err == nil:
		return path
	case os.Getenv("CI") == "true":
		t.Fatalf("%s is not installed, and with CI=true no test may be skipped for that", name)
	default:
		t.Skipf("%s is not installed", name)
	}
	return ""
}
