package engine

import "github.com/hukilau/hukilau/go/pkg/luau"

// Background makes a task of f whose error makes the run fail.
func (v *VM) Background(f *luau.Function, args ...any) {
	t := &task{}
	t.then = func(out luau.Outcome) {
		if out.Err != nil {
			v.fail(t.id, out.Err)
		}
	}
	v.tasks++
	v.push(t, func() (luau.ThreadID, luau.Outcome) { return v.state.Start(f, luau.StartOptions{}, args...) })
}
