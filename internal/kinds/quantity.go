package kinds

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/wire"
)

// roundList rounds the quantities of a resource list up to thousandths, the
// finest that the API keeps there.
func roundList(list any) {
	m, _ := list.(map[string]any)
	for name, v := range m {
		q, _ := v.(string)
		if rounded := roundUp(q); rounded != q {
			m[name] = rounded
		}
	}
}

// roundRequirements rounds the limits and requests of a container, a pod or a
// claim.
func roundRequirements(resources any) {
	if m, ok := resources.(map[string]any); ok {
		roundList(m["limits"])
		roundList(m["requests"])
	}
}

// roundUp rounds a canonical quantity up, away from zero, to thousandths.
func roundUp(q string) string {
	if !strings.ContainsAny(q, "nu.-") {
		return q // thousandths or coarser: anything finer shows in the notation
	}
	n, notation := nanos(q)
	milli, rest := new(big.Int).QuoRem(n, million, new(big.Int))
	if rest.Sign() == 0 {
		return q
	}
	milli.Add(milli, big.NewInt(int64(rest.Sign())))
	return format(milli.Mul(milli, million), notation)
}

// sum adds quantities, in the notation of a unless that is zero.
func sum(a, b string) string {
	x, notation := nanos(a)
	y, other := nanos(b)
	if x.Sign() == 0 {
		notation = other
	}
	return format(x.Add(x, y), notation)
}

// difference takes one quantity from another, in whose notation it is.
func difference(a, b string) string {
	x, notation := nanos(a)
	y, _ := nanos(b)
	return format(x.Sub(x, y), notation)
}

// compare orders quantities by value.
func compare(a, b string) int {
	if a == b {
		return 0
	}
	if b == "0" {
		return sign(a)
	}
	x, _ := nanos(a)
	y, _ := nanos(b)
	return x.Cmp(y)
}

// sign is -1, 0 or 1 for a quantity below 0, of 0 and above.
func sign(q string) int {
	switch {
	case !nonzero(q):
		return 0
	case q[0] == '-':
		return -1
	}
	return 1
}

// positive reports whether a quantity is more than none.
func positive(q string) bool { return sign(q) > 0 }

// isSuffix tells what cannot be in the number of a quantity.
func isSuffix(c rune) bool { return c != '.' && c != '-' && c != '+' && (c < '0' || c > '9') }

// The notations in which a sum can be written.
const (
	decimal  = 'k'
	exponent = 'e'
	binary   = 'i'
)

// decimalSuffixes have the powers of ten that stand for a letter.
var decimalSuffixes = map[string]int{"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}

// maxExponent bounds the powers of ten that are reckoned with.
const maxExponent = 64

var million = big.NewInt(1e6)

// nanos is a canonical quantity in billionths, and the notation it has. What is
// no quantity is zero.
func nanos(q string) (*big.Int, byte) {
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

// scale is n times ten to the power, rounded away from zero.
func scale(n *big.Int, power int) *big.Int {
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(power, -power))), nil)
	if power >= 0 {
		return n.Mul(n, ten)
	}
	n, rest := n.QuoRem(n, ten, new(big.Int))
	return n.Add(n, big.NewInt(int64(rest.Sign())))
}

// format is the canonical text of billionths.
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
		panic("kinds: " + err.Error()) // unreachable: a whole number with a suffix is a quantity
	}
	return text
}

// nonzero reports whether a quantity is not 0.
func nonzero(q string) bool {
	end := strings.IndexFunc(q, isSuffix)
	if end < 0 {
		end = len(q)
	}
	return strings.ContainsAny(q[:end], "123456789")
}

var billion = big.NewInt(1e9)

// isWhole reports whether a quantity is a whole number.
func isWhole(q string) bool {
	if !strings.ContainsAny(q, "mnu.-") {
		return true // nothing in the notation makes it less than units
	}
	n, _ := nanos(q)
	return new(big.Int).Rem(n, billion).Sign() == 0
}

// roundToUnits rounds a quantity up, away from zero, to a whole number.
func roundToUnits(q string) string {
	if isWhole(q) {
		return q
	}
	n, notation := nanos(q)
	n, rest := n.QuoRem(n, billion, new(big.Int))
	n.Add(n, big.NewInt(int64(rest.Sign())))
	return format(n.Mul(n, billion), notation)
}
