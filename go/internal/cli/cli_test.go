package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/cli"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
)

// The rest is in tests/cli.

func TestInterruptedContext(t *testing.T) {
	script := filepath.Join(t.TempDir(), "x.luau")
	require.NoError(t, os.WriteFile(script, []byte("while true do end"), 0o644))
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(exit.ErrInterrupted)
	var out, errors bytes.Buffer
	require.Equal(t, exit.Interrupted, cli.Main(ctx, []string{script}, cli.Streams{Out: &out, Err: &errors}))
	require.Equal(t, "interrupted\n", errors.String())
}
