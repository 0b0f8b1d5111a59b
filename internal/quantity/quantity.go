// Package quantity has resource quantities: their canonical text, such as "100m" or "1Gi", and
// functions that compare, add and round them.
package quantity

import (
	"math/big"
	"strings"
)

// RoundList rounds the quantities of a resource list up to thousandths, as the API
// does.
func RoundList(list any) {
	m, _ := list.(map[string]any)
	for name, v := range m {
		q, _ := v.(string)
		if rounded := toThousandths(q); rounded != q {
			m[name] = rounded
		}
	}
}

// RoundRequirements calls RoundList for the limits and requests of a container, a
// pod or a claim.
func RoundRequirements(resources any) {
	if m, ok := resources.(map[string]any); ok && len(m) > 0 {
		RoundList(m["limits"])
		RoundList(m["requests"])
	}
}

// toThousandths rounds a canonical quantity away from zero to thousandths.
func toThousandths(q string) string {
	if !maybeBelowThousandths(q) {
		return q
	}
	return roundTo(q, million)
}

// roundTo rounds a canonical quantity away from zero to a multiple of so many billionths.
func roundTo(q string, multiple *big.Int) string {
	n, in := inNanos(q)
	n, rest := n.QuoRem(n, multiple, new(big.Int))
	if rest.Sign() == 0 {
		return q
	}
	n.Add(n, big.NewInt(int64(rest.Sign())))
	return format(n.Mul(n, multiple), in)
}

// maybeBelowThousandths returns false for a positive integer with a suffix that makes it a
// multiple of a thousandth, and for other quantities true.
func maybeBelowThousandths(q string) bool {
	for i := range len(q) {
		switch q[i] {
		case 'n', 'u', '.', '-':
			return true
		}
	}
	return false
}

// Add returns a + b in the notation of a, or of b if a is zero.
func Add(a, b string) string { return combined(a, b, (*big.Int).Add) }

// Sub returns a - b in the notation of a, or of b if a is zero.
func Sub(a, b string) string { return combined(a, b, (*big.Int).Sub) }

func combined(a, b string, combine func(to, x, y *big.Int) *big.Int) string {
	x, in := inNanos(a)
	y, other := inNanos(b)
	if x.Sign() == 0 {
		in = other
	}
	return format(combine(x, x, y), in)
}

// Compare returns a negative number, 0 or a positive number if a is less than,
// equal to or greater than b.
func Compare(a, b string) int {
	if a == b {
		return 0
	}
	if b == "0" {
		return sign(a)
	}
	return Nanos(a).Cmp(Nanos(b))
}

// sign returns -1, 0 or 1 for a negative, a zero and a positive quantity.
func sign(q string) int {
	switch {
	case !IsNonZero(q):
		return 0
	case q[0] == '-':
		return -1
	}
	return 1
}

// IsPositive reports whether a quantity is above 0.
func IsPositive(q string) bool { return sign(q) > 0 }

// Nanos returns a canonical quantity in billionths, zero if q is not a quantity. The caller may
// change the result.
func Nanos(q string) *big.Int {
	n, _ := inNanos(q)
	return n
}

// Count returns how many times a canonical quantity has so many billionths, rounded away from zero.
func Count(q string, billionths int64) *big.Int {
	n, rest := new(big.Int).QuoRem(Nanos(q), big.NewInt(billionths), new(big.Int))
	return n.Add(n, big.NewInt(int64(rest.Sign())))
}

// inNanos is Nanos with the notation of the quantity.
func inNanos(s string) (*big.Int, notation) {
	q, err := parse(s)
	if err != nil {
		return new(big.Int), decimalSI
	}
	return q.nanos(), q.notation
}

// IsNonZero reports whether a quantity is not 0.
func IsNonZero(q string) bool {
	for i := range len(q) {
		switch c := q[i]; {
		case '1' <= c && c <= '9':
			return true
		case strings.IndexByte("+-.0", c) < 0: // the suffix
			return false
		}
	}
	return false
}

// IsInteger reports whether a quantity is a whole number.
func IsInteger(q string) bool {
	if strings.IndexByte(q, 'm') < 0 && !maybeBelowThousandths(q) {
		return true // no decimal point and no suffix below units
	}
	return new(big.Int).Rem(Nanos(q), Billion).Sign() == 0
}

// RoundToUnits rounds a quantity away from zero to a whole number.
func RoundToUnits(q string) string {
	if IsInteger(q) {
		return q
	}
	return roundTo(q, Billion)
}

// Ratio returns a / b. b must not be 0.
func Ratio(a, b string) float64 {
	f, _ := new(big.Rat).SetFrac(Nanos(a), Nanos(b)).Float64()
	return f
}
