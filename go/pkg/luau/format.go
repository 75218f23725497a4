package luau

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Format shows a converted value as a person would write it: texts as they are, tables like
// `{1, 2, name = "x"}`.
func Format(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b strings.Builder
	format(&b, v, 0)
	return b.String()
}

func format(b *strings.Builder, v any, depth int) {
	switch v := v.(type) {
	case nil:
		b.WriteString("nil")
	case string:
		b.WriteString(strconv.Quote(v))
	case float64:
		b.WriteString(FormatNumber(v))
	case []any:
		b.WriteByte('{')
		for i, item := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			format(b, item, depth+1)
		}
		b.WriteByte('}')
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		b.WriteByte('{')
		for i, k := range keys {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(k + " = ")
			format(b, v[k], depth+1)
		}
		b.WriteByte('}')
	case Null:
		b.WriteString("null")
	case []byte:
		fmt.Fprintf(b, "buffer of %d bytes", len(v))
	case *Function, *Func:
		b.WriteString("a function")
	case *Thread:
		b.WriteString("a thread")
	case *Table:
		b.WriteString("a table")
	case *Object:
		b.WriteString("an object")
	case Vector:
		fmt.Fprintf(b, "%v, %v, %v", v[0], v[1], v[2])
	default:
		fmt.Fprint(b, v)
	}
}

// FormatNumber writes a number in its shortest exact form, as JavaScript does; NaN and infinities
// as Luau prints them.
func FormatNumber(n float64) string {
	text, err := json.Marshal(n)
	if err != nil {
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(n, 'g', -1, 64), "+"))
	}
	return string(text)
}
