package httpmod

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
)

// decoderMemory is about what one decoder holds: its window and its tables.
const decoderMemory = 48 << 10

// coding returns the one content coding of a response that can be undone here,
// or "". Anything else reaches the script as it came, with its header.
func coding(header http.Header) string {
	switch c := strings.ToLower(strings.TrimSpace(strings.Join(header["Content-Encoding"], ","))); c {
	case "gzip", "x-gzip":
		return "gzip"
	case "deflate":
		return c
	}
	return ""
}

// decoder undoes a content coding. It reads nothing until it is read from, so
// that making one never waits for the server.
type decoder struct {
	coding string
	wire   *watchedEnd
	src    *bufio.Reader
	out    io.Reader
}

func newDecoder(coding string, src io.Reader) *decoder {
	wire := &watchedEnd{src: src}
	return &decoder{coding: coding, wire: wire, src: bufio.NewReader(wire)}
}

// watchedEnd notes that its source came to its end without an error.
type watchedEnd struct {
	src   io.Reader
	ended bool
}

func (w *watchedEnd) Read(p []byte) (int, error) {
	n, err := w.src.Read(p)
	w.ended = w.ended || err == io.EOF
	return n, err
}

// cutOff is a body that came whole, but what is encoded in it is not.
type cutOff struct{ coding string }

func (e *cutOff) Error() string { return "the body ends before its " + e.coding + " data does" }

func (d *decoder) Read(p []byte) (int, error) {
	if d.out == nil {
		if err := d.start(); err != nil {
			return 0, d.explain(err)
		}
	}
	n, err := d.out.Read(p)
	return n, d.explain(err)
}

func (d *decoder) explain(err error) error {
	if err == io.ErrUnexpectedEOF && d.wire.ended {
		return &cutOff{d.coding}
	}
	return err
}

// start leaves io.EOF alone: an empty body is empty in any coding.
func (d *decoder) start() (err error) {
	if _, err = d.src.Peek(1); err != nil {
		return err
	}
	switch {
	case d.coding == "gzip":
		d.out, err = gzip.NewReader(d.src)
	case d.hasZlibHeader():
		d.out, err = zlib.NewReader(d.src)
	default: // some servers send bare deflate under this name
		d.out = flate.NewReader(d.src)
	}
	return err
}

func (d *decoder) hasZlibHeader() bool {
	b, err := d.src.Peek(2)
	return err == nil && b[0]&15 == 8 && b[0]>>4 <= 7 && (int(b[0])<<8|int(b[1]))%31 == 0
}

// capped gives an error in place of the first byte beyond its limit, so that
// nobody takes a part for the whole.
type capped struct {
	src   io.Reader
	limit int64 // negative: none
	seen  int64
	over  error
}

func (c *capped) Read(p []byte) (int, error) {
	if c.limit < 0 {
		return c.src.Read(p)
	}
	if c.seen > c.limit {
		return 0, c.over
	}
	if room := c.limit - c.seen + 1; int64(len(p)) > room {
		p = p[:room]
	}
	n, err := c.src.Read(p)
	c.seen += int64(n)
	if c.seen > c.limit {
		return n - 1, c.over
	}
	return n, err
}
