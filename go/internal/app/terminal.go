package app

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Terminal says whether somebody watches what is written.
func Terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	_, err = unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS) // which /dev/null has not
	return err == nil
}

// Coloured says whether w shows colours and the user wants them (https://no-color.org).
func Coloured(w io.Writer) bool {
	return Terminal(w) && os.Getenv("TERM") != "dumb" && os.Getenv("NO_COLOR") == ""
}

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

// The size that a terminal has unless it says another.
const usualRows, usualColumns = 24, 80

// Sized gives a terminal that does not say its size the usual one, as an editor of lines needs one; the
// result takes it back, unless it has got another meanwhile.
func Sized(w io.Writer) (back func()) {
	f, ok := w.(*os.File)
	if !ok {
		return func() {}
	}
	unsized, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || unsized.Col != 0 {
		return func() {}
	}
	ours := *unsized
	ours.Row, ours.Col = usualRows, usualColumns
	if unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &ours) != nil {
		return func() {}
	}
	return func() {
		if now, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && *now == ours {
			_ = unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, unsized)
		}
	}
}
