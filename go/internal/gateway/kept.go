package gateway

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// part gives what a path leads to in a result, and of that the items, or characters, from one to another: both
// counted from 1, and 0 is not given.
func part(text []byte, path string, from, to int) (kind, found string, err error) {
	if path == "" && from == 0 && to == 0 {
		return sdkmod.JSON, string(text), nil
	}
	tree, err := jsonvalue.Decode(text, jsonvalue.Options{})
	if err != nil {
		return "", "", err
	}
	if tree, err = follow(tree, path); err != nil {
		return "", "", err
	}
	if tree, err = cut(tree, from, to); err != nil {
		return "", "", err
	}
	if text, ok := tree.(string); ok {
		return sdkmod.Text, text, nil
	}
	encoded, err := jsonvalue.Encode(tree)
	return sdkmod.JSON, string(encoded), err
}

// follow leads into a tree: "items.3.title", with items counted from 1 as scripts do.
func follow(tree any, path string) (any, error) {
	walked := "the result"
	for rest := path; rest != ""; {
		var step string
		switch v := tree.(type) {
		case map[string]any:
			step, rest = longestKey(v, rest)
			inner, there := v[step]
			if !there {
				return nil, noField(walked, step, v)
			}
			tree = inner
		case []any:
			step, rest, _ = strings.Cut(rest, ".")
			i, err := strconv.Atoi(step)
			if err != nil || i < 1 || i > len(v) {
				return nil, badPath("%s is an array of %d items, and has no item %q", walked, len(v), step)
			}
			tree = v[i-1]
		default:
			return nil, badPath("%s is %s, and has no %q", walked, nameOf(tree), rest)
		}
		walked = strings.TrimPrefix(walked+"."+step, "the result.")
	}
	return tree, nil
}

// longestKey splits a path behind the longest name that there is: names may have dots.
func longestKey(object map[string]any, path string) (key, rest string) {
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		if _, there := object[path[:end]]; there {
			return path[:end], strings.TrimPrefix(path[end:], ".")
		}
	}
	key, rest, _ = strings.Cut(path, ".")
	return key, rest
}

func noField(walked, step string, object map[string]any) error {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	hint := ""
	if near := spelling.Nearest(step, names); near != "" {
		hint = fmt.Sprintf(", did you mean %q?", near)
	}
	return badPath("%s has no field %q%s", walked, spelling.Clip(step, 100), hint)
}

func badPath(format string, args ...any) error {
	return &luau.Error{Code: "not_found", Message: "read_result: " + fmt.Sprintf(format, args...)}
}

func nameOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	}
	return "a number"
}

func cut(tree any, from, to int) (any, error) {
	if from == 0 && to == 0 {
		return tree, nil
	}
	switch v := tree.(type) {
	case []any:
		first, last := bounds(from, to, len(v))
		return v[first:last], nil
	case string:
		if !utf8.ValidString(v) {
			v = strings.ToValidUTF8(v, "\uFFFD")
		}
		characters := []rune(v)
		first, last := bounds(from, to, len(characters))
		return string(characters[first:last]), nil
	}
	return nil, badPath("a range is of an array or a string, and this is %s", describe(tree))
}

func describe(tree any) string {
	if _, ok := tree.(map[string]any); ok {
		return "an object"
	}
	return nameOf(tree)
}

// bounds make a range of Luau one of Go; what is outside is left out.
func bounds(from, to, length int) (first, last int) {
	first, last = max(from, 1)-1, to
	if last <= 0 || last > length {
		last = length
	}
	return min(first, last), last
}
