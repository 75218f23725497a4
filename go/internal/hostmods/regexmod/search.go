package regexmod

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"
)

// search finds matches of one pattern in one subject, one behind the other.
type search struct {
	ctx     context.Context
	pattern *pattern
	subject []byte
}

// maxAtOnce is the work, in instructions times bytes, that is done without a look at the context:
// about a tenth of a second.
const maxAtOnce = 5_000_000

func (s *search) work(bytes int) int { return s.pattern.size * bytes }

// next is the leftmost match that begins at `from` or later: start and end of the match and of every
// group in bytes, -1 where a group took no part. nil when there is none.
func (s *search) next(from int) ([]int, error) {
	if from == 0 && s.work(len(s.subject)) <= maxAtOnce {
		return s.pattern.re.FindSubmatchIndex(s.subject), s.ctx.Err()
	}
	if len(s.pattern.prefix) > 0 {
		n := bytes.Index(s.subject[from:], s.pattern.prefix)
		if n < 0 {
			return nil, s.ctx.Err()
		}
		from += n
	}
	re, start, skip := s.pattern.re, 0, 0
	if from > 0 {
		var err error
		if re, err = s.pattern.resume(); err != nil {
			return nil, err
		}
		_, width := utf8.DecodeLastRune(s.subject[:from])
		start, skip = from-width, 2
	}
	reader := &reader{ctx: s.ctx, text: s.subject[start:]}
	match := re.FindReaderSubmatchIndex(reader)
	if reader.err != nil {
		return nil, reader.err
	}
	if match == nil {
		return nil, nil
	}
	match = match[skip:]
	for i := range match {
		if match[i] >= 0 {
			match[i] += start
		}
	}
	return match, nil
}

// each calls f with the first `most` matches, none overlapping the one before. An empty match right
// behind another match does not count.
func (s *search) each(most int, f func(match []int) error) error {
	for from, last := 0, -1; from <= len(s.subject) && most > 0; {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		match, err := s.next(from)
		if err != nil || match == nil {
			return err
		}
		start, end := match[0], match[1]
		from = end
		if start == end {
			from += s.width(end)
			if start == last {
				continue
			}
		}
		if err := f(match); err != nil {
			return err
		}
		last = end
		most--
	}
	return nil
}

// width of the character at a byte; 1 behind the last one, so that a search goes on past it.
func (s *search) width(at int) int {
	if at >= len(s.subject) {
		return 1
	}
	_, width := utf8.DecodeRune(s.subject[at:])
	return width
}

// reader gives a text to the matcher character by character and ends it when the context does: the
// only way to stop a search.
type reader struct {
	ctx   context.Context
	text  []byte
	at    int
	count uint
	err   error
}

// charactersBetween looks at the context.
const charactersBetween = 256

// ReadRune implements io.RuneReader.
func (r *reader) ReadRune() (rune, int, error) {
	if r.count++; r.count%charactersBetween == 0 {
		if r.err = r.ctx.Err(); r.err != nil {
			return 0, 0, io.EOF
		}
	}
	if r.at >= len(r.text) {
		return 0, 0, io.EOF
	}
	if b := r.text[r.at]; b < utf8.RuneSelf {
		r.at++
		return rune(b), 1, nil
	}
	char, width := utf8.DecodeRune(r.text[r.at:])
	r.at += width
	return char, width, nil
}
