package tooldef

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
)

// What definitions of both dialects have.
var sharedFields = map[string]field{
	"name":        readName,
	"title":       textField(func(t *Tool) *string { return &t.Title }),
	"description": textField(func(t *Tool) *string { return &t.Description }),
	"version":     textField(func(t *Tool) *string { return &t.Version }),
	"annotations": readAnnotations,
	"tags":        func(d *draft, path []string, v any) { d.tool.Tags = d.texts(path, v) },
	"timeout":     readTimeout,
	"memory":      readMemory,
	"isolation":   readIsolation,
	"permissions": readPermissions,
	"rate":        readRate,
	"approve":     flagField(func(t *Tool) *bool { return &t.Approve }),
	"config":      readConfig,
	"examples":    readExamples,
}

var annotationFields = map[string]field{
	"readOnlyHint":    hintField(func(a *Annotations) **bool { return &a.ReadOnly }),
	"destructiveHint": hintField(func(a *Annotations) **bool { return &a.Destructive }),
	"idempotentHint":  hintField(func(a *Annotations) **bool { return &a.Idempotent }),
	"openWorldHint":   hintField(func(a *Annotations) **bool { return &a.OpenWorld }),
	"title": func(d *draft, path []string, v any) {
		title, ok := d.text(path, v)
		if d.tool.Annotations.Title = title; ok && d.tree["title"] == nil {
			d.tool.Title = title
		}
	},
}

var permissionFields = func() map[string]field {
	fields := map[string]field{}
	for _, list := range permissionLists {
		fields[list.key] = listField(list.of)
	}
	return fields
}()

func readName(d *draft, path []string, v any) {
	name, ok := d.text(path, v)
	if !ok {
		return
	}
	if err := CheckName(name); err != nil {
		d.fail(path, "", "%s", err)
		return
	}
	d.tool.Name = name
}

func readAnnotations(d *draft, path []string, v any) {
	if m, ok := d.mapping(path, v); ok {
		d.read(m, path, annotationFields)
	}
}

func readPermissions(d *draft, path []string, v any) {
	m, ok := d.mapping(path, v)
	if !ok {
		return
	}
	d.read(m, path, permissionFields)
	p := d.tool.Permissions
	if err := (httpmod.Policy{Net: p.Net, NetPrivate: p.NetPrivate}).Check(); err != nil {
		d.fail(path, "", "permissions.%s", err)
	}
}

func readTimeout(d *draft, path []string, v any) {
	timeout, err := parseDuration(v)
	if err != nil {
		d.fail(path, "", "timeout %s", err)
	}
	d.tool.Timeout = timeout
}

func readMemory(d *draft, path []string, v any) {
	memory, err := parseSize(v)
	if err != nil {
		d.fail(path, "", "memory %s", err)
	}
	d.tool.Memory = memory
}

// ParseIsolation reads "pristine" or "thread".
func ParseIsolation(text string) (isolation engine.Isolation, ok bool) {
	switch text {
	case "pristine":
		return engine.Pristine, true
	case "thread":
		return engine.Shared, true
	}
	return engine.Pristine, false
}

func readIsolation(d *draft, path []string, v any) {
	text, _ := v.(string)
	isolation, ok := ParseIsolation(text)
	if !ok {
		d.wrong(path, `"pristine" or "thread"`, v)
	}
	d.tool.Isolation = isolation
}

var rateFields = map[string]field{
	"calls": func(d *draft, path []string, v any) {
		n, ok := v.(float64)
		if !ok || n != float64(int(n)) {
			d.wrong(path, "a whole number", v)
			return
		}
		d.tool.Rate.Calls = int(n)
	},
	"per": func(d *draft, path []string, v any) {
		per, err := parseDuration(v)
		if err != nil {
			d.fail(path, "", "rate.per %s", err)
		}
		d.tool.Rate.Per = per
	},
}

func readRate(d *draft, path []string, v any) {
	before := len(d.errs)
	var err error
	switch v := v.(type) {
	case string:
		d.tool.Rate, err = parseRate(v)
	case map[string]any:
		if d.read(v, path, rateFields); len(d.errs) == before {
			_, err = checkRate(d.tool.Rate)
		}
	default:
		d.wrong(path, `a text such as "10/1m" or a mapping of calls and per`, v)
	}
	if err != nil {
		d.fail(path, "", "%s", err)
	}
}

func readConfig(d *draft, path []string, v any) {
	d.tool.Config, _ = d.mapping(path, v)
}

func readExamples(d *draft, path []string, v any) {
	list, ok := v.([]any)
	if !ok {
		d.wrong(path, "a list", v)
		return
	}
	for i, item := range list {
		at := append(slices.Clone(path), strconv.Itoa(i))
		if m, ok := d.mapping(at, item); ok {
			d.tool.Examples = append(d.tool.Examples, d.example(at, m))
		}
	}
}

func (d *draft) example(path []string, m map[string]any) Example {
	line, _ := d.at(path...)
	e := Example{Line: line, Args: map[string]any{}}
	within := func(read func(at []string, v any)) field {
		return func(_ *draft, at []string, v any) { read(at, v) }
	}
	want, given := m["result"]
	d.read(m, path, map[string]field{
		"name":   within(func(at []string, v any) { e.Name, _ = d.text(at, v) }),
		"error":  within(func(at []string, v any) { e.Error, _ = d.text(at, v) }),
		"result": within(func([]string, any) {}),
		"args": within(func(at []string, v any) {
			if args, ok := d.mapping(at, v); ok {
				e.Args = args
			}
		}),
	})
	if given && e.Error != "" {
		d.fail(path, "leave one out", "%s has both result and error", strings.Join(path, "."))
	}
	e.Want, e.Any = want, !given && e.Error == ""
	return e
}
