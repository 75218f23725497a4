package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/hukilau/hukilau/go/internal/redact"
	"github.com/hukilau/hukilau/go/internal/tomltext"
)

const mostText = 1 << 20 // bytes of a file

// reader is one reading of a file.
type reader struct {
	options Options
	places  places
	errors  Errors
	secrets map[string]bool
	unset   []Unset
	tables  []*table // all that were read
}

// fail notes what is wrong with the value at a path.
func (r *reader) fail(path []string, problem string) { r.failAt(path, path, problem) }

// failAt notes it at the place of one path with the name of another.
func (r *reader) failAt(place, name []string, problem string) {
	for _, u := range r.unset {
		if len(name) <= len(u.Path) && len(name) > 1 && slices.Equal(name, u.Path[:len(name)]) {
			return // nobody knows what will stand there
		}
	}
	r.errors = append(r.errors, r.errorAt(place, name, problem))
}

func (r *reader) errorAt(place, name []string, problem string) *Error {
	e := &Error{File: r.options.Name, Key: dotted(name), Problem: problem}
	if e.Key == "" {
		e.Key = "the file"
	}
	e.Line, e.Column = r.places.find(place)
	return e
}

// failed gives all errors in order.
func (r *reader) failed() Errors {
	const most = 50
	slices.SortStableFunc(r.errors, byPlace)
	return r.errors[:min(len(r.errors), most)]
}

func byPlace(a, b *Error) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) }

func (r *reader) secretList() []string { return sortedNames(r.secrets) }

// redacted is for messages that quote a value.
func (r *reader) redacted(text string) string { return redact.New(r.secretList()).Text(text) }

// dotted writes a path as TOML does.
func dotted(path []string) string {
	var out strings.Builder
	for i, key := range path {
		if i > 0 {
			out.WriteByte('.')
		}
		if key == "" || strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			key = strconv.Quote(key)
		}
		out.WriteString(key)
	}
	return out.String()
}

// byteOrderMark stands before the text where some editors save it.
var byteOrderMark = []byte("\ufeff")

// parse makes a tree of the text and notes where its keys are.
func (r *reader) parse(data []byte) map[string]any {
	whole := func(line, column int, problem string) map[string]any {
		r.errors = append(r.errors, &Error{File: r.options.Name, Line: line, Column: column, Problem: problem})
		return nil
	}
	if len(data) > mostText {
		return whole(0, 0, fmt.Sprintf("the file has more than %d bytes", mostText))
	}
	if bounds := tomltext.CheckBounds(data); bounds != nil {
		return whole(bounds.Line, bounds.Column, bounds.Problem)
	}
	data = bytes.TrimPrefix(data, byteOrderMark)
	tree := map[string]any{}
	if err := toml.Unmarshal(data, &tree); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return whole(line, column, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return whole(0, 0, strings.TrimPrefix(err.Error(), "toml: "))
	}
	r.places = findPlaces(data)
	return r.plain(nil, tree).(map[string]any)
}

// plain makes a JSON tree of what the parser gives.
func (r *reader) plain(path []string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			v[key] = r.plain(append(slices.Clip(path), key), item)
		}
	case []any:
		for i, item := range v {
			v[i] = r.plain(append(slices.Clip(path), strconv.Itoa(i)), item)
		}
	case int64:
		if v > 1<<53-1 || v < -(1<<53-1) {
			return json.Number(strconv.FormatInt(v, 10))
		}
		return float64(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			r.fail(path, "must be a finite number")
			return 0.0
		}
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case fmt.Stringer: // a local date or time
		return v.String()
	}
	return v
}
