// Package versions knows the versions of a program and of what it is made of.
package versions

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Build is what the linker says about the program; main sets it.
var Build struct{ Version, Commit string }

// Line is all versions in one line.
func Line() string {
	native := "off"
	if luau.NativeSupported() {
		native = "on"
	}
	return fmt.Sprintf("hukilau %s (Luau %s, %s, commit %s, native code %s, %s/%s)",
		orUnknown(Build.Version), luau.Version(), runtime.Version(), commit(), native, runtime.GOOS, runtime.GOARCH)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func commit() string {
	if Build.Commit != "" {
		return Build.Commit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return s.Value[:12]
			}
		}
	}
	return "unknown"
}
