// Command gopherlua answers measurements of gopher-lua on its standard input: `name seconds` is
// answered by nanoseconds of one operation, or bytes. A module of its own: Hukilau does not depend
// on its peers.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	lua "github.com/yuin/gopher-lua"
)

func main() {
	measurements := map[string]func(time.Duration) float64{
		"callback": callback, "invoke": invoke, "idle": idle,
		"map_out": mapOut, "map_in": mapIn, "array_out": arrayOut, "array_in": arrayIn,
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var name string
		var seconds float64
		fmt.Sscan(in.Text(), &name, &seconds)
		f := measurements[name]
		if f == nil {
			fmt.Fprintln(os.Stderr, "gopherlua: no such measurement:", name)
			os.Exit(1)
		}
		fmt.Printf("%.17g\n", f(time.Duration(seconds*1e9)))
	}
}

// cpu is what all threads of this process used.
func cpu() time.Duration {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func each(least time.Duration, run func(n int)) float64 {
	for n := 1; ; n *= 2 {
		from := cpu()
		run(n)
		if took := cpu() - from; took >= least {
			return float64(took) / float64(n)
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "gopherlua:", err)
		os.Exit(1)
	}
}

func call(l *lua.LState, results int, args ...lua.LValue) {
	check(l.CallByParam(lua.P{Fn: l.GetGlobal("work"), NRet: results, Protect: true}, args...))
}

func callback(least time.Duration) float64 {
	l := lua.NewState()
	defer l.Close()
	l.SetGlobal("host", l.NewFunction(func(l *lua.LState) int {
		l.Push(l.CheckNumber(1) + 1)
		return 1
	}))
	check(l.DoString("function work(n) local host = host for i = 1, n do host(i) end end"))
	return each(least, func(n int) { call(l, 0, lua.LNumber(n)) })
}

// invoke is a small tool in a new VM: gopher-lua has no other way to a pristine one.
func invoke(least time.Duration) float64 {
	return each(least, func(n int) {
		for range n {
			l := lua.NewState()
			check(l.DoString("function work(a) return { sum = a.x + a.y } end"))
			t := l.NewTable()
			t.RawSetString("x", lua.LNumber(1))
			t.RawSetString("y", lua.LNumber(2))
			call(l, 1, t)
			toGo(l.Get(-1))
			l.Close()
		}
	})
}

func idle(time.Duration) float64 {
	const count = 500
	list := make([]*lua.LState, count)
	before := resident()
	for i := range list {
		list[i] = lua.NewState()
	}
	after := resident()
	for _, l := range list {
		l.Close()
	}
	return (after - before) / count
}

func resident() float64 {
	runtime.GC()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	check(err)
	var total, pages float64
	fmt.Sscan(string(text), &total, &pages)
	return pages * float64(os.Getpagesize())
}

// toGo converts as our Values.All does.
func toGo(v lua.LValue) any {
	switch v := v.(type) {
	case lua.LBool:
		return bool(v)
	case lua.LNumber:
		return float64(v)
	case lua.LString:
		return string(v)
	case *lua.LTable:
		if n := v.Len(); n > 0 {
			list := make([]any, n)
			for i := range list {
				list[i] = toGo(v.RawGetInt(i + 1))
			}
			return list
		}
		m := map[string]any{}
		v.ForEach(func(k, v lua.LValue) { m[k.String()] = toGo(v) })
		return m
	}
	return nil
}

func toLua(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case bool:
		return lua.LBool(v)
	case float64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case []any:
		t := l.CreateTable(len(v), 0)
		for i, item := range v {
			t.RawSetInt(i+1, toLua(l, item))
		}
		return t
	case map[string]any:
		t := l.CreateTable(0, len(v))
		for k, item := range v {
			t.RawSetString(k, toLua(l, item))
		}
		return t
	}
	return lua.LNil
}

func out(least time.Duration, source string) float64 {
	l := lua.NewState()
	defer l.Close()
	check(l.DoString(source))
	return each(least, func(n int) {
		for range n {
			call(l, 1)
			toGo(l.Get(-1))
			l.Pop(1)
		}
	})
}

func in(least time.Duration, v any) float64 {
	l := lua.NewState()
	defer l.Close()
	check(l.DoString("function work(t) return t ~= nil end"))
	return each(least, func(n int) {
		for range n {
			call(l, 0, toLua(l, v))
		}
	})
}

func mapOut(least time.Duration) float64 {
	return out(least, "local t = {} for i = 1, 1000 do t['key' .. i] = i end function work() return t end")
}

func arrayOut(least time.Duration) float64 {
	return out(least, "local t = {} for i = 1, 1000 do t[i] = i + 0.5 end function work() return t end")
}

func mapIn(least time.Duration) float64 {
	m := map[string]any{}
	for i := range 1000 {
		m[fmt.Sprintf("key%d", i+1)] = float64(i + 1)
	}
	return in(least, m)
}

func arrayIn(least time.Duration) float64 {
	list := make([]any, 1000)
	for i := range list {
		list[i] = float64(i) + 0.5
	}
	return in(least, list)
}
