package music

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"slices"
)

// The frame of Ogg is read by our own code: the packets of it are what the decoder of Vorbis gets, and they are
// checked first.

const (
	oggHeadSize = 27
	oggMaxPage  = oggHeadSize + 255 + 255*255
	oggMaxWhole = 4 << 20 // of a packet over many pages
)

// The flags of a page.
const (
	oggContinued = 1
	oggBegin     = 2
	oggEnd       = 4
)

// noGranule is the position of a page on which no packet ends.
const noGranule = -1

// oggPage is one page. Its bytes live until the next one is read.
type oggPage struct {
	flags   byte
	granule int64
	serial  uint32
	table   []byte
	body    []byte
}

// oggReader reads packets of the stream that begins first in a file; other streams between are left out.
type oggReader struct {
	in      *bufio.Reader
	page    oggPage
	next    int // in page.table
	offset  int // in page.body
	serial  uint32
	started bool
	whole   []byte // a packet that begins on an earlier page
	buf     [oggMaxPage]byte
}

func newOggReader(r io.Reader) *oggReader { return &oggReader{in: bufio.NewReaderSize(r, 16<<10)} }

var oggTable = func() (table [256]uint32) {
	for i := range table {
		r := uint32(i) << 24
		for range 8 {
			r = r<<1 ^ (r >> 31 * 0x04c11db7)
		}
		table[i] = r
	}
	return table
}()

// oggSum is the checksum of a page whose own is 0.
func oggSum(page []byte) (sum uint32) {
	for _, b := range page {
		sum = sum<<8 ^ oggTable[byte(sum>>24)^b]
	}
	return sum
}

// parsePage reads the page that data begins with, and gives its size.
func parsePage(data []byte) (p oggPage, size int, ok bool) {
	if len(data) < oggHeadSize || string(data[:5]) != "OggS\x00" {
		return p, 0, false
	}
	le, segments := binary.LittleEndian, int(data[26])
	size = oggHeadSize + segments
	if len(data) < size {
		return p, 0, false
	}
	p = oggPage{flags: data[5], granule: int64(le.Uint64(data[6:])), serial: le.Uint32(data[14:]), table: data[oggHeadSize:size]}
	for _, n := range p.table {
		size += int(n)
	}
	if len(data) < size {
		return p, 0, false
	}
	p.body = data[oggHeadSize+segments : size]
	sum := le.Uint32(data[22:])
	copied := [oggHeadSize]byte(data)
	clear(copied[22:26])
	have := oggSum(copied[:])
	for _, b := range data[oggHeadSize:size] {
		have = have<<8 ^ oggTable[byte(have>>24)^b]
	}
	return p, size, have == sum
}

// readPage goes to the next page of the stream.
func (r *oggReader) readPage() error {
	for {
		head := r.buf[:oggHeadSize]
		if _, err := io.ReadFull(r.in, head); err != nil {
			return err
		}
		size := oggHeadSize + int(head[26])
		if _, err := io.ReadFull(r.in, r.buf[oggHeadSize:size]); err != nil {
			return noEOF(err)
		}
		body := size
		for _, n := range r.buf[oggHeadSize:body] {
			size += int(n)
		}
		if _, err := io.ReadFull(r.in, r.buf[body:size]); err != nil {
			return noEOF(err)
		}
		p, _, ok := parsePage(r.buf[:size])
		switch {
		case !ok:
			return damaged("a page of the Ogg file is damaged")
		case !r.started:
			r.started, r.serial = true, p.serial
		case p.serial != r.serial:
			continue
		}
		r.page, r.next, r.offset = p, 0, 0
		return nil
	}
}

// packet gives the next packet, and whether it is the last that ends on its page. It lives until the next
// call.
func (r *oggReader) packet() (data []byte, last bool, err error) {
	r.whole = r.whole[:0]
	for {
		for r.next >= len(r.page.table) {
			if r.page.flags&oggEnd != 0 {
				return nil, false, io.EOF
			}
			if err := r.readPage(); err != nil {
				return nil, false, err
			}
			if r.page.flags&oggContinued != 0 && len(r.whole) == 0 {
				r.part() // the rest of a packet whose beginning is not there
			}
		}
		part, complete := r.part()
		if !complete || len(r.whole) > 0 {
			if len(r.whole)+len(part) > oggMaxWhole {
				return nil, false, damaged("a part of the Ogg file is longer than %d bytes", oggMaxWhole)
			}
			r.whole = append(r.whole, part...)
			part = r.whole
		}
		if complete {
			return part, !anyEnds(r.page.table[r.next:]), nil
		}
	}
}

// part takes what the page holds of one packet.
func (r *oggReader) part() (data []byte, complete bool) {
	from := r.offset
	for r.next < len(r.page.table) {
		n := int(r.page.table[r.next])
		r.next++
		r.offset += n
		if n < 255 {
			return r.page.body[from:r.offset], true
		}
	}
	return r.page.body[from:r.offset], false
}

// anyEnds says whether a packet ends among these segments.
func anyEnds(table []byte) bool {
	return slices.ContainsFunc(table, func(n byte) bool { return n < 255 })
}

// lastGranule is the position at the end of the stream, from its last whole page; noGranule where there is none
// near the end.
func lastGranule(s *source, serial uint32) (int64, error) {
	const tail = 3 * oggMaxPage
	from := max(0, s.size-tail)
	data, err := s.read(make([]byte, s.size-from), from)
	if err != nil {
		return 0, err
	}
	for end := len(data); ; {
		at := bytes.LastIndex(data[:end], []byte("OggS"))
		if at < 0 {
			return noGranule, nil
		}
		if p, _, ok := parsePage(data[at:]); ok && p.serial == serial && p.granule != noGranule {
			return p.granule, nil
		}
		end = at
	}
}
