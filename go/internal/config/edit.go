package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/tomltext"
)

// AddToList gives a list in a table the texts of all that it has not, and makes list and table where they are
// missing. All else of the file stays as it is, comments too. The file must be right.
func AddToList(file []byte, table []string, key string, all []string) ([]byte, error) {
	if rest, marked := bytes.CutPrefix(file, byteOrderMark); marked {
		edited, err := AddToList(rest, table, key, all)
		return append(slices.Clone(byteOrderMark), edited...), err
	}
	if bad := tomltext.CheckBounds(file); bad != nil {
		return nil, bad
	}
	e := editor{text: file, table: table, path: append(slices.Clone(table), key), newline: newlineOf(file), insertAt: -1}
	for _, text := range all {
		item, err := jsonvalue.Encode(text)
		if err != nil {
			return nil, err
		}
		e.all, e.items = append(e.all, text), append(e.items, string(item))
	}
	if err := e.look(); err != nil {
		return nil, err
	}
	return e.edited(), nil
}

// editor looks for the best place of what is to be inserted. Lower ranks are better.
type editor struct {
	text       []byte
	table      []string
	path       []string
	newline    string
	all, items []string // as texts, and as TOML

	parser   unstable.Parser
	rank     int
	insertAt int // -1: a table of its own at the end
	insert   string
	done     bool // there is the list, and insert makes it whole
}

// Ranks of places: within an inline table that stands for the table or one above it, after the header of the table, and
// beside a dotted key of the table.
const (
	inHeader = 1 + iota
	inInline
	besideDotted
)

func (e *editor) look() error {
	e.parser.Reset(e.text)
	var table []string
	for e.parser.NextExpression() && !e.done {
		node := e.parser.Expression()
		switch node.Kind {
		case unstable.Table, unstable.ArrayTable:
			var end int
			table, end = e.header(node)
			if node.Kind == unstable.Table && slices.Equal(table, e.table) {
				e.place(inHeader, lineEnd(e.text, end), e.assignment(e.path[len(e.path)-1:])+e.newline)
			}
		case unstable.KeyValue:
			if err := e.pair(table, node, false); err != nil {
				return err
			}
		}
	}
	return e.parser.Error()
}

func (e *editor) header(node *unstable.Node) (path []string, end int) {
	for it := node.Key(); it.Next(); {
		path = append(path, string(it.Node().Data))
		end = rawEnd(it.Node())
	}
	return path, end
}

func rawEnd(n *unstable.Node) int { return int(n.Raw.Offset + n.Raw.Length) }

func (e *editor) place(rank, at int, text string) {
	if e.insertAt < 0 || rank < e.rank {
		e.rank, e.insertAt, e.insert = rank, at, text
	}
}

// assignment is `key = [...]` with all texts.
func (e *editor) assignment(key []string) string {
	return dotted(key) + " = [" + strings.Join(e.items, ", ") + "]"
}

// pair looks at a key with its value, which may hold or be what is looked for.
func (e *editor) pair(above []string, node *unstable.Node, inline bool) error {
	path := slices.Clone(above)
	first, last := -1, 0
	var end int
	for it := node.Key(); it.Next(); {
		if first < 0 {
			first = int(it.Node().Raw.Offset)
		}
		last, end = int(it.Node().Raw.Offset), rawEnd(it.Node())
		path = append(path, string(it.Node().Data))
	}
	value := node.Value()
	switch {
	case slices.Equal(path, e.path):
		return e.list(value, end)
	case value.Kind == unstable.InlineTable && isAbove(path, e.path):
		after := e.assignment(e.path[len(path):])
		if it := value.Children(); it.Next() {
			after += ","
		}
		e.place(inInline, rawEnd(value), " "+after)
		for it := value.Children(); it.Next(); {
			if err := e.pair(path, it.Node(), true); err != nil {
				return err
			}
		}
	case !inline && len(path) > len(above)+1 && slices.Equal(path[:len(path)-1], e.table):
		e.place(besideDotted, lineStart(e.text, first), string(e.text[first:last])+e.assignment(e.path[len(e.path)-1:])+e.newline)
	}
	return nil
}

func isAbove(path, other []string) bool {
	return len(path) < len(other) && slices.Equal(path, other[:len(path)])
}

// list adds to the list that is there; its key ends at a place.
func (e *editor) list(value *unstable.Node, keyEnd int) error {
	if value.Kind != unstable.Array {
		return fmt.Errorf("%s is no list", dotted(e.path))
	}
	open := bytes.IndexByte(e.text[keyEnd:], '[') // between are "=" and spaces
	at, first := keyEnd+open+1, true
	have := map[string]bool{}
	for it := value.Children(); it.Next(); {
		if it.Node().Kind != unstable.String {
			return fmt.Errorf("%s has an item that is no text", dotted(e.path))
		}
		have[string(it.Node().Data)] = true
		at, first = rawEnd(it.Node()), false
	}
	var missing []string
	for i, text := range e.all {
		if !have[text] {
			missing = append(missing, e.items[i])
		}
	}
	e.done, e.insertAt, e.insert = true, at, strings.Join(missing, ", ")
	if !first && e.insert != "" {
		e.insert = ", " + e.insert
	}
	return nil
}

func (e *editor) edited() []byte {
	if e.insertAt >= 0 {
		text := e.insert
		if e.rank == inHeader && !e.done && !bytes.HasSuffix(e.text[:e.insertAt], []byte("\n")) {
			text = e.newline + text // the header is the last line, without an end
		}
		return slices.Concat(e.text[:e.insertAt], []byte(text), e.text[e.insertAt:])
	}
	return appended(e.text, "["+dotted(e.table)+"]"+e.newline+e.assignment(e.path[len(e.path)-1:])+e.newline, e.newline)
}

// newlineOf is how a file ends its lines.
func newlineOf(file []byte) string {
	if bytes.Contains(file, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// appended is a file with another table at its end, behind an empty line.
func appended(file []byte, table, newline string) []byte {
	file = bytes.TrimRight(file, "\r\n")
	if len(file) > 0 {
		file = append(slices.Clip(file), newline+newline...)
	}
	return append(file, table...)
}
