package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// anyPath stands for all folders in a list of grants.
const anyPath = "*"

// checkGrants finds granted folders that give nothing: those that are not there, and files. Such a grant is
// a slip, and a script that is refused later would not say so.
func (s *Settings) checkGrants() error {
	for _, list := range []struct {
		flag  string
		paths []string
		more  string
	}{
		{"allow-read", s.Grants.Read, ""},
		{"allow-write", s.Grants.Write, "; make it first, or allow the folder that it is to be made in"},
	} {
		for _, path := range list.paths {
			if path == anyPath {
				continue
			}
			info, err := os.Stat(path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return &OptionError{fmt.Sprintf("--%s=%s: no such folder%s", list.flag, path, list.more)}
			case err != nil:
				return &OptionError{fmt.Sprintf("--%s=%s: %v", list.flag, path, reason(err))}
			case !info.IsDir():
				return &OptionError{fmt.Sprintf("--%s=%s: it is a file, and folders are allowed: --%[1]s=%[3]s", list.flag, path, filepath.Dir(path))}
			}
		}
	}
	return nil
}

// Doubts are about denials of what is not there. They hold as soon as it is, so they are no errors.
func (s *Settings) Doubts() (list []string) {
	for _, denied := range []struct {
		flag  string
		paths []string
	}{{"deny-read", s.Grants.DenyRead}, {"deny-write", s.Grants.DenyWrite}} {
		for _, path := range denied.paths {
			if path == anyPath {
				continue
			}
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
				list = append(list, fmt.Sprintf("--%s=%s: there is no such file or folder yet", denied.flag, path))
			}
		}
	}
	return list
}
