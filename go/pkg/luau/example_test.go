package luau_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// A State runs source, prints where the program says, and gives results as Go values.
func Example() {
	s, err := luau.New(luau.Options{Output: func(text []byte) { os.Stdout.Write(text) }})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	results, err := s.Do(context.Background(), "=sum", `
		local total = 0
		for _, n in {1, 2, 3} do total += n end
		print("adding")
		return total, {unit = "apples"}`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(results...)
	// Output:
	// adding
	// 6 map[unit:apples]
}

// A Func reads its arguments one by one and words every mistake alike.
func ExampleFunc() {
	s, _ := luau.New(luau.Options{})
	defer s.Close()

	repeat := luau.Func{Name: "text.repeat", Do: func(c *luau.Call) error {
		what, err := c.Text(0)
		if err != nil {
			return err
		}
		times, err := c.IntOpt(1, 2)
		if err != nil {
			return err
		}
		out := ""
		for range times {
			out += what
		}
		return c.Return(out)
	}}
	_ = s.SetGlobal("text", map[string]any{"rep": repeat})

	fmt.Println(s.Do(context.Background(), "=example", `return text.rep("ab"), text.rep("ab", 3)`))
	_, err := s.Do(context.Background(), "=example", `text.rep({})`)
	fmt.Println(err, "/", luau.CodeOf(err))
	// Output:
	// [abab ababab] <nil>
	// example:1: text.repeat: argument 1 must be a string, got table / invalid_argument
}

// FuncOf takes any Go function: arguments are converted and checked, an error is raised.
func ExampleFuncOf() {
	s, _ := luau.New(luau.Options{})
	defer s.Close()

	type options struct {
		Retries int    `luau:"retries"`
		Method  string `luau:"method"`
	}
	_ = s.SetGlobal("fetch", luau.FuncOf("fetch", func(ctx context.Context, url string, o *options) (int, error) {
		if o == nil {
			o = &options{Method: "GET"}
		}
		if url == "" {
			return 0, errors.New("no URL")
		}
		return len(o.Method) + o.Retries, nil
	}))
	fmt.Println(s.Do(context.Background(), "=example", `return fetch("x"), fetch("x", {method = "POST", retries = 2})`))
	fmt.Println(s.Do(context.Background(), "=example", `return fetch("x", {retries = "many"})`))
	// Output:
	// [3 6] <nil>
	// [] example:1: fetch: argument 2: .retries must be a whole number, got string
}

// Structs, maps and slices cross in one call, functions among them.
func ExampleState_SetGlobal() {
	s, _ := luau.New(luau.Options{})
	defer s.Close()

	type server struct {
		Host string   `luau:"host"`
		Port int      `json:"port"`
		Tags []string `luau:"tags"`
	}
	_ = s.SetGlobal("config", map[string]any{
		"servers": []server{{Host: "a.example", Port: 80, Tags: []string{"eu"}}},
		"upper":   luau.FuncOf("upper", func(s string) string { return s + "!" }),
	})
	fmt.Println(s.Do(context.Background(), "=example",
		`local first = config.servers[1] return config.upper(first.host), first.port + 1, first.tags[1]`))
	// Output:
	// [a.example! 81 eu] <nil>
}

// Scan puts results into variables of the program's own types. What does not fit is an error.
func ExampleValues_Scan() {
	s, _ := luau.New(luau.Options{})
	defer s.Close()

	code, err := luau.Compile("=example", `return {name = "lu", sizes = {1, 2}}, 300`, luau.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	f, _ := s.Load(code, "=example", luau.LoadOptions{})
	var animal struct {
		Name  string `luau:"name"`
		Sizes []int  `luau:"sizes"`
	}
	var small uint8
	fmt.Println(f.CallInto(context.Background(), []any{&animal, &small}))
	var large uint16
	fmt.Println(f.CallInto(context.Background(), []any{&animal, &large}), animal.Name, animal.Sizes, large)
	// Output:
	// value 2 must fit a Go uint8, got 300
	// <nil> lu [1 2] 300
}

// A deadline ends a script wherever it is; it cannot be caught there.
func ExampleFunction_Call() {
	s, _ := luau.New(luau.Options{})
	defer s.Close()

	code, err := luau.Compile("=endless", `while true do pcall(error) end`, luau.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	f, _ := s.Load(code, "=endless", luau.LoadOptions{})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = f.Call(ctx)
	fmt.Println(err, "/", errors.Is(err, context.DeadlineExceeded), luau.IsKilled(err))
	// Output:
	// endless:1: the time limit was reached / true true
}

// Save and Reset give each run a State that no earlier one has touched, in microseconds.
func ExampleState_Save() {
	s, _ := luau.New(luau.Options{})
	defer s.Close()

	code, err := luau.Compile("=count", `count = (count or 0) + 1 return count`, luau.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	f, _ := s.Load(code, "=count", luau.LoadOptions{})
	_ = s.Save()
	for range 3 {
		_ = s.Reset()
		fmt.Println(f.Call(context.Background()))
	}
	// Output:
	// [1] <nil>
	// [1] <nil>
	// [1] <nil>
}

// A coroutine can be driven from Go.
func ExampleThread_Resume() {
	s, _ := luau.New(luau.Options{})
	defer s.Close()

	code, err := luau.Compile("=count", `for i = 1, ... do coroutine.yield(i) end return "end"`, luau.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	f, _ := s.Load(code, "=count", luau.LoadOptions{})
	thread, _ := s.NewThread(f)
	for done := false; !done; {
		var values []any
		if values, done, err = thread.Resume(context.Background(), 2); err != nil {
			log.Fatal(err)
		}
		fmt.Println(values, done)
	}
	// Output:
	// [1] false
	// [2] false
	// [end] true
}

// Errors carry where they happened and how the script came there.
func ExampleError() {
	s, _ := luau.New(luau.Options{})
	defer s.Close()

	_, err := s.Do(context.Background(), "@shop/cart.luau", `
local function total(items)
	return items.sum + 1
end
return total({})`)
	var e *luau.Error
	if errors.As(err, &e) {
		fmt.Println(e)
		fmt.Println(e.Code, e.Chunk, e.Line)
		fmt.Print(e.Traceback())
	}
	// Output:
	// shop/cart.luau:3: attempt to perform arithmetic (add) on nil and number
	// runtime @shop/cart.luau 3
	// shop/cart.luau:3 in total
	// shop/cart.luau:5
}

// A profile of a State shows where its scripts spend processor time, as a file that a browser opens.
func ExampleState_StartProfile() {
	s, _ := luau.New(luau.Options{})
	defer s.Close()
	if err := s.StartProfile(luau.ProfileOptions{}); err != nil {
		log.Fatal(err)
	}
	_, err := s.Do(context.Background(), "=sum", "local n = 0 for i = 1, 1e6 do n += i end return n")
	if err != nil {
		log.Fatal(err)
	}
	profile, err := s.StopProfile()
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := profile.WriteSpeedscope(&file, "sum"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(profile.Time > 0, json.Valid(file.Bytes()))
	// Output: true true
}
