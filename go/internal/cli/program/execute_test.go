package program

import (
	"context"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// A command that never looks at its context is left behind; one that ends by itself in time is not.
func TestCommandEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	defer close(release)
	stuck := &cobra.Command{RunE: func(*cobra.Command, []string) error {
		cancel()
		<-release
		return nil
	}}
	stuck.SetArgs([]string{})
	_, leftBehind, err := execute(ctx, stuck)
	require.True(t, leftBehind)
	require.NoError(t, err)

	watches := &cobra.Command{RunE: func(cmd *cobra.Command, _ []string) error {
		<-cmd.Context().Done()
		return nil
	}}
	watches.SetArgs([]string{})
	_, leftBehind, err = execute(ctx, watches)
	require.False(t, leftBehind)
	require.NoError(t, err)
}
