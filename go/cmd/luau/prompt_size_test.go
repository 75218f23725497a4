package main

import (
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// Where the terminal does not say its size, keys work as elsewhere, and afterwards it still does not say it.
func TestPromptWithoutSize(t *testing.T) {
	p := startPromptAt(t, t.TempDir(), pty.Winsize{})
	p.completes()
	p.keys(up)
	p.see("alphabet.beta_gamma")
	p.keys(ctrlC)
	p.see("> ")
	p.keys(ctrlD)
	require.Zero(t, p.ends())
	rows, columns, err := pty.Getsize(p.tty)
	require.NoError(t, err)
	require.Zero(t, rows+columns)
}

func TestPromptLeavesASizeAlone(t *testing.T) {
	p := startPromptAt(t, t.TempDir(), pty.Winsize{})
	require.NoError(t, pty.Setsize(p.tty, &pty.Winsize{Rows: 50, Cols: 132}))
	p.enter("1 + 1", "2\n")
	p.keys(ctrlD)
	require.Zero(t, p.ends())
	rows, columns, err := pty.Getsize(p.tty)
	require.NoError(t, err)
	require.Equal(t, []int{50, 132}, []int{rows, columns})
}

func TestPromptTellsHowToLeave(t *testing.T) {
	p := startPrompt(t, t.TempDir())
	p.enter("exit", `Ctrl-D ends the session, or require("process").exit()`)
	p.enter("quit()", "Ctrl-D ends the session")
	p.enter("help", "`luau doc` in a shell lists the libraries")
	p.enter("exit = 3")
	p.enter("exit", "3\n")
	p.keys(ctrlD)
	require.Zero(t, p.ends())
}
