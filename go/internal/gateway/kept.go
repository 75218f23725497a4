package gateway

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// part gives what a path leads to in a result, and of that the items, or characters, from one to another: both
// counted from 1, and 0 is not given.
func part(text []byte, path string, from, to int) (as, found string, err error) {
	if path == "" && from == 0 && to == 0 {
		return sdkmod.JSON, string(text), nil
	}
	if text, err = follow(text, path); err != nil {
		return "", "", err
	}
	if kind(text) == '"' {
		var whole string
		if err := json.Unmarshal(text, &whole); err != nil {
			return "", "", err
		}
		return sdkmod.Text, characters(whole, from, to), nil
	}
	if from == 0 && to == 0 {
		return sdkmod.JSON, string(text), nil
	}
	if kind(text) != '[' {
		return "", "", badPath("a range is of an array or a string, and this is %s", nameOf(text))
	}
	return sdkmod.JSON, itemsOf(text, from, to), nil
}

// follow leads into a value: "items.3.title", with items counted from 1 as scripts do.
func follow(text []byte, path string) ([]byte, error) {
	walked := "the result"
	for rest := path; rest != ""; {
		var step string
		switch kind(text) {
		case '{':
			inner, behind, err := field(text, rest, walked)
			if err != nil {
				return nil, err
			}
			step, _ = strings.CutSuffix(rest, behind)
			step, text, rest = strings.TrimSuffix(step, "."), inner, behind
		case '[':
			step, rest, _ = strings.Cut(rest, ".")
			i, err := strconv.Atoi(step)
			inner, count := item(text, i)
			if err != nil || inner == nil {
				return nil, badPath("%s is an array of %d items, and has no item %q", walked, count, spelling.Clip(step, 100))
			}
			text = inner
		default:
			return nil, badPath("%s is %s, and has no %q", walked, nameOf(text), spelling.Clip(rest, 100))
		}
		walked = strings.TrimPrefix(walked+"."+step, "the result.")
	}
	return text, nil
}

// field finds the member that a path begins with: the longest name that there is, as names may have dots. rest is the
// path behind it.
func field(text []byte, path, walked string) (value []byte, rest string, err error) {
	longest := -1
	var names []string
	fields(text, func(name string, inner []byte) {
		if len(names) < maxNamed {
			names = append(names, name)
		}
		behind, begins := strings.CutPrefix(path, name)
		if begins && len(name) > longest && (behind == "" || behind[0] == '.') {
			longest, value, rest = len(name), inner, strings.TrimPrefix(behind, ".")
		}
	})
	if longest >= 0 {
		return value, rest, nil
	}
	step, _, _ := strings.Cut(path, ".")
	hint := ""
	if near := spelling.Nearest(step, names); near != "" {
		hint = fmt.Sprintf(", did you mean %q?", near)
	}
	return nil, "", badPath("%s has no field %q%s", walked, spelling.Clip(step, 100), hint)
}

// maxNamed is how many names of an object are compared with one that it does not have.
const maxNamed = 1000

// item is one of an array, counted from 1; nil where there is none. count is how many there are then.
func item(text []byte, wanted int) (found []byte, count int) {
	items(text, func(from, to int) bool {
		if count++; count == wanted {
			found = text[from:to]
		}
		return found == nil
	})
	return found, count
}

// itemsOf are those of an array from one to another; what is outside is left out.
func itemsOf(text []byte, from, to int) string {
	first, last, count := -1, -1, 0
	items(text, func(at, end int) bool {
		if count++; count >= from && (to <= 0 || count <= to) {
			if first < 0 {
				first = at
			}
			last = end
		}
		return to <= 0 || count < to
	})
	if first < 0 {
		return "[]"
	}
	return "[" + string(text[first:last]) + "]"
}

// characters are those of a text from one to another.
func characters(text string, from, to int) string {
	if from == 0 && to == 0 {
		return text
	}
	first, last, count := len(text), len(text), 0
	for at := range text {
		if count++; count == max(from, 1) {
			first = at
		}
		if to > 0 && count == to+1 {
			last = at
			break
		}
	}
	return text[min(first, last):last]
}

func badPath(format string, args ...any) error {
	return &luau.Error{Code: "not_found", Message: "read_result: " + fmt.Sprintf(format, args...)}
}

func nameOf(text []byte) string {
	switch kind(text) {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
