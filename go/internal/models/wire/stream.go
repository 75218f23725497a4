package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/hukilau/hukilau/go/internal/models"
)

// Event is one event of a stream.
type Event struct {
	Name string // "" when it has none
	Data []byte // valid until the next one
}

// Stream is the body of an answer as events. It belongs to one goroutine.
//
// Beside the standard's own format it takes what servers send: lines of JSON without a field name,
// `error:` as a field, one JSON document instead of a stream, and a last event without the empty
// line behind it.
type Stream struct {
	transport *transport
	request   *http.Request
	response  *http.Response
	reader    *bufio.Reader
	whole     bool // one JSON document
	left      int
	lines     [][]byte // of what was read last, without their ends
	line      []byte
	name      string
	data      []byte
	some      bool // data has begun
	events    int  // bare ones
	first     bool
	err       error
}

func newStream(t *transport, request *http.Request, r *http.Response) *Stream {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return &Stream{
		transport: t, request: request, response: r, reader: bufio.NewReader(r.Body),
		whole: media == "application/json", left: maxAnswer, first: true,
	}
}

// Close gives the connection up.
func (s *Stream) Close() { _ = s.response.Body.Close() }

// Fail is the error that data of this stream stands for.
func (s *Stream) Fail(data []byte) *models.Error {
	return withoutKeys(ErrorOf(s.transport.provider, s.response.StatusCode, s.response.Header, data), s.request.Header)
}

// Broken is the error of an answer that ended too early or that nobody understands.
func (s *Stream) Broken(problem string) *models.Error {
	return &models.Error{Code: models.CodeUpstream, Provider: s.transport.provider,
		Status: s.response.StatusCode, Retryable: true, Message: problem}
}

// Next gives the next event, or io.EOF behind the last one. Errors are *models.Error or the
// context's.
func (s *Stream) Next() (Event, error) {
	if s.whole {
		return s.document()
	}
	s.name, s.data, s.some = "", s.data[:0], false
	for {
		line, err := s.nextLine()
		if err == io.EOF && s.some {
			return s.event()
		}
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			if s.some {
				return s.event()
			}
			s.name = ""
			continue
		}
		if line[0] == '{' || line[0] == '[' {
			return s.bare(line)
		}
		s.field(line)
	}
}

// bare takes JSON without a field name: a line of it, or one document of several lines.
func (s *Stream) bare(line []byte) (Event, error) {
	if s.events++; s.events > 1 || json.Valid(line) {
		return Event{Data: line}, nil
	}
	begin := append(bytes.Join(append([][]byte{line}, s.lines...), []byte("\r")), '\n')
	s.lines = nil
	rest, err := s.document()
	return Event{Data: append(begin, rest.Data...)}, err
}

func (s *Stream) event() (Event, error) { return Event{s.name, s.data}, nil }

func (s *Stream) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		s.name = string(value)
	case "error":
		s.name = "error"
		s.add(value)
	case "data":
		s.add(value)
	}
}

func (s *Stream) add(value []byte) {
	if s.some {
		s.data = append(s.data, '\n')
	}
	s.data, s.some = append(s.data, value...), true
}

// nextLine gives a line without its end, which is one of the standard's three.
func (s *Stream) nextLine() ([]byte, error) {
	for len(s.lines) == 0 {
		if s.err != nil {
			return nil, s.err
		}
		s.read()
	}
	line := s.lines[0]
	s.lines = s.lines[1:]
	return line, nil
}

// read takes what comes up to the next line feed.
func (s *Stream) read() {
	s.line = s.line[:0]
	for {
		piece, err := s.reader.ReadSlice('\n')
		s.line = append(s.line, piece...)
		s.left -= len(piece)
		switch {
		case s.left < 0:
			s.err = s.tooLarge("an answer", maxAnswer)
			return
		case len(s.line) > maxLine:
			s.err = s.tooLarge("a line of an answer", maxLine)
			return
		case err == bufio.ErrBufferFull:
			continue
		case err != nil:
			s.err = s.ended(err)
		}
		break
	}
	text := s.line
	if s.first {
		text, s.first = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), false
	}
	if s.err != nil && len(text) == 0 {
		return
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	s.lines = bytes.Split(text, []byte("\r"))
}

func (s *Stream) document() (Event, error) {
	if s.err != nil {
		return Event{}, s.err
	}
	text, err := io.ReadAll(io.LimitReader(s.reader, maxAnswer+1))
	switch {
	case err != nil:
		s.err = s.ended(err)
		return Event{}, s.err
	case len(text) > maxAnswer:
		s.err = s.tooLarge("an answer", maxAnswer)
		return Event{}, s.err
	}
	s.err = io.EOF
	return Event{Data: text}, nil
}

// ended words the end of the body.
func (s *Stream) ended(err error) error {
	if err == io.EOF {
		return err
	}
	if ended := s.request.Context().Err(); ended != nil {
		return ended
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := s.Broken(models.Clip("the connection was lost in the middle of an answer: " + err.Error()))
	e.Cause = err
	return e
}

func (s *Stream) tooLarge(what string, bytes int) error {
	return &models.Error{Code: models.CodeTooLarge, Provider: s.transport.provider, Status: s.response.StatusCode,
		Message: fmt.Sprintf("%s is larger than %d MiB", what, bytes>>20)}
}

// HasError says whether data is an object that tells of an error.
func HasError(data []byte) bool {
	if !bytes.Contains(data, []byte(`"error"`)) {
		return false
	}
	var object struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &object) != nil {
		return false
	}
	switch string(object.Error) {
	case "", "null", `""`, "{}", "false":
		return false
	}
	return true
}
