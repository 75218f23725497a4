// Package libs carries the SDK, the libraries in pure Luau that every script can
// require, inside the binary. It holds files only: finding them for require is
// the work of the module resolver, running them that of the engine.
package libs

import "embed"

// FS has the Luau files of this directory, under the names require knows them by:
// "json/init.luau" is require("json").
//
// A pattern covers one depth of directories; a test fails when a file lies at a
// depth that none covers.
//
//go:embed */*.luau
var FS embed.FS
