package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/units"
)

// table is one table of the file while it is read. One that is not in the file is empty.
type table struct {
	reader *reader
	path   []string
	values map[string]any
	asked  []string // the keys that are known here
}

func (r *reader) table(path []string, values map[string]any) *table {
	t := &table{reader: r, path: path, values: values}
	r.tables = append(r.tables, t)
	return t
}

func (t *table) at(key string) []string { return append(slices.Clip(t.path), key) }

func (t *table) fail(key, problem string) { t.reader.fail(t.at(key), problem) }

// missing notes that a key must be there; the place is that of its table.
func (t *table) missing(key, what string) {
	if !t.has(key) {
		t.reader.fail(t.path, fmt.Sprintf("needs %s: %s", key, what))
	} else {
		t.failOnce(key, "must not be empty: "+what)
	}
}

// failOnce is fail for what may follow from a mistake that was told.
func (t *table) failOnce(key, problem string) {
	name := dotted(t.at(key))
	if !slices.ContainsFunc(t.reader.errors, func(e *Error) bool { return e.Key == name }) {
		t.fail(key, problem)
	}
}

func (t *table) has(key string) bool { return t.values[key] != nil }

// value gives what stands under a key, if it is of the type wanted.
func value[V any](t *table, key, wanted string) (v V, is bool) {
	t.asked = append(t.asked, key)
	found := t.values[key]
	if found == nil {
		return v, false
	}
	if v, is = found.(V); !is {
		t.fail(key, fmt.Sprintf("must be %s, not %s", wanted, nameOf(found)))
	}
	return v, is
}

func nameOf(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case []any:
		return "an array"
	case map[string]any:
		return "a table"
	}
	return "a number"
}

func (t *table) string(key string) string {
	v, _ := value[string](t, key, "a string")
	return v
}

func (t *table) bool(key string) bool {
	v, _ := value[bool](t, key, "true or false")
	return v
}

// choice is nil where nothing is said.
func (t *table) choice(key string) *bool {
	v, said := value[bool](t, key, "true or false")
	if !said {
		return nil
	}
	return &v
}

// strings gives a list; nil where there is none.
func (t *table) strings(key string) []string {
	items, is := value[[]any](t, key, "a list of strings")
	if !is {
		return nil
	}
	list := make([]string, 0, len(items))
	for i, item := range items {
		text, is := item.(string)
		if !is {
			t.reader.fail(append(t.at(key), strconv.Itoa(i)), "must be a string, not "+nameOf(item))
		}
		list = append(list, text)
	}
	return list
}

// texts gives a table of strings.
func (t *table) texts(key string) map[string]string {
	items, is := value[map[string]any](t, key, "a table of strings")
	if !is {
		return nil
	}
	list := make(map[string]string, len(items))
	for name, item := range items {
		text, is := item.(string)
		if !is {
			t.reader.fail(append(t.at(key), name), "must be a string, not "+nameOf(item))
		}
		list[name] = text
	}
	return list
}

func (t *table) oneOf(key string, allowed ...string) string {
	v, is := value[string](t, key, "a string")
	if is && !slices.Contains(allowed, v) {
		t.fail(key, "must be one of "+strings.Join(allowed, ", ")+nearest(v, allowed))
		return ""
	}
	return v
}

func (t *table) count(key string, least int) int {
	t.asked = append(t.asked, key)
	switch v := t.values[key].(type) {
	case nil:
		return 0
	case float64:
		if v == math.Trunc(v) && v >= float64(least) && v <= math.MaxInt32 {
			return int(v)
		}
		t.fail(key, fmt.Sprintf("must be a whole number of at least %d", least))
	case json.Number:
		t.fail(key, "is too large")
	default:
		t.fail(key, "must be a whole number, not "+nameOf(v))
	}
	return 0
}

// measured reads a value by one of package units, whose messages do not show it where it may be secret.
func measured[V any](t *table, key string, parse func(any) (V, error)) (v V) {
	t.asked = append(t.asked, key)
	found := t.values[key]
	if found == nil {
		return v
	}
	v, err := parse(found)
	if err != nil {
		t.fail(key, t.reader.redacted(err.Error()))
	}
	return v
}

func (t *table) duration(key string) time.Duration { return measured(t, key, units.ParseDuration) }
func (t *table) size(key string) int64             { return measured(t, key, units.ParseSize) }
func (t *table) rate(key string) units.Rate        { return measured(t, key, units.ParseRate) }

// section gives a table within this one.
func (t *table) section(key string) *table {
	values, _ := value[map[string]any](t, key, "a table")
	return t.reader.table(t.at(key), values)
}

// sections gives each table within this one by its name, in the order of names.
func (t *table) sections() func(yield func(string, *table) bool) {
	return func(yield func(string, *table) bool) {
		for _, name := range sortedNames(t.values) {
			if !yield(name, t.section(name)) {
				return
			}
		}
	}
}

// rest gives all that was not asked for, as a tree of its own.
func (t *table) rest() map[string]any {
	rest := map[string]any{}
	for key, v := range t.values {
		if !slices.Contains(t.asked, key) {
			rest[key] = v
		}
	}
	return rest
}

// end notes the keys that are not known here.
func (t *table) end() {
	for _, key := range sortedNames(t.rest()) {
		t.reader.failAt(t.at(key), t.path, "has no key "+strconv.Quote(key)+didYouMean(key, t.asked))
	}
}

func didYouMean(name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return near
	}
	if len(known) > 0 && len(known) <= 12 {
		return "; known are " + strings.Join(known, ", ")
	}
	return ""
}

// nearest asks whether another name was meant; "" where none is near.
func nearest(name string, among []string) string {
	if found := spelling.Nearest(name, among); found != "" {
		return fmt.Sprintf(" (did you mean %q?)", found)
	}
	return ""
}

// off says that a switch, which is on otherwise, is off.
func (t *table) off(key string) bool {
	said := t.choice(key)
	return said != nil && !*said
}

// any gives a value of any type.
func (t *table) any(key string) any {
	t.asked = append(t.asked, key)
	return t.values[key]
}

// list gives a list of any values; nil where there is none.
func (t *table) list(key string) []any {
	v, _ := value[[]any](t, key, "a list")
	return v
}

// patterns gives a list of patterns; nil where there is none. One alone may stand without brackets.
func (t *table) patterns(key string, single bool) []Pattern {
	var texts []string
	if text, is := t.values[key].(string); is && single {
		t.asked = append(t.asked, key)
		texts = []string{text}
	} else if texts = t.strings(key); texts == nil {
		return nil
	}
	list := make([]Pattern, len(texts))
	for i, text := range texts {
		if text == "" {
			t.fail(key, `has an empty pattern, which fits nothing: write "*" for all`)
		}
		list[i] = Pattern(text)
	}
	return list
}

// tables gives the tables of a list, as [[name]] writes it.
func (t *table) tables(key string) (list []*table) {
	items, _ := value[[]any](t, key, "a list of tables, as [["+dotted(t.at(key))+"]]")
	for i, item := range items {
		path := append(t.at(key), strconv.Itoa(i))
		values, is := item.(map[string]any)
		if !is {
			t.reader.fail(path, "must be a table, not "+nameOf(item))
			continue
		}
		list = append(list, t.reader.table(path, values))
	}
	return list
}

// headers gives a table of HTTP headers. Messages do not show values: there may be secrets in them.
func (t *table) headers(key string) map[string]string {
	list := t.texts(key)
	t.checkHeaders(key, list)
	return list
}

func (t *table) checkHeaders(key string, list map[string]string) {
	for _, name := range sortedNames(list) {
		path := append(t.at(key), name)
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			t.reader.fail(path, "is no name of a header")
		case !httpguts.ValidHeaderFieldValue(list[name]):
			t.reader.fail(path, "has characters that a header cannot have")
		}
	}
}

// port gives a TCP port; 0 where there is none.
func (t *table) port(key string) int {
	n := t.count(key, 1)
	if n > math.MaxUint16 {
		t.fail(key, "must be a port, at most 65535")
	}
	return n
}
