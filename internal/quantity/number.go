package quantity

import (
	"cmp"
	"math/big"
	"strings"
)

// A Number is the value of a resource quantity: Unscaled times 10^Scale.
type Number struct {
	Unscaled *big.Int
	Scale    int32
	// Small is set if kube-apiserver holds the number in 64 bits. Int64
	// supports only such numbers.
	Small bool
}

// maxScale is the maximum power of ten in calculations.
const maxScale = 4096

// Parse returns the value of a quantity. Its errors are those of Canonical. Digits below 1n are
// rounded up in magnitude, and a number with a binary suffix is capped at 2^63-1.
func Parse(s string) (Number, error) {
	q, err := parse(strings.TrimSpace(s))
	if err != nil {
		return Number{}, err
	}
	if v, scale, ok := q.small(); ok {
		return Number{big.NewInt(v), min(scale, maxScale), true}, nil
	}
	if !q.hasDigits {
		return Number{}, ErrNumeric
	}
	if q.notation == binarySI {
		return Number{Unscaled: q.nanos(), Scale: finest}, nil
	}
	digits, exponent := q.rounded()
	n := Number{Unscaled: new(big.Int), Scale: int32(min(exponent, maxScale))}
	n.Unscaled.SetString(digits, 10)
	if q.negative {
		n.Unscaled.Neg(n.Unscaled)
	}
	return Number{Unscaled: n.at(finest), Scale: finest}, nil
}

// Int64 returns the number as an integer. It reports false if the number does
// not fit, or has a scale for fractions, such as 1000m.
func (n Number) Int64() (int64, bool) {
	if !n.Small || n.Scale < 0 {
		return 0, false
	}
	v := n.at(0)
	return v.Int64(), v.IsInt64()
}

// Compare returns -1, 0 or 1 if n is less than, equal to or greater than o.
func (n Number) Compare(o Number) int {
	if a, b := n.Unscaled.Sign(), o.Unscaled.Sign(); a != b || a == 0 {
		return cmp.Compare(a, b)
	}
	scale := min(n.Scale, o.Scale)
	return n.at(scale).Cmp(o.at(scale))
}

// Add returns n + o.
func (n Number) Add(o Number) Number {
	switch {
	case n.Small && o.Small && o.Unscaled.Sign() == 0:
		return n
	case n.Small && o.Small && n.Unscaled.Sign() == 0:
		return o
	}
	scale := min(n.Scale, o.Scale)
	a, b := n.at(scale), o.at(scale)
	sum := new(big.Int).Add(a, b)
	return Number{sum, scale, n.Small && o.Small && a.IsInt64() && b.IsInt64() && sum.IsInt64()}
}

// Neg returns -n.
func (n Number) Neg() Number {
	n.Unscaled = new(big.Int).Neg(n.Unscaled)
	return n
}

// at returns the unscaled value at a scale that is not greater.
func (n Number) at(scale int32) *big.Int {
	if n.Scale == scale {
		return n.Unscaled
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n.Scale)-int64(scale)), nil)
	return power.Mul(power, n.Unscaled)
}
