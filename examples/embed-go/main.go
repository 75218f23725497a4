// Command embed-go runs a Luau script inside a Go program: the script calls a Go function, its loop is
// ended by a deadline, and its answer comes back as a Go value.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

const script = `
local total = 0
for _, name in cart do
	total += price(name)
end
print("counted", #cart)
return {total = total, free = total > 20}`

// answer is what the script returns.
type answer struct {
	Total int  `luau:"total"`
	Free  bool `luau:"free"`
}

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(out io.Writer) error {
	state, err := luau.New(luau.Options{Output: func(text []byte) { out.Write(text) }})
	if err != nil {
		return err
	}
	defer state.Close()

	prices := map[string]int{"apple": 3, "melon": 20}
	price := func(name string) (int, error) {
		if p, ok := prices[name]; ok {
			return p, nil
		}
		return 0, fmt.Errorf("no price for %s", name)
	}
	if err := state.SetGlobal("price", luau.FuncOf("price", price)); err != nil {
		return err
	}
	if err := state.SetGlobal("cart", []string{"apple", "melon"}); err != nil {
		return err
	}

	code, err := luau.Compile("=cart", script, luau.CompileOptions{})
	if err != nil {
		return err
	}
	function, err := state.Load(code, "=cart", luau.LoadOptions{})
	if err != nil {
		return err
	}
	var got answer
	if err := function.CallInto(context.Background(), []any{&got}); err != nil {
		return err
	}
	fmt.Fprintf(out, "total %d, free delivery %t\n", got.Total, got.Free)

	_, err = state.Do(context.Background(), "=missing", `return price("pear")`)
	fmt.Fprintln(out, "error:", err)

	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = state.Do(ctx, "=loop", `while true do end`)
	fmt.Fprintln(out, "ended by the deadline:", errors.Is(err, context.DeadlineExceeded))
	return nil
}
