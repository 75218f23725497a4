package hostmod

import "path/filepath"

// From is the directory of a grant made absolute: it is seen from base.
func From(base, dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(base, dir)
}

// Inside says whether an absolute path is dir or below it, by its name.
func Inside(dir, path string) bool {
	way, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(way)
}
