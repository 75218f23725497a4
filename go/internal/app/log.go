package app

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/visible"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// LogFormat says which log records of scripts are shown and how. The zero value shows all as text.
type LogFormat struct {
	Least hostmod.Level
	JSON  bool // one object a line
}

func (f LogFormat) writer(w io.Writer) func(engine.Record) {
	return func(r engine.Record) {
		switch {
		case r.Level < f.Least:
		case f.JSON:
			writeJSONRecord(w, r)
		default:
			writeRecord(w, r)
		}
	}
}

func writeRecord(w io.Writer, r engine.Record) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %-5s %s", r.Time.Format("15:04:05.000"), r.Level, visible.Message(r.Message))
	for _, name := range slices.Sorted(maps.Keys(r.Fields)) {
		fmt.Fprintf(&b, " %s=%s", word(name), word(luau.Format(r.Fields[name])))
	}
	b.WriteByte('\n')
	_, _ = io.WriteString(w, b.String())
}

// word quotes a text that would not read as one word of the line.
func word(text string) string {
	strange := func(r rune) bool { return r <= ' ' || r == '"' || r == '=' || !strconv.IsPrint(r) }
	if text == "" || strings.ContainsFunc(text, strange) {
		return strconv.Quote(text)
	}
	return text
}

func writeJSONRecord(w io.Writer, r engine.Record) {
	record := map[string]any{"time": r.Time.Format(time.RFC3339Nano), "level": r.Level.String(), "message": r.Message}
	if len(r.Fields) > 0 {
		record["fields"] = r.Fields
	}
	text, err := json.Marshal(record)
	if err != nil {
		delete(record, "fields") // of a kind that JSON has not
		text, _ = json.Marshal(record)
	}
	_, _ = w.Write(append(visible.JSON(text), '\n'))
}
