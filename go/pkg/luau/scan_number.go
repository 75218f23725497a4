package luau

import (
	"math"
	"math/big"
	"reflect"
	"strconv"
)

var bigIntType = reflect.TypeFor[big.Int]()

func assignScalar(to reflect.Value, v any) error {
	switch x := v.(type) {
	case bool:
		if to.Kind() == reflect.Bool {
			to.SetBool(x)
			return nil
		}
	case string:
		if to.Kind() == reflect.String && to.Type() != reflect.TypeFor[Exact]() {
			to.SetString(x)
			return nil
		}
	case Integer:
		return assignInteger(to, x)
	case Exact:
		if n, err := strconv.ParseUint(string(x), 10, 64); err == nil && to.CanUint() && !to.OverflowUint(n) {
			to.SetUint(n)
			return nil
		}
		if to.CanInt() || to.CanUint() || to.CanFloat() {
			return tooLarge(to, string(x))
		}
	case float64:
		return assignNumber(to, x)
	}
	return mismatch(to.Type(), v)
}

func tooLarge(to reflect.Value, n string) error {
	return fail(CodeConvert, "must fit a Go %s, got %s", to.Type(), n)
}

func assignInteger(to reflect.Value, x Integer) error {
	switch {
	case to.CanInt() && !to.OverflowInt(int64(x)):
		to.SetInt(int64(x))
	case to.CanUint() && x >= 0 && !to.OverflowUint(uint64(x)):
		to.SetUint(uint64(x))
	case to.Kind() == reflect.Float64 && x >= -maxExact && x <= maxExact:
		to.SetFloat(float64(x))
	case to.CanInt() || to.CanUint() || to.CanFloat():
		return tooLarge(to, strconv.FormatInt(int64(x), 10))
	default:
		return mismatch(to.Type(), x)
	}
	return nil
}

func assignNumber(to reflect.Value, x float64) error {
	whole := x == math.Trunc(x)
	switch {
	case to.CanFloat() && (math.IsInf(x, 0) || !to.OverflowFloat(x)):
		to.SetFloat(x)
	case to.CanInt() && whole && x >= -(1<<63) && x < 1<<63 && !to.OverflowInt(int64(x)):
		to.SetInt(int64(x))
	case to.CanUint() && whole && x >= 0 && x < 1<<64 && !to.OverflowUint(uint64(x)):
		to.SetUint(uint64(x))
	case (to.CanInt() || to.CanUint()) && !whole:
		return fail(CodeConvert, "must be %s, got %s", article(to.Type()), FormatNumber(x))
	case to.CanInt() || to.CanUint() || to.CanFloat():
		return tooLarge(to, FormatNumber(x))
	default:
		return mismatch(to.Type(), x)
	}
	return nil
}

func assignBig(to reflect.Value, v any) error {
	n := to.Addr().Interface().(*big.Int)
	switch x := v.(type) {
	case Integer:
		n.SetInt64(int64(x))
		return nil
	case Exact:
		if _, ok := n.SetString(string(x), 10); ok {
			return nil
		}
	case float64:
		if x == math.Trunc(x) && !math.IsInf(x, 0) {
			new(big.Float).SetFloat64(x).Int(n)
			return nil
		}
		return fail(CodeConvert, "must be a whole number, got %s", FormatNumber(x))
	}
	return mismatch(to.Type(), v)
}
