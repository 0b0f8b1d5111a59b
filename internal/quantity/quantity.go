// Package quantity compares, adds and rounds canonical quantities, such as "100m"
// or "1Gi".
package quantity

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/wire"
)

// RoundList rounds the quantities of a resource list up to thousandths, as the API
// does.
func RoundList(list any) {
	m, _ := list.(map[string]any)
	for name, v := range m {
		q, _ := v.(string)
		if rounded := roundUp(q); rounded != q {
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

// roundUp rounds a canonical quantity away from zero to thousandths.
func roundUp(q string) string {
	if !maybeBelowThousandths(q) {
		return q
	}
	n, notation := Nanos(q)
	milli, rest := new(big.Int).QuoRem(n, million, new(big.Int))
	if rest.Sign() == 0 {
		return q
	}
	milli.Add(milli, big.NewInt(int64(rest.Sign())))
	return format(milli.Mul(milli, million), notation)
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
func Add(a, b string) string {
	x, notation := Nanos(a)
	y, other := Nanos(b)
	if x.Sign() == 0 {
		notation = other
	}
	return format(x.Add(x, y), notation)
}

// Sub returns a - b in the notation of a.
func Sub(a, b string) string {
	x, notation := Nanos(a)
	y, _ := Nanos(b)
	return format(x.Sub(x, y), notation)
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
	x, _ := Nanos(a)
	y, _ := Nanos(b)
	return x.Cmp(y)
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

// isSuffix reports whether c is not part of the number of a quantity.
func isSuffix(c rune) bool { return c != '.' && c != '-' && c != '+' && (c < '0' || c > '9') }

// The notations in which a sum can be written.
const (
	decimal  = 'k'
	exponent = 'e'
	binary   = 'i'
)

// decimalSuffixes maps each decimal suffix to its power of ten.
var decimalSuffixes = map[string]int{"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}

// maxExponent is the largest power of ten that is computed.
const maxExponent = 64

var million = big.NewInt(1e6)

// Nanos returns a canonical quantity in billionths, and its notation. It returns
// zero if q is not a quantity.
func Nanos(q string) (*big.Int, byte) {
	end := strings.IndexFunc(q, isSuffix)
	if end < 0 {
		end = len(q)
	}
	whole, fraction, _ := strings.Cut(q[:end], ".")
	n, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return new(big.Int), decimal
	}
	notation, power := byte(decimal), 0
	suffix := q[end:]
	if p, ok := decimalSuffixes[suffix]; ok {
		power = p
	} else if strings.HasSuffix(suffix, "i") {
		notation = binary
		n.Lsh(n, uint(10*(1+strings.Index("KMGTPE", suffix[:1]))))
	} else {
		notation = exponent
		power, _ = strconv.Atoi(suffix[1:])
	}
	return scale(n, min(power, maxExponent)+9-len(fraction)), notation
}

// scale returns n times ten to the power, rounded away from zero.
func scale(n *big.Int, power int) *big.Int {
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(power, -power))), nil)
	if power >= 0 {
		return n.Mul(n, ten)
	}
	n, rest := n.QuoRem(n, ten, new(big.Int))
	return n.Add(n, big.NewInt(int64(rest.Sign())))
}

// format returns the canonical quantity of n billionths.
func format(n *big.Int, notation byte) string {
	suffix := "n"
	switch units, rest := new(big.Int).QuoRem(n, big.NewInt(1e9), new(big.Int)); {
	case notation == exponent:
		suffix = "e-9"
	case notation == binary && rest.Sign() == 0:
		n, suffix = units, ""
		if units.TrailingZeroBits() >= 10 {
			n, suffix = units.Rsh(units, 10), "Ki"
		}
	}
	text, err := wire.CanonicalQuantity(n.String() + suffix)
	if err != nil {
		panic("quantity: " + err.Error()) // unreachable: a whole number with a suffix is a quantity
	}
	return text
}

// IsNonZero reports whether a quantity is not 0.
func IsNonZero(q string) bool {
	for i := range len(q) {
		switch c := q[i]; {
		case '1' <= c && c <= '9':
			return true
		case isSuffix(rune(c)):
			return false
		}
	}
	return false
}

var Billion = big.NewInt(1e9)

// IsInteger reports whether a quantity is a whole number.
func IsInteger(q string) bool {
	if strings.IndexByte(q, 'm') < 0 && !maybeBelowThousandths(q) {
		return true // no decimal point and no suffix below units
	}
	n, _ := Nanos(q)
	return new(big.Int).Rem(n, Billion).Sign() == 0
}

// RoundToUnits rounds a quantity away from zero to a whole number.
func RoundToUnits(q string) string {
	if IsInteger(q) {
		return q
	}
	n, notation := Nanos(q)
	n, rest := n.QuoRem(n, Billion, new(big.Int))
	n.Add(n, big.NewInt(int64(rest.Sign())))
	return format(n.Mul(n, Billion), notation)
}

// Ratio returns a / b. b must not be 0.
func Ratio(a, b string) float64 {
	x, _ := Nanos(a)
	y, _ := Nanos(b)
	f, _ := new(big.Rat).SetFrac(x, y).Float64()
	return f
}
