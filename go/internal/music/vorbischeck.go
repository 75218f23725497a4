package music

import (
	"bytes"
	"encoding/binary"
	"math"
)

// The decoder of Vorbis makes room for what headers claim, and looks for the end of codes that have none. So
// what it gets is checked first.

// How large the tables of a stream may be. Encoders make tenths of this.
const (
	vorbisMaxEntries = 64 << 10  // of all code books
	vorbisMaxBook    = 16 << 10  // of one
	vorbisMaxValues  = 512 << 10 // of all code books
)

// checkVorbisStart checks the first packet and gives the number of channels.
func checkVorbisStart(p []byte) (int, error) {
	if len(p) < 30 || !bytes.HasPrefix(p, []byte("\x01vorbis")) {
		return 0, damaged("the Ogg file holds no Vorbis sound")
	}
	channels := int(p[11])
	if err := checkFormat(int64(binary.LittleEndian.Uint32(p[12:])), int64(channels)); err != nil {
		return 0, err
	}
	if small, large := p[28]&15, p[28]>>4; small < 6 || large > 13 || small > large {
		return 0, damaged("its blocks have 2^%d and 2^%d samples", small, large)
	}
	return channels, nil
}

// vorbisBits reads bits as Vorbis packs them. Beyond the end are zeros, and over is set.
type vorbisBits struct {
	data []byte
	at   int // in bits
	over bool
}

func (b *vorbisBits) take(n int) (value uint32) {
	if b.at+n > 8*len(b.data) {
		b.at, b.over = 8*len(b.data), true
		return 0
	}
	for i := range n {
		value |= uint32(b.data[b.at>>3]>>(b.at&7)&1) << i
		b.at++
	}
	return value
}

// checkVorbisSetup checks the third packet up to the residues. What follows is small, or makes the decoder panic
// at most.
func checkVorbisSetup(p []byte) error {
	if !bytes.HasPrefix(p, []byte("\x05vorbis")) {
		return damaged("its third header is none of Vorbis")
	}
	bits := &vorbisBits{data: p[7:]}
	var entries, values uint64
	for range bits.take(8) + 1 {
		e, v, err := checkBook(bits)
		if err != nil {
			return err
		}
		entries, values = entries+e, values+v
		if entries > vorbisMaxEntries || values > vorbisMaxValues {
			return damaged("its tables are too large")
		}
	}
	for range bits.take(6) + 1 {
		if bits.take(16) != 0 {
			return damaged("its third header is damaged")
		}
	}
	for range bits.take(6) + 1 {
		if bits.take(16) != 1 {
			return damaged("it has a floor of a kind that only the first encoders made, or is damaged")
		}
		passFloor(bits)
	}
	for range bits.take(6) + 1 {
		if err := checkResidue(bits); err != nil {
			return err
		}
	}
	return nil
}

// passFloor reads a floor of kind 1.
func passFloor(bits *vorbisBits) {
	classes := make([]uint32, bits.take(5))
	last := uint32(0)
	for i := range classes {
		classes[i] = bits.take(4)
		last = max(last, classes[i])
	}
	var sizes [16]uint32
	for class := range last + 1 {
		sizes[class] = bits.take(3) + 1
		sub := bits.take(2)
		if sub > 0 {
			bits.take(8)
		}
		for range 1 << sub {
			bits.take(8)
		}
	}
	bits.take(2)
	width := int(bits.take(4))
	for _, class := range classes {
		for range sizes[class] {
			bits.take(width)
		}
	}
}

// checkResidue reads a residue. One that ends before it begins would keep the decoder busy for minutes.
func checkResidue(bits *vorbisBits) error {
	kind, begin, end := bits.take(16), bits.take(24), bits.take(24)
	if kind > 2 || begin > end || bits.over {
		return damaged("its third header is damaged")
	}
	bits.take(24)
	stages := make([]uint32, bits.take(6)+1)
	bits.take(8)
	for i := range stages {
		stages[i] = bits.take(3)
		if bits.take(1) == 1 {
			stages[i] |= bits.take(5) << 3
		}
	}
	for _, stage := range stages {
		for ; stage > 0; stage &= stage - 1 {
			bits.take(8)
		}
	}
	return nil
}

func checkBook(bits *vorbisBits) (entries, values uint64, err error) {
	mark, dimensions := bits.take(24), uint64(bits.take(16))
	entries = uint64(bits.take(24))
	if mark != 0x564342 || entries < 1 || entries > vorbisMaxBook || dimensions < 1 {
		return 0, 0, damaged("one of its tables is damaged")
	}
	if !checkLengths(bits, int(entries)) {
		return 0, 0, damaged("one of its tables has a code without an end")
	}
	switch lookup := bits.take(4); lookup {
	case 0:
	case 1, 2:
		bits.take(32)
		bits.take(32)
		width := int(bits.take(4)) + 1
		bits.take(1)
		values = entries * dimensions
		stored := values
		if lookup == 1 {
			stored = rootOf(entries, dimensions)
		}
		if values > vorbisMaxValues || stored < 1 {
			return 0, 0, damaged("its tables are too large")
		}
		for range stored {
			bits.take(width)
		}
	default:
		return 0, 0, damaged("one of its tables is damaged")
	}
	if bits.over {
		return 0, 0, damaged("its tables are cut off")
	}
	return entries, values, nil
}

// checkLengths reads the lengths of the codes of a book: every sequence of bits must lead to one. One code alone
// is allowed to be a single bit.
func checkLengths(bits *vorbisBits, entries int) bool {
	const whole = 1 << 32
	var sum uint64
	used := 0
	add := func(length, n int) {
		used += n
		sum += uint64(n) * (whole >> min(length, 40))
	}
	if ordered := bits.take(1) == 1; ordered {
		length := int(bits.take(5)) + 1
		for at := 0; at < entries && !bits.over; length++ {
			n := int(bits.take(widthOf(entries - at)))
			if n > entries-at || length > 32 {
				return false
			}
			add(length, n)
			at += n
		}
	} else {
		sparse := bits.take(1) == 1
		for range entries {
			if !sparse || bits.take(1) == 1 {
				add(int(bits.take(5))+1, 1)
			}
		}
	}
	return !bits.over && (sum == whole || used == 1 && sum == whole/2)
}

// widthOf is how many bits a number has.
func widthOf(n int) (width int) {
	for ; n > 0; n >>= 1 {
		width++
	}
	return width
}

// rootOf is the largest number whose power of dimensions is at most entries, as the decoder computes it.
func rootOf(entries, dimensions uint64) uint64 {
	return uint64(math.Floor(math.Pow(float64(entries), 1/float64(dimensions))))
}
