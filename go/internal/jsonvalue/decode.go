package jsonvalue

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Options is how Decode reads. The zero value is the default.
type Options struct {
	// MaxDepth bounds how deep arrays and objects are nested; 0 means MaxDepth, and more is cut to it.
	MaxDepth int
	// Room is asked for memory, in bytes, before a large value takes it: a text of many small values becomes
	// a hundred times as large. Its error ends the reading. nil allows MaxMemory.
	Room func(more int64) error
}

// MaxMemory is about how much memory a value may take, in bytes, where nobody else counts it.
const MaxMemory = 512 << 20

// Memory is asked for in steps, so that small texts ask for none.
const (
	freeMemory = 512 << 10
	memoryStep = 256 << 10
)

// About what values take, in bytes.
const (
	objectCost = 64
	groupCost  = 320 // of each so many members
	group      = 7
	arrayCost  = 40
	itemCost   = 40 // of an array, which grows by halves
	textCost   = 32
)

// shared is the largest text of which strings may be parts: a larger one would stay in memory as long as
// its shortest string.
const shared = 4 << 10

// Decode reads one value and nothing behind it. A duplicate key, text that is not UTF-8, a lone
// surrogate and too deep nesting are errors, always a *SyntaxError but for those of Room. The result
// shares no memory with data.
func Decode(data []byte, options Options) (any, error) {
	d := decoder{data: data, depth: MaxDepth, left: freeMemory, room: options.Room}
	if options.MaxDepth > 0 && options.MaxDepth < MaxDepth {
		d.depth = options.MaxDepth
	}
	if !utf8.Valid(data) {
		return nil, d.fail(firstInvalid(data), "bytes that are not UTF-8").place(data)
	}
	if len(data) <= shared {
		d.text = string(data)
	}
	v, err := d.document()
	switch {
	case err == nil:
		return v, nil
	case err.cause != nil:
		return nil, err.cause
	}
	return nil, err.place(data)
}

// take accounts for memory before it is allocated.
func (d *decoder) take(bytes int) *SyntaxError {
	if d.left -= int64(bytes); d.left >= 0 {
		return nil
	}
	more := memoryStep - d.left
	d.left += more
	if d.room != nil {
		if err := d.room(more); err != nil {
			return &SyntaxError{cause: err}
		}
		return nil
	}
	if d.taken += more; d.taken > MaxMemory {
		return d.fail(d.at, "the value takes more than %d bytes of memory", MaxMemory)
	}
	return nil
}

func firstInvalid(data []byte) int {
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

// place counts lines; only errors need it.
func (e *SyntaxError) place(data []byte) *SyntaxError {
	before := data[:e.Offset]
	e.Line = 1 + bytes.Count(before, []byte{'\n'})
	e.Column = e.Offset - bytes.LastIndexByte(before, '\n')
	return e
}

func (e *SyntaxError) under(token string) *SyntaxError {
	e.Pointer = AppendPointer("", shorten(token)) + e.Pointer
	return e
}

type decoder struct {
	data  []byte
	text  string // data as a string, where strings may be parts of it
	at    int
	depth int // how many levels are left

	left, taken int64 // of memory
	room        func(int64) error
}

func (d *decoder) fail(at int, format string, args ...any) *SyntaxError {
	return &SyntaxError{Problem: fmt.Sprintf(format, args...), Offset: at}
}

func (d *decoder) unexpected(wanted string) *SyntaxError {
	if d.at >= len(d.data) {
		return d.fail(len(d.data), "unexpected end of text, expected %s", wanted)
	}
	r, _ := utf8.DecodeRune(d.data[d.at:])
	return d.fail(d.at, "unexpected %q, expected %s", r, wanted)
}

// peek skips space and gives the next byte; 0 at the end.
func (d *decoder) peek() byte {
	for d.at < len(d.data) {
		switch c := d.data[d.at]; c {
		case ' ', '\n', '\t', '\r':
			d.at++
		default:
			return c
		}
	}
	return 0
}

func (d *decoder) document() (any, *SyntaxError) {
	v, err := d.value()
	if err == nil && (d.peek() != 0 || d.at < len(d.data)) {
		err = d.unexpected("the end of the text")
	}
	return v, err
}

func (d *decoder) value() (any, *SyntaxError) {
	switch c := d.peek(); c {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return d.boxed()
	case 't':
		return d.word("true", true)
	case 'f':
		return d.word("false", false)
	case 'n':
		return d.word("null", nil)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return d.number()
	}
	return nil, d.unexpected("a value")
}

func (d *decoder) boxed() (any, *SyntaxError) {
	before := d.at
	s, err := d.string()
	if err == nil {
		err = d.take(textCost + d.at - before)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (d *decoder) word(word string, v any) (any, *SyntaxError) {
	if !bytes.HasPrefix(d.data[d.at:], []byte(word)) {
		return nil, d.unexpected("a value")
	}
	d.at += len(word)
	return v, nil
}

func (d *decoder) enter() *SyntaxError {
	if d.depth--; d.depth < 0 {
		return d.fail(d.at, "nested too deep")
	}
	d.at++
	return nil
}

func (d *decoder) array() (any, *SyntaxError) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	list := []any{}
	if err := d.take(arrayCost); err != nil {
		return nil, err
	}
	if d.peek() == ']' {
		d.at++
		d.depth++
		return list, nil
	}
	for {
		v, err := d.value()
		if err != nil {
			return nil, err.under(strconv.Itoa(len(list)))
		}
		if err := d.take(itemCost); err != nil {
			return nil, err
		}
		list = append(list, v)
		switch d.peek() {
		case ',':
			d.at++
		case ']':
			d.at++
			d.depth++
			return list, nil
		default:
			return nil, d.unexpected("',' or ']'")
		}
	}
}

func (d *decoder) object() (any, *SyntaxError) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	object := map[string]any{}
	if err := d.take(objectCost); err != nil {
		return nil, err
	}
	if d.peek() == '}' {
		d.at++
		d.depth++
		return object, nil
	}
	for {
		if err := d.member(object); err != nil {
			return nil, err
		}
		switch d.peek() {
		case ',':
			d.at++
		case '}':
			d.at++
			d.depth++
			return object, nil
		default:
			return nil, d.unexpected("',' or '}'")
		}
	}
}

func (d *decoder) member(object map[string]any) *SyntaxError {
	if d.peek() != '"' {
		return d.unexpected("a key in double quotes")
	}
	start, before := d.at, len(object)
	key, err := d.string()
	if err != nil {
		return err
	}
	if d.peek() != ':' {
		return d.unexpected("':'")
	}
	d.at++
	v, err := d.value()
	if err != nil {
		return err.under(key)
	}
	if before%group == 0 {
		if err := d.take(groupCost); err != nil {
			return err
		}
	}
	if err := d.take(len(key)); err != nil {
		return err
	}
	object[key] = v
	if len(object) == before {
		return d.fail(start, "duplicate key %q", shorten(key))
	}
	return nil
}
