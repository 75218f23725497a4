package tooldef

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/luaudoc"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// errGone marks a definition whose file is not there any more: nothing of it stays.
var errGone = errors.New("no such file")

// maxSlow is how many Lua tools of one Load may take all their time: a folder of such would take hours.
const maxSlow = 20

// loader reads the files of one Load.
type loader struct {
	o Options
	files
	config  func() (*engine.Config, error) // of the VMs that read Lua tools
	total   atomic.Int64                   // bytes that were read
	slow    atomic.Int64                   // Lua tools that took all their time
	modules string                         // digest of all Luau files that define no tool
}

func newLoader(o Options) (*loader, error) {
	if !path.IsAbs(o.Root) {
		return nil, fmt.Errorf("tooldef: Options.Root is %q: it must be the absolute path of a folder", o.Root)
	}
	l := &loader{o: o, files: files{in: o.Files, root: path.Clean(o.Root)}}
	l.config = sync.OnceValues(func() (*engine.Config, error) { return readingConfig(o.Modules) })
	return l, nil
}

// readAll reads files, several at a time: first their texts, because a tool may depend on modules, then
// what they mean.
func (l *loader) readAll(ctx context.Context, sources []source) ([]*loaded, error) {
	texts := make([][]byte, len(sources))
	out := make([]*loaded, len(sources))
	l.each(ctx, len(sources), func(_ *worker, i int) { texts[i], out[i] = l.text(sources[i]) })
	var digests [][]byte
	for i, file := range out {
		if file != nil && file.module {
			digests = append(digests, []byte(sources[i].path), []byte(file.digest))
		}
	}
	l.modules = sum(append(digests, l.libraries()...)...)
	l.each(ctx, len(sources), func(w *worker, i int) {
		if texts[i] != nil {
			out[i] = l.load(ctx, w, sources[i], texts[i], out[i])
		}
	})
	return out, ctx.Err()
}

// libraries are the digests of the modules that are not among the tools.
func (l *loader) libraries() (digests [][]byte) {
	w := walk{files: l.files, seen: map[string]bool{}}
	for _, dir := range l.o.Libraries {
		w.start(dir)
	}
	slices.SortFunc(w.found, func(a, b source) int { return strings.Compare(a.path, b.path) })
	for _, from := range w.found {
		text, err := l.read(from.path)
		if err != nil || l.total.Add(int64(len(text))) > maxTotal {
			continue // who requires it is told
		}
		digests = append(digests, []byte(from.path), []byte(sum(text)))
	}
	return digests
}

// worker is what one goroutine reads files with.
type worker struct {
	vm *luaVM
}

// each calls do for the numbers below n on several goroutines.
func (l *loader) each(ctx context.Context, n int, do func(w *worker, i int)) {
	workers := l.o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			var w worker
			defer w.close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(&w, i)
			}
		})
	}
	group.Wait()
}

func (w *worker) close() {
	if w.vm != nil {
		_ = w.vm.close() // it is not in use
	}
}

// text reads the text of a file. A file without a text is complete with that.
func (l *loader) text(from source) ([]byte, *loaded) {
	shown := l.show(from.path)
	text, err := l.read(from.path)
	if err == nil && l.total.Add(int64(len(text))) > maxTotal {
		err = fmt.Errorf("the tool files have more than %d MiB together", maxTotal>>20)
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", errGone, err)
		}
		e := &Error{File: shown, Problem: problemText(err), Err: err}
		return nil, &loaded{broken: []Broken{broken(shown, from.script, e)}}
	}
	file := &loaded{digest: sum(text)}
	if kindOfFile(from.path) == luaTool && !from.named {
		if clean, err := module.CleanText(shown, text); err == nil {
			names := scan("@"+shown, string(clean))
			file.module = !names.globalTool && !names.looksLikeTool()
		}
	}
	return text, file
}

func problemText(err error) string {
	if errors.Is(err, errGone) {
		return "there is no such file"
	}
	return err.Error()
}

// load reads what a file means, or takes it from the set before.
func (l *loader) load(ctx context.Context, w *worker, from source, text []byte, file *loaded) *loaded {
	if old := l.unchanged(from, file); old != nil {
		return old
	}
	shown := l.show(from.path)
	switch {
	case kindOfFile(from.path) == luaTool && file.module:
	case kindOfFile(from.path) == luaTool:
		l.loadLua(ctx, w, shown, text, file)
	case from.script != "":
		e := &Error{File: shown, Problem: "the path of [tools.script." + from.script + "] must be a .lua or .luau file", Hint: "a YAML tool has its own config: put its folder into [tools] dirs"}
		file.broken = []Broken{broken(shown, from.script, e)}
	default:
		file.tools, file.broken = readYAML(shown, text, func(name string) (script, error) { return l.script(from.path, name, file) })
	}
	for _, tool := range file.tools {
		if l.usesModules(tool) {
			tool.Hash = sum([]byte(tool.Hash), []byte(l.modules))
			file.modules = l.modules
		}
	}
	return file
}

// unchanged is what the set before has of a file; nil when something is different. What was broken is tried
// again: it may have been for want of time.
func (l *loader) unchanged(from source, file *loaded) *loaded {
	if l.o.Previous == nil {
		return nil
	}
	old := l.o.Previous.files[from]
	if old == nil || len(old.broken) > 0 || old.digest != file.digest || old.modules != "" && old.modules != l.modules {
		return nil
	}
	for _, script := range old.scripts {
		text, err := l.read(script.path)
		if err == nil != (script.digest != "") || err == nil && sum(text) != script.digest {
			return nil
		}
	}
	return old
}

func (l *loader) loadLua(ctx context.Context, w *worker, shown string, text []byte, file *loaded) {
	clean, err := module.CleanText(shown, text)
	if err == nil && w.vm == nil {
		w.vm, err = l.newVM(ctx)
	}
	if err == nil && l.slow.Load() >= maxSlow {
		err = fmt.Errorf("it was not read: %d tools before it took too long", maxSlow)
	}
	if err != nil {
		file.broken = []Broken{broken(shown, "", &Error{File: shown, Problem: err.Error(), Err: err})}
		return
	}
	tool, broken := readLua(ctx, w.vm, shown, string(clean))
	file.broken = broken
	if tool != nil {
		file.tools = []*Tool{tool}
	} else if luau.CodeOf(broken[0].Err) == luau.CodeTimeout {
		l.slow.Add(1)
	}
}

func (l *loader) newVM(ctx context.Context) (*luaVM, error) {
	config, err := l.config()
	if err != nil {
		return nil, err
	}
	vm, err := newLuaVM(ctx, config, l.o.ReadTime)
	if err == nil {
		vm.resolverOf = l.o.Resolver
	}
	return vm, err
}

// script reads the lua_file of a YAML file and notes that it did.
func (l *loader) script(yaml, name string, file *loaded) (script, error) {
	dir := path.Dir(yaml)
	at := path.Join(dir, name)
	root := l.root
	if !below(root, dir) {
		root = dir // a folder elsewhere, which the configuration names
	}
	if path.IsAbs(name) || !below(root, at) {
		return script{}, &worded{"the path must be relative to the YAML file and stay in the folder of the tools", module.ErrOutside}
	}
	if kindOfFile(at) != luaTool {
		return script{}, errors.New("the name of a script ends in .luau or .lua")
	}
	text, err := l.read(at)
	if err == nil && l.total.Add(int64(len(text))) > maxTotal {
		err = fmt.Errorf("the tool files have more than %d MiB together", maxTotal>>20)
	}
	if err != nil {
		file.scripts = append(file.scripts, dependency{path: at})
		return script{}, err
	}
	file.scripts = append(file.scripts, dependency{at, sum(text)})
	clean, err := module.CleanText(l.show(at), text)
	return script{chunk: "@" + l.show(at), source: string(clean)}, err
}

func below(root, file string) bool {
	return file == root || strings.HasPrefix(file, strings.TrimSuffix(root, "/")+"/")
}

// usesModules says whether a script requires modules from files: another version of one makes another
// version of the tool.
func (l *loader) usesModules(tool *Tool) bool {
	if !strings.Contains(tool.Source, "require") {
		return false
	}
	n := scan(tool.Chunk, tool.Source)
	return slices.ContainsFunc(n.required(), func(name string) bool {
		return !sdkModules[name]
	})
}

// requirement is one place where a script requires a module.
type requirement struct {
	name string // "" when it is not written out
	line int
}

// required are the names that a script requires; "" is one that is not written out.
func (n *names) required() (list []string) {
	for _, r := range n.requirements() {
		list = append(list, r.name)
	}
	return list
}

func (n *names) requirements() (list []requirement) {
	for i, t := range n.tokens {
		if t.Text != "require" || t.Kind != luaudoc.TokenWord || n.is(i-1, ".") {
			continue
		}
		at := i + 1
		if n.is(at, "(") {
			at++
		}
		name := ""
		if at < len(n.tokens) {
			name, _ = n.tokens[at].Quoted()
		}
		list = append(list, requirement{name, t.Line})
	}
	return list
}
