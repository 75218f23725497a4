package processmod

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"sync/atomic"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// chunk is how much is read from the stream at once, and the most that one read gives.
const chunk = 64 << 10

// input is standard input for the scripts of one VM. A read of the stream cannot be cancelled: one that a
// script gave up goes on, and what it brings is for the next one.
type input struct {
	from io.Reader
	vm   hostmod.VM
	way  atomic.Int64  // what is charged for texts on their way to the script
	turn chan struct{} // holds a value while somebody uses the fields below

	buf     []byte // what came; its cap is charged
	start   int    // of what no script has yet
	seen    int    // up to here there is no end of a line
	err     error  // what ended the stream, io.EOF as a rule
	space   []byte // where the read that is under way puts what comes; charged
	reading bool
	came    chan arrival
}

// arrival is the outcome of one read.
type arrival struct {
	n   int
	err error
}

func newInput(from io.Reader, vm hostmod.VM) *input {
	return &input{from: from, vm: vm, turn: make(chan struct{}, 1), came: make(chan arrival, 1)}
}

// errNoRoom says that the memory limit has no room for more of what came. Nothing is lost by that.
var errNoRoom = errors.New("no room")

// fill waits for more, until ctx ends.
func (in *input) fill(ctx context.Context) error {
	if err := in.reserve(chunk); err != nil {
		return err
	}
	if in.space == nil {
		if !in.vm.Charge(chunk) {
			return errNoRoom
		}
		in.space = make([]byte, chunk)
	}
	if !in.reading {
		in.reading = true
		go func() {
			n, err := in.from.Read(in.space)
			in.came <- arrival{n, err}
		}()
	}
	select {
	case a := <-in.came:
		in.reading, in.err = false, a.err
		in.buf = append(in.buf, in.space[:a.n]...)
		if a.err != nil {
			in.vm.Uncharge(chunk)
			in.space = nil
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reserve makes room for n bytes more behind what is there.
func (in *input) reserve(n int) error {
	if cap(in.buf)-len(in.buf) >= n {
		return nil
	}
	rest := in.rest()
	if in.start > 0 {
		in.buf = in.buf[:copy(in.buf, rest)]
		in.seen -= in.start
		in.start = 0
		if cap(in.buf)-len(in.buf) >= n {
			return nil
		}
	}
	size := max(2*cap(in.buf), len(in.buf)+n)
	if !in.vm.Charge(int64(size)) {
		return errNoRoom
	}
	bigger := make([]byte, len(in.buf), size)
	copy(bigger, in.buf)
	in.vm.Uncharge(int64(cap(in.buf)))
	in.buf = bigger
	return nil
}

func (in *input) rest() []byte { return in.buf[in.start:] }

// taker takes something out of what came. done is false when more must come first.
type taker func(in *input) (value any, done bool, err error)

// takeLine takes the next line, without its end.
func takeLine(in *input) (any, bool, error) {
	at := bytes.IndexByte(in.buf[in.seen:], '\n')
	if at >= 0 {
		end := in.seen + at + 1
		line, err := in.cut(end-in.start, ending(in.buf[in.start:end]))
		return line, true, err
	}
	in.seen = len(in.buf)
	ended, err := in.ended()
	if !ended || err != nil || len(in.rest()) == 0 {
		return nil, ended, err
	}
	line, err := in.cut(len(in.rest()), 0)
	return line, true, err
}

// ended says whether nothing more comes, and why where that is not the end of the stream.
func (in *input) ended() (bool, error) {
	if in.err == io.EOF {
		return true, nil
	}
	return in.err != nil, in.err
}

// ending is the length of a line's end.
func ending(line []byte) int {
	if bytes.HasSuffix(line, []byte("\r\n")) {
		return 2
	}
	return 1
}

// takeSome takes at most that many bytes of what is there.
func takeSome(most int) taker {
	return func(in *input) (any, bool, error) {
		if n := min(most, len(in.rest()), chunk); n > 0 {
			some, err := in.cut(n, 0)
			return some, true, err
		}
		ended, err := in.ended()
		return nil, ended, err
	}
}

// takeAll takes everything up to the end.
func takeAll(in *input) (any, bool, error) {
	switch ended, err := in.ended(); {
	case !ended || err != nil:
		return nil, ended, err
	case len(in.rest()) == 0:
		return "", true, nil
	}
	all := in.send(in.rest(), cap(in.buf))
	in.buf, in.start, in.seen = nil, 0, 0
	return all, true, nil
}

// cut takes n bytes out and gives them, without the last few.
func (in *input) cut(n, without int) (any, error) {
	part := in.rest()[:n-without]
	var value any
	if len(part) <= chunk {
		value = string(part)
	} else {
		if !in.vm.Charge(int64(len(part))) {
			return nil, errNoRoom
		}
		value = in.send(bytes.Clone(part), len(part))
	}
	in.start += n
	in.seen = in.start
	if in.start == len(in.buf) {
		in.empty()
	}
	return value, nil
}

// text is a long one on its way to the script. It stays charged until the VM has taken it.
type text struct {
	in    *input
	bytes []byte
	cost  int64
}

func (in *input) send(bytes []byte, cost int) *text {
	in.way.Add(int64(cost))
	return &text{in, bytes, int64(cost)}
}

// MarshalText makes it a string for the script. It is called once, when the VM takes it.
func (t *text) MarshalText() ([]byte, error) {
	t.in.way.Add(-t.cost)
	t.in.vm.Uncharge(t.cost)
	return t.bytes, nil
}

// endRun gives back what no script will take.
func (in *input) endRun() { in.vm.Uncharge(in.way.Swap(0)) }

// empty makes room for what comes next, and gives back what a long line took.
func (in *input) empty() {
	in.buf, in.start, in.seen = in.buf[:0], 0, 0
	if cap(in.buf) > 4*chunk {
		in.vm.Uncharge(int64(cap(in.buf)))
		in.buf = nil
	}
}

// try takes what is there already, where nobody else reads.
func (in *input) try(take taker) (value any, done bool, err error) {
	select {
	case in.turn <- struct{}{}:
		defer func() { <-in.turn }()
		return take(in)
	default:
		return nil, false, nil
	}
}

// wait takes as soon as enough has come. Those who wait get their turn in order.
func (in *input) wait(ctx context.Context, take taker) (any, error) {
	select {
	case in.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-in.turn }()
	for ctx.Err() == nil { // else what is taken would reach nobody
		value, done, err := take(in)
		if done {
			return value, err
		}
		if err := in.fill(ctx); err != nil {
			return nil, err
		}
	}
	return nil, context.Cause(ctx)
}

// told is an error of the stream as scripts see it.
func told(name string, err error) error {
	if err == errNoRoom {
		return &luau.Error{Code: luau.CodeMemory, Message: name +
			": the memory limit was reached; what came is kept, and process.read gives it in pieces"}
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // without the name that the stream has in the system
	}
	return &luau.Error{Code: "io", Message: name + ": cannot read standard input: " + err.Error()}
}
