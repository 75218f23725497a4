package hostapp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/recording"
	"github.com/hukilau/hukilau/go/internal/tooldef"
)

// tape is the recording of a test: the one that is made, or the one that is replayed. A nil tape does nothing.
type tape struct {
	session *recording.Session
	path    string
}

// openTape begins to record or to replay, where the test asks for it.
func (p *Project) openTape(t ToolTest, tools []*tooldef.Tool) (*tape, error) {
	switch {
	case t.Record != "" && t.Replay != "":
		return nil, &usageError{"--record and --replay do not go together: the one writes a recording, the other reads it"}
	case t.Record != "":
		return p.newTape(t, tools)
	case t.Replay != "":
		return p.oldTape(t, tools)
	}
	return nil, nil
}

func (p *Project) newTape(t ToolTest, tools []*tooldef.Tool) (*tape, error) {
	if info, err := os.Stat(filepath.Dir(t.Record)); err != nil || !info.IsDir() {
		return nil, &usageError{fmt.Sprintf("--record %s: there is no folder %s", t.Record, filepath.Dir(t.Record))}
	}
	// A slip of the fingers must not cost a tool.
	switch text, err := readRegular(t.Record, recording.MaxFile); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, &usageError{fmt.Sprintf("--record %s: %s", t.Record, withoutPath(err))}
	case len(text) > 0 && !recording.Recognise(text):
		return nil, &usageError{fmt.Sprintf("--record %s: the file is there and is no recording; name another one", t.Record)}
	}
	path, err := filepath.Abs(t.Record)
	if err != nil {
		return nil, err
	}
	return &tape{recording.New(p.tapeOptions(t, t.Record, tools)), path}, nil
}

func (p *Project) oldTape(t ToolTest, tools []*tooldef.Tool) (*tape, error) {
	text, err := readRegular(t.Replay, recording.MaxFile)
	if err != nil {
		return nil, &usageError{fmt.Sprintf("--replay %s: %s", t.Replay, withoutPath(err))}
	}
	session, err := recording.Open(text, p.tapeOptions(t, t.Replay, tools))
	if err != nil {
		return nil, err
	}
	return &tape{session: session}, nil
}

func (p *Project) tapeOptions(t ToolTest, name string, tools []*tooldef.Tool) recording.Options {
	return recording.Options{Name: name, File: filepath.ToSlash(t.Target), Environ: p.environOf(tools), Redact: p.redact}
}

// environOf are the variables that tools are granted by name, and those that they call.
func (p *Project) environOf(tools []*tooldef.Tool) map[string]string {
	all := grant(p.Set().Tools(), p.replaced, p.Config().Permissions)
	values, seen := map[string]string{}, map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if name == "*" {
			for _, t := range all.Tools() {
				visit(t.Name)
			}
			return
		}
		t, there := all.Find(name)
		if !there || seen[name] {
			return
		}
		seen[name] = true
		for _, variable := range t.Permissions.Env {
			if value, set := os.LookupEnv(variable); set {
				values[variable] = value
			}
		}
		for _, other := range t.Permissions.Tools {
			visit(other)
		}
	}
	for _, t := range tools {
		visit(t.Name)
	}
	return values
}

// environ is the environment of the tools of a test.
func (t *tape) environ() []string {
	if t == nil || !t.session.Replaying() {
		return os.Environ()
	}
	recorded := t.session.Environ()
	pairs := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return t.session.Grants(name)
	})
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		pairs = append(pairs, name+"="+recorded[name])
	}
	return pairs
}

// begin begins a run; end says what a replay found, and whether that is well.
func (t *tape) begin(ctx context.Context, tool, example string, args map[string]any) (_ context.Context, end func(check func(Step)) bool, err error) {
	if t == nil {
		return ctx, func(func(Step)) bool { return true }, nil
	}
	run, err := t.session.Begin(tool, example, args)
	if err != nil {
		return nil, nil, err
	}
	return run.Context(ctx), func(check func(Step)) bool {
		out := run.End()
		for _, missing := range out.Missing {
			check(Step{Failed: true, Text: "Not in the recording: " + missing})
		}
		for _, unused := range out.Unused {
			check(Step{Note: true, Text: "In the recording and not asked for: " + unused})
		}
		return len(out.Missing) == 0
	}, nil
}

// save writes what was recorded. Nobody else may read it, and a file that was there stays until the new one is whole.
func (t *tape) save(check func(Step)) error {
	if t == nil || t.session.Replaying() || t.session.Empty() {
		return nil
	}
	text, err := t.session.Encode()
	if err != nil {
		return err
	}
	if err := replaceFile(t.path, text, 0o600); err != nil {
		return fmt.Errorf("the recording cannot be written: %w", err)
	}
	check(Step{Note: true, Text: "Recorded in " + t.session.Name()})
	return nil
}
