package convert

import (
	"math/big"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// Numbers converts a typed array, or an array of numbers, booleans and BigInts, to floats. It returns false for other values.
func Numbers(v goja.Value) ([]float64, bool) {
	if v == nil {
		return nil, false
	}
	switch data := internals.Export(v).(type) {
	case []float32:
		return floats(data), true
	case []float64:
		return floats(data), true
	case []int8:
		return floats(data), true
	case []uint8:
		return floats(data), true
	case []int16:
		return floats(data), true
	case []uint16:
		return floats(data), true
	case []int32:
		return floats(data), true
	case []uint32:
		return floats(data), true
	case []int64:
		return floats(data), true
	case []uint64:
		return floats(data), true
	case []any:
		return mixed(data)
	}
	return nil, false
}

func floats[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64](data []T) []float64 {
	list := make([]float64, len(data))
	for i, x := range data {
		list[i] = float64(x)
	}
	return list
}

func mixed(data []any) ([]float64, bool) {
	list := make([]float64, len(data))
	for i, x := range data {
		switch x := x.(type) {
		case float64:
			list[i] = x
		case int64:
			list[i] = float64(x)
		case bool:
			if x {
				list[i] = 1
			}
		case *big.Int:
			list[i], _ = new(big.Float).SetInt(x).Float64()
		default:
			return nil, false
		}
	}
	return list, true
}
