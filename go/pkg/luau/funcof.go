package luau

import (
	"context"
	"fmt"
	"reflect"
)

// FuncOf makes a [Func] of any Go function. Arguments are converted as [Values.Scan] does and checked:
// a script that gives too few, or ones that do not fit, gets an error that names the argument. A
// pointer parameter may be left out or nil; a variadic one takes the rest. Surplus arguments are
// ignored, as Luau's own functions do. A first parameter of type [context.Context] is [Call.Context],
// one of type *[Call] the call itself. Results are converted as [State.SetGlobal] does; a last one of
// type error is raised.
//
// It panics when fn is not a function or is nil, as that is a mistake in the program.
func FuncOf(name string, fn any) Func {
	f := reflect.ValueOf(fn)
	if f.Kind() != reflect.Func || f.IsNil() {
		panic(fmt.Sprintf("luau.FuncOf: %s: a function is needed, got %T", name, fn))
	}
	r := reflected{name: name, fn: f, t: f.Type()}
	if r.t.NumIn() > 0 {
		switch r.t.In(0) {
		case contextType:
			r.first = func(c *Call) reflect.Value { return reflect.ValueOf(c.Context()) }
		case callType:
			r.first = func(c *Call) reflect.Value { return reflect.ValueOf(c) }
		}
	}
	if n := r.t.NumOut(); n > 0 && r.t.Out(n-1) == errorType {
		r.fails = true
	}
	return Func{Name: name, Do: r.call}
}

var (
	contextType = reflect.TypeFor[context.Context]()
	callType    = reflect.TypeFor[*Call]()
	errorType   = reflect.TypeFor[error]()
)

// reflected is a Go function and how scripts call it.
type reflected struct {
	name  string
	fn    reflect.Value
	t     reflect.Type
	first func(*Call) reflect.Value // the parameter that is no argument
	fails bool                      // the last result is an error
}

func (r *reflected) call(c *Call) error {
	in, err := r.arguments(c)
	if err != nil {
		return err
	}
	out := r.fn.Call(in)
	if r.fails {
		if err, _ := out[len(out)-1].Interface().(error); err != nil {
			return err
		}
		out = out[:len(out)-1]
	}
	results := make([]any, len(out))
	for i, v := range out {
		results[i] = v.Interface()
	}
	return c.Return(results...)
}

func (r *reflected) arguments(c *Call) ([]reflect.Value, error) {
	in := make([]reflect.Value, 0, r.t.NumIn()+c.Len())
	if r.first != nil {
		in = append(in, r.first(c))
	}
	fixed := r.t.NumIn()
	if r.t.IsVariadic() {
		fixed--
	}
	arg := 0
	for i := len(in); i < fixed; i++ {
		v, err := argumentOf(c, arg, r.t.In(i))
		if err != nil {
			return nil, err
		}
		in = append(in, v)
		arg++
	}
	if r.t.IsVariadic() {
		each := r.t.In(fixed).Elem()
		for ; arg < c.Len(); arg++ {
			v, err := argumentOf(c, arg, each)
			if err != nil {
				return nil, err
			}
			in = append(in, v)
		}
	}
	return in, nil
}

// argumentOf converts argument i to a parameter of type t.
func argumentOf(c *Call, i int, t reflect.Type) (reflect.Value, error) {
	v := reflect.New(t).Elem()
	if c.IsNil(i) && mayBeNil(t) {
		return v, nil
	}
	return v, c.bind(i, v)
}

// mayBeNil says whether a parameter of type t may be left out. A *Function is what it points to, no
// option.
func mayBeNil(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return t != functionType && t != threadType
	case reflect.Interface:
		return true
	}
	return false
}
