package toolhost_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/hukilau/hukilau/go/pkg/toolhost"
)

// A program that lets a model call the tools of a folder.
func Example() {
	dir, err := os.MkdirTemp("", "tools")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	tool := `
name: slices
description: Counts the slices of fruits
params:
  type: object
  properties:
    fruits: { type: integer, minimum: 1 }
  required: [fruits]
lua: |
  function invoke(ctx, args)
    ctx.progress(1, 1, "counted")
    return { slices = 8 * args.fruits }
  end
`
	if err := os.Mkdir(filepath.Join(dir, "tools"), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tools", "slices.yaml"), []byte(tool), 0o644); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	host, err := toolhost.Open(ctx, toolhost.Options{Dir: dir, InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close()
	for _, t := range host.Tools() {
		fmt.Println(t.Name, "-", t.Description)
	}
	result, err := host.Call(ctx, toolhost.Call{
		Tool: "slices", Args: []byte(`{"fruits": 3}`), Caller: "the model",
		Events: func(_ context.Context, e toolhost.Event) error {
			fmt.Println(e.Kind, e.Message)
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(result.JSON))

	_, err = host.Call(ctx, toolhost.Call{Tool: "slices", Args: []byte(`{"fruits": "three"}`)})
	var failed *toolhost.Error
	if errors.As(err, &failed) {
		fmt.Println(failed.Code, failed.Path, failed.Message)
	}
	// Output:
	// slices - Counts the slices of fruits
	// progress counted
	// {"slices":24}
	// bad_request /fruits must be an integer, not a string
}
