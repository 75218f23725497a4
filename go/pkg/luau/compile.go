package luau

import (
	"runtime"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// CompileOptions control the compiler. The zero value is what running scripts want.
type CompileOptions struct {
	// Optimization is a level; zero means OptimizeSafe.
	Optimization Optimization
	// NoDebug leaves out names of locals; line numbers and function names always stay.
	NoDebug bool
	// Coverage counts executed lines.
	Coverage bool
	// CountChecks counts calls of assert, for Stats.
	CountChecks bool
	// Types keeps what annotations say, which makes native code faster. Code marked --!native has
	// them anyway.
	Types bool
}

// Optimization is a level of the compiler.
type Optimization int

// The levels. Tracebacks lack the calls that OptimizeFull inlined; native code wants it all the same.
const (
	OptimizeDefault Optimization = iota // OptimizeSafe
	OptimizeNone                        // -O0
	OptimizeSafe                        // -O1: nothing that a traceback would show
	OptimizeFull                        // -O2: inlined and unrolled
)

// Bytecode is compiled code. It is immutable and may be shared by goroutines and States. The
// garbage collector frees it. It can only come from Compile: bytecode from elsewhere could break
// out of the VM.
type Bytecode struct {
	code capi.Bytecode
	size int
}

// Size is the length of the code in bytes.
func (b *Bytecode) Size() int { return b.size }

// MaxSource is the longest source that Compile takes, in bytes.
const MaxSource = capi.MaxSource

// Compile turns Luau source into bytecode. Chunk names the source in the error, an *[Error] with
// line and column. Any goroutine may call it.
func Compile(chunk, source string, o CompileOptions) (*Bytecode, error) {
	options := capi.CompileOptions{Optimization: 1, Debug: 1, TypeInfo: 0}
	if o.Optimization != OptimizeDefault {
		options.Optimization = int32(o.Optimization) - 1
	}
	if !o.NoDebug {
		options.Debug = 2
	}
	if o.Types {
		options.TypeInfo = 1
	}
	if o.CountChecks {
		options.CountChecks = 1
	}
	if o.Coverage {
		options.Coverage = 2
	}
	code, record, status := capi.Compile(source, options)
	if status != capi.OK {
		return nil, compileError(chunk, record)
	}
	b := &Bytecode{code: code, size: code.Size()}
	runtime.AddCleanup(b, func(c capi.Bytecode) { c.Free() }, code)
	return b, nil
}

func compileError(chunk string, record []byte) error {
	d := decoder{data: record}
	e := &Error{Code: CodeCompile, Chunk: chunk, Message: "the source does not compile"}
	if v, err := d.value(0); err == nil {
		e.Message, _ = v.(string)
	}
	if v, err := d.value(0); err == nil {
		line, _ := v.(float64)
		e.Line = int(line)
	}
	if v, err := d.value(0); err == nil {
		column, _ := v.(float64)
		e.Column = int(column)
	}
	return e
}

// NativeSupported says whether this machine can run native code made from bytecode.
func NativeSupported() bool { return capi.NativeSupported() }

// Version is Luau's own version, as "0.745".
func Version() string { return capi.LuauVersion() }
