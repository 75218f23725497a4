// Package toolhost runs tools that are written in YAML, Lua and Luau within a Go program: the tools of a folder with
// its hukilau.toml, through the same pipeline as `luau serve`: validation against their schemas, permissions, rate
// limits, approvals, time and memory limits, and the execution log.
//
//	host, err := toolhost.Open(ctx, toolhost.Options{Dir: "agents"})
//	if err != nil {
//		return err
//	}
//	defer host.Close()
//	result, err := host.Call(ctx, toolhost.Call{Tool: "weather", Args: []byte(`{"city": "Bergen"}`)})
//
// Host.Tools describes them for a model, Host.Handler serves them over HTTP and the Model Context Protocol within a
// server of the program's own.
package toolhost
