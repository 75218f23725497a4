package jsonvalue

import (
	"encoding/json"
	"math"
	"strconv"
)

// powers are exact as float64, so a safe whole number divided by one is rounded once.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// scanned is a number as its text says it.
type scanned struct {
	mantissa uint64 // its digits, while there are at most 18
	digits   int
	places   int // of them behind the point
	whole    bool
	simple   bool // without an exponent
}

func (d *decoder) number() (any, *SyntaxError) {
	start := d.at
	negative := d.data[start] == '-'
	if negative {
		d.at++
	}
	n, err := d.scanNumber()
	if err != nil {
		return nil, err
	}
	if n.simple && n.digits <= 18 && n.mantissa <= maxSafe {
		f := float64(n.mantissa) / powers[n.places]
		if negative {
			f = math.Copysign(f, -1)
		}
		return f, nil
	}
	if n.whole {
		return json.Number(d.part(start, d.at)), nil
	}
	f, failed := strconv.ParseFloat(d.part(start, d.at), 64)
	if failed != nil {
		return nil, d.fail(start, "a number that is too large")
	}
	return f, nil
}

func (d *decoder) scanNumber() (n scanned, err *SyntaxError) {
	first := d.at
	n.whole, n.simple = true, true
	d.digits(&n)
	switch {
	case d.at == first:
		return n, d.unexpected("a digit")
	case d.data[first] == '0' && d.at > first+1:
		return n, d.fail(first, "a number with a zero in front")
	}
	if d.at < len(d.data) && d.data[d.at] == '.' {
		d.at++
		n.whole = false
		point := d.at
		d.digits(&n)
		if n.places = d.at - point; n.places == 0 {
			return n, d.unexpected("a digit")
		}
	}
	if d.at < len(d.data) && d.data[d.at]|0x20 == 'e' {
		d.at++
		n.whole, n.simple = false, false
		if d.at < len(d.data) && (d.data[d.at] == '+' || d.data[d.at] == '-') {
			d.at++
		}
		var exponent scanned
		if d.digits(&exponent); exponent.digits == 0 {
			return n, d.unexpected("a digit")
		}
	}
	return n, nil
}

func (d *decoder) digits(n *scanned) {
	for ; d.at < len(d.data); d.at++ {
		c := d.data[d.at] - '0'
		if c > 9 {
			return
		}
		if n.digits++; n.digits <= 18 {
			n.mantissa = n.mantissa*10 + uint64(c)
		}
	}
}
