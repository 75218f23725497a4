package app

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Width is how many columns a terminal has; other where w is none, or does not say.
func Width(w io.Writer, other int) int {
	f, ok := w.(*os.File)
	if !ok {
		return other
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return other
	}
	return int(size.Col)
}
