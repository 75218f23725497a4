package app

import (
	"os"
	"path/filepath"
	"strings"
)

// historyLines and historyBytes bound the file.
const (
	historyLines = 1000
	historyBytes = 1 << 20
)

func historyPath() (string, error) {
	if folder := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(folder) {
		return filepath.Join(folder, "hukilau", "repl_history"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state", "hukilau", "repl_history"), err
}

// ReadHistory gives the inputs of earlier sessions; none when there is no such file.
func ReadHistory() string {
	path, err := historyPath()
	if err != nil {
		return ""
	}
	text, err := opener(os.OpenFile).read(path, historyBytes)
	if err != nil {
		return ""
	}
	return string(text)
}

// WriteHistory keeps the last inputs, one a line, where only their user reads them.
func WriteHistory(text string) error {
	path, err := historyPath()
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	kept, size := len(lines), 0
	for kept > 0 && len(lines)-kept < historyLines && size+len(lines[kept-1])+1 <= historyBytes {
		kept--
		size += len(lines[kept]) + 1
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "repl_history") // with mode 0600
	if err != nil {
		return err
	}
	_, err = file.WriteString(strings.Join(lines[kept:], "\n") + "\n")
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
