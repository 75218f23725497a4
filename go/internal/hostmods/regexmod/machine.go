package regexmod

import (
	"context"
	"fmt"
	"regexp/syntax"
	"runtime"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// What the machine that searches for a pattern takes. Package regexp keeps machines and lends one to any
// pattern of about the same size, with the groups of the greediest: hence a bound for each size, so that
// no machine takes more than maxMachine, whatever it was used for before.
const maxMachine = 16 << 20

// machineSizes are the numbers of instructions for which package regexp keeps machines apart.
var machineSizes = [...]int{128, 512, 2048, maxSize}

const (
	threadSize = 80 // of a thread beside its groups, with its places in lists
	queueSize  = 40 // of one instruction in the two queues
	// The backtracker serves small patterns in short texts.
	maxBacktrack   = 500
	backtrackSize  = 32 << 10
	backtrackState = 256 << 10
	jobSize        = 32 // with what is spare where a list grows
)

// machine is what a search for one pattern needs.
type machine struct {
	bytes        int64 // beside what the text asks for
	instructions int
	choices      int // instructions that leave something for later
}

// machineOf counts, and refuses what needs too much.
func machineOf(tree *syntax.Regexp) (machine, error) {
	groups := tree.MaxCap()
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return machine{}, patternError(err)
	}
	m := machine{instructions: len(prog.Inst)}
	steps := 1
	for i := range prog.Inst {
		switch prog.Inst[i].Op {
		case syntax.InstAlt, syntax.InstAltMatch, syntax.InstCapture:
			m.choices++
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			steps++
		}
	}
	size := machineSize(m.instructions)
	if most := maxMachine/(2*8*size)/2 - 2; groups > most {
		return machine{}, &luau.Error{Code: CodeLimit, Message: fmt.Sprintf(
			"a pattern of %d instructions with %d groups: the limit is %d groups; (?:...) groups without keeping what it matched",
			m.instructions, groups, most)}
	}
	slots := 2 * (groups + 2) // the match, and the group that a search from the middle of a text adds
	m.bytes = int64(2*steps*(8*slots+threadSize) + queueSize*size)
	return m, nil
}

func machineSize(instructions int) int {
	for _, size := range machineSizes {
		if instructions <= size {
			return size
		}
	}
	return instructions
}

// memory is about what a search in a text of so many bytes takes.
func (m machine) memory(text int) int64 {
	if m.instructions > maxBacktrack || text > backtrackState/m.instructions {
		return m.bytes
	}
	return m.bytes + backtrackSize + jobSize*int64(m.choices)*int64(text+1)
}

// Long searches at once: of one VM, and of all.
const maxOfVM = 4

var searching = make(chan struct{}, max(4*maxOfVM, runtime.GOMAXPROCS(0)))

// turn waits until a long search may begin.
func (i *instance) turn(ctx context.Context) (done func(), err error) {
	taken := 0
	turns := []chan struct{}{i.searching, searching}
	done = func() {
		for _, t := range turns[:taken] {
			<-t
		}
	}
	for _, t := range turns {
		select {
		case t <- struct{}{}:
			taken++
		case <-ctx.Done():
			done()
			return nil, ctx.Err()
		}
	}
	return done, nil
}
