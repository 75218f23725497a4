package upstream

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"time"
)

// event is one of a stream of server-sent events.
type event struct {
	name string
	data []byte
}

// events reads a stream of server-sent events.
type events struct {
	in    *bufio.Reader
	max   int // bytes of one event
	id    string
	retry time.Duration // how long the server wants us to wait before we come again
	begun bool
}

func newEvents(body io.Reader, max int) *events {
	return &events{in: bufio.NewReaderSize(body, 16<<10), max: max}
}

// next gives an event with data. What was begun when the stream ends is dropped, as the standard says.
func (e *events) next() (event, error) {
	var ev event
	some := false
	for {
		line, err := e.line(len(ev.data))
		if err != nil {
			return event{}, err
		}
		if len(line) == 0 {
			if some {
				return ev, nil
			}
			ev = event{}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			ev.name = string(value)
		case "data":
			if some {
				ev.data = append(ev.data, '\n')
			}
			ev.data, some = append(ev.data, value...), true
		case "id":
			if len(value) < 1<<10 && bytes.IndexByte(value, 0) < 0 {
				e.id = string(value)
			}
		case "retry":
			if n, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				e.retry = time.Duration(n) * time.Millisecond
			}
		}
	}
}

// line gives a line without its end, valid until the next one. had is the size of what the event has already.
func (e *events) line(had int) ([]byte, error) {
	var line []byte
	for {
		part, err := e.in.ReadSlice('\n')
		if had+len(line)+len(part) > e.max {
			return nil, errTooLong
		}
		if err == nil && line == nil {
			line = part
		} else {
			line = append(line, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil {
			return nil, err
		}
		break
	}
	if !e.begun {
		line, e.begun = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), true
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// hear hands on the messages of a stream until it ends, or until q is answered where there is one.
func (p *peer) hear(stream *events, q *pending) error {
	for {
		ev, err := stream.next()
		if err != nil {
			return err
		}
		if ev.name != "" && ev.name != "message" || len(ev.data) == 0 {
			continue
		}
		if !p.receive(ev.data, q) {
			p.logger.Warn("an event is no message, and is skipped", "data", shown(string(ev.data[:min(len(ev.data), 500)])))
		}
		if q != nil && !p.waits(q) {
			return nil
		}
	}
}
