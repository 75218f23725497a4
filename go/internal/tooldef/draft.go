package tooldef

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/spelling"
)

// draft is a definition while it is read: a tree, and where its parts stand.
type draft struct {
	file string
	tree map[string]any
	// at finds the place of a part, or of the nearest one around it.
	at   func(path ...string) (line, column int)
	tool Tool
	errs []error
}

// maxErrors of one definition are told: the later ones mostly follow from the first.
const maxErrors = 20

// fail notes what is wrong with a part.
func (d *draft) fail(path []string, hint, format string, args ...any) {
	if len(d.errs) >= maxErrors {
		return
	}
	line, column := d.at(path...)
	d.errs = append(d.errs, &Error{File: d.file, Line: line, Column: column, Problem: fmt.Sprintf(format, args...), Hint: hint})
}

// cause notes an error of another part of the program.
func (d *draft) cause(path []string, what string, err error) {
	line, column := d.at(path...)
	d.errs = append(d.errs, &Error{File: d.file, Line: line, Column: column, Problem: what + err.Error(), Err: err})
}

// broken are the errors as entries of a set.
func (d *draft) broken() []Broken {
	list := make([]Broken, len(d.errs))
	for i, err := range d.errs {
		list[i] = broken(d.file, d.tool.Name, err)
	}
	return list
}

// field reads one part of a draft.
type field func(d *draft, path []string, v any)

// read calls the field of each key and refuses other keys. A null is as good as nothing.
func (d *draft) read(tree map[string]any, path []string, fields map[string]field) {
	for _, key := range sortedKeys(tree) {
		v, at := tree[key], append(slices.Clone(path), key)
		read, known := fields[key]
		switch {
		case !known:
			d.fail(at, suggest(key, sortedKeys(fields)), "unknown key %q%s", clip(key), inside(path))
		case v != nil:
			read(d, at, v)
		}
	}
}

func suggest(name string, known []string) string {
	if near := spelling.Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "the keys are " + strings.Join(known, ", ")
}

func inside(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return " in " + strings.Join(path, ".")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// kindOf names what a tree is, for messages.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "the boolean " + strconv.FormatBool(v)
	case float64, json.Number:
		return fmt.Sprintf("the number %v", v)
	case string:
		return "the text " + strconv.Quote(clip(v))
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	}
	return fmt.Sprintf("a %T", v)
}

// wrong notes that a part is of another kind.
func (d *draft) wrong(path []string, want string, got any) {
	hint := ""
	switch got.(type) {
	case bool, float64, json.Number:
		if want == "a text" {
			hint = "put it in quotes"
		}
	}
	d.fail(path, hint, "%s must be %s, got %s", strings.Join(path, "."), want, kindOf(got))
}

func (d *draft) text(path []string, v any) (string, bool) {
	text, ok := v.(string)
	switch {
	case !ok:
		d.wrong(path, "a text", v)
	case strings.ContainsRune(text, 0):
		d.fail(path, "", "%s has a NUL byte", strings.Join(path, "."))
		return "", false
	}
	return text, ok
}

func (d *draft) flag(path []string, v any) (flag, ok bool) {
	if flag, ok = v.(bool); !ok {
		d.wrong(path, "true or false", v)
	}
	return flag, ok
}

func (d *draft) mapping(path []string, v any) (map[string]any, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		d.wrong(path, "a mapping", v)
	}
	return m, ok
}

// maxItems of a list of names.
const maxItems = 1000

func (d *draft) texts(path []string, v any) []string {
	list, ok := v.([]any)
	if !ok {
		d.wrong(path, "a list of texts", v)
		return nil
	}
	if len(list) > maxItems {
		d.fail(path, "", "%s has %d entries; at most %d are allowed", strings.Join(path, "."), len(list), maxItems)
		return nil
	}
	texts := make([]string, 0, len(list))
	for i, item := range list {
		at := append(slices.Clone(path), strconv.Itoa(i))
		text, ok := d.text(at, item)
		switch {
		case ok && strings.TrimSpace(text) == "":
			d.fail(at, "", "%s is empty", strings.Join(at, "."))
		case ok:
			texts = append(texts, text)
		}
	}
	return texts
}

// textField, flagField and mapField put a part where it belongs.
func textField(to func(*Tool) *string) field {
	return func(d *draft, path []string, v any) { *to(&d.tool), _ = d.text(path, v) }
}

func flagField(to func(*Tool) *bool) field {
	return func(d *draft, path []string, v any) { *to(&d.tool), _ = d.flag(path, v) }
}

func hintField(to func(*Annotations) **bool) field {
	return func(d *draft, path []string, v any) {
		if flag, ok := d.flag(path, v); ok {
			*to(&d.tool.Annotations) = &flag
		}
	}
}

func listField(to func(*Permissions) *[]string) field {
	return func(d *draft, path []string, v any) { *to(&d.tool.Permissions) = d.texts(path, v) }
}
