package wire

import (
	"errors"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// The errors of CanonicalQuantity, with kube-apiserver's texts.
var (
	ErrQuantityFormat  = errors.New("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
	ErrQuantityNumeric = errors.New("unable to parse numeric part of quantity")
	ErrQuantitySuffix  = errors.New("unable to parse quantity's suffix")
)

// CanonicalQuantity returns the text in which kube-apiserver writes a resource
// quantity, or one of the errors above. White space around s is dropped.
//
// The canonical text has the fewest digits before a suffix that leaves no
// fraction, in the notation of s (1024Mi is 1Gi, 1.5 is 1500m, 0.1e4 is 1e3).
// As in kube-apiserver there are two exceptions: numbers that its parser
// assumes to be canonical are unchanged (+5, 1.50), and a number too great for
// any suffix loses its zeros (1000E is 1). Digits below 1n are rounded up in
// magnitude, and a number with a binary suffix is capped at 2^63-1.
func CanonicalQuantity(s string) (string, error) {
	s = strings.TrimSpace(s)
	switch s {
	case "":
		return "", ErrQuantityFormat
	case "0":
		return s, nil
	}
	q, err := splitQuantity(s)
	if err != nil {
		return "", err
	}
	sfx, err := parseSuffix(q.suffix)
	if err != nil {
		return "", err
	}
	if v, scale, ok := q.small(sfx); ok {
		if q.keepsText(sfx, v, scale) {
			return s, nil
		}
		if sfx.notation == binarySI {
			return formatBinary(v), nil
		}
		return formatDecimal(strconv.FormatInt(v, 10), scale, sfx.notation), nil
	}
	if !q.hasDigits() {
		return "", ErrQuantityNumeric
	}
	if sfx.notation == binarySI {
		return q.formatBinary(sfx.exponent), nil
	}
	digits, exponent := roundUp(strings.TrimLeft(q.whole+q.fraction, "0"), int64(sfx.exponent)-int64(len(q.fraction)))
	if q.negative {
		digits = "-" + digits
	}
	return formatDecimal(digits, int32(exponent), sfx.notation), nil
}

// keepsText reports whether the parser of kube-apiserver assumes that the text of q is canonical.
// v and scale are what small returned.
func (q *quantity) keepsText(sfx suffix, v int64, scale int32) bool {
	if sfx.notation == binarySI {
		return v != 0 && (q.unscaled()&7) != 0
	}
	shifted := q.whole + q.fraction
	return scale%3 == 0 && !strings.HasSuffix(shifted, "000") && shifted[0] != '0'
}

// A QuantityForm is how the Go type Quantity holds a quantity that it has decoded. Two Quantities
// of one value are deeply equal if they hold the same text, or both hold none and are small.
type QuantityForm struct {
	// KeepsText is whether it holds the text.
	KeepsText bool
	small     bool // whether it holds an integer and a power
}

// FormOf returns the form of a quantity, the zero value for what is none.
func FormOf(s string) (f QuantityForm) {
	s = strings.TrimSpace(s)
	if s == "0" {
		return QuantityForm{KeepsText: true, small: true}
	}
	q, err := splitQuantity(s)
	if err != nil {
		return f
	}
	sfx, err := parseSuffix(q.suffix)
	if err != nil {
		return f
	}
	v, scale, ok := q.small(sfx)
	return QuantityForm{KeepsText: ok && q.keepsText(sfx, v, scale), small: ok}
}

// EqualQuantities reports whether the Quantities decoded from a text and from its canonical text
// are deeply equal.
func EqualQuantities(text, canonical string) bool {
	if text == canonical {
		return true
	}
	a, b := FormOf(text), FormOf(canonical)
	return a == b && a.small && !a.KeepsText
}

// A quantity has the parts of the text of a resource quantity.
type quantity struct {
	negative bool
	number   string // sign and digits as written
	whole    string // digits before the point without leading zeros, or "0"
	fraction string // digits after the point
	suffix   string
}

// splitQuantity splits a quantity into its parts. A text that starts with a
// sign and zeros only is zero regardless of what follows.
func splitQuantity(s string) (q quantity, err error) {
	pos := 0
	if s[0] == '-' || s[0] == '+' {
		q.negative = s[0] == '-'
		pos++
	}
	for pos < len(s) && s[pos] == '0' {
		pos++
	}
	if pos == len(s) {
		q.number, q.whole = "0", "0"
		return q, nil
	}
	start := pos
	pos = skipDigits(s, pos)
	q.whole = s[start:pos]
	if q.whole == "" {
		q.whole = "0"
	}
	if pos < len(s) && s[pos] == '.' {
		start = pos + 1
		pos = skipDigits(s, start)
		q.fraction = s[start:pos]
	}
	q.number, q.suffix = s[:pos], s[pos:]
	for pos < len(s) && strings.IndexByte("eEinumkKMGTP", s[pos]) >= 0 {
		pos++
	}
	if pos < len(s) && (s[pos] == '-' || s[pos] == '+') {
		pos++
	}
	if skipDigits(s, pos) < len(s) {
		return q, ErrQuantityFormat
	}
	return q, nil
}

// skipDigits returns the index of the first byte from pos on that is not a
// digit.
func skipDigits(s string, pos int) int {
	for pos < len(s) && '0' <= s[pos] && s[pos] <= '9' {
		pos++
	}
	return pos
}

// hasDigits reports whether the number contains a digit: "." does not.
func (q *quantity) hasDigits() bool {
	return strings.ContainsAny(q.number, "0123456789")
}

// unscaled returns the digits of a small quantity as a number.
func (q *quantity) unscaled() int64 {
	v, err := strconv.ParseInt(q.whole+q.fraction, 10, 64)
	if err != nil {
		panic("wire: " + err.Error()) // unreachable: small has counted the digits
	}
	return v
}

// small returns the quantity as v times 10^scale if kube-apiserver holds it in
// that form. Its shortcuts apply to such quantities only.
func (q *quantity) small(sfx suffix) (v int64, scale int32, ok bool) {
	digits := len(q.whole) + len(q.fraction)
	if sfx.notation == binarySI {
		// A binary exponent of 10 is about three decimal digits.
		if q.fraction != "" || 15-len(q.whole)-int(sfx.exponent)*3/10-1 < 0 {
			return 0, 0, false
		}
		v = q.unscaled() << sfx.exponent
	} else {
		scale = sfx.exponent - int32(len(q.fraction))
		if digits > 18 || scale < -9 {
			return 0, 0, false
		}
		v = q.unscaled()
	}
	if q.negative {
		v = -v
	}
	return v, scale, true
}

// nanos returns a quantity with a binary suffix that is not small, in
// billionths.
func (q *quantity) nanos(exponent int32) *big.Int {
	nanos, _ := new(big.Int).SetString(q.whole+q.fraction, 10)
	nanos.Lsh(nanos, uint(exponent))
	nanos.Mul(nanos, giga)
	if q.fraction != "" {
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(q.fraction))), nil)
		rest := new(big.Int)
		if nanos.QuoRem(nanos, scale, rest); rest.Sign() != 0 {
			nanos.Add(nanos, big.NewInt(1))
		}
	}
	most := new(big.Int).Mul(maxBinary, giga)
	if nanos.Cmp(most) > 0 {
		nanos = most
	}
	if q.negative {
		nanos.Neg(nanos)
	}
	return nanos
}

// formatBinary formats a quantity with a binary suffix that is not small.
func (q *quantity) formatBinary(exponent int32) string {
	nanos := q.nanos(exponent)
	units, rest := new(big.Int).QuoRem(nanos, giga, new(big.Int))
	if rest.Sign() != 0 {
		return formatDecimal(nanos.String(), finest, decimalSI)
	}
	return formatBinary(units.Int64()) // nanos caps it
}

var (
	giga      = big.NewInt(1e9)
	maxBinary = big.NewInt(1<<63 - 1)
)

// formatBinary formats a whole number with a binary suffix, unless the number
// is less than the first suffix.
func formatBinary(v int64) string {
	if -1024 < v && v < 1024 {
		return formatDecimal(strconv.FormatInt(v, 10), 0, decimalSI)
	}
	exponent := bits.TrailingZeros64(uint64(v)) / 10 * 10
	return strconv.FormatInt(v>>exponent, 10) + suffix{binarySI, int32(exponent)}.String()
}

// finest is the power of ten to which quantities are rounded up.
const finest = -9

// roundUp rounds digits times 10^exponent up to a multiple of 1e-9.
func roundUp(digits string, exponent int64) (string, int64) {
	if digits == "" || exponent >= finest {
		return digits, exponent
	}
	dropped := finest - exponent
	if dropped >= int64(len(digits)) {
		return "1", finest
	}
	kept := digits[:int64(len(digits))-dropped]
	if strings.Trim(digits[len(kept):], "0") == "" {
		return kept, finest
	}
	v, _ := new(big.Int).SetString(kept, 10)
	return v.Add(v, big.NewInt(1)).String(), finest
}

// formatDecimal formats digits, which may have a sign, times 10^exponent.
func formatDecimal(digits string, exponent int32, n notation) string {
	if strings.Trim(digits, "-0") == "" {
		return "0"
	}
	trimmed := strings.TrimRight(digits, "0")
	exponent += int32(len(digits) - len(trimmed))
	for exponent%3 != 0 {
		trimmed += "0"
		exponent--
	}
	return trimmed + suffix{n, exponent}.String()
}

// A notation is one of the three families of suffixes.
type notation uint8

const (
	decimalSI notation = iota
	decimalExponent
	binarySI
)

// A suffix is the suffix of a quantity: a power of ten, or of two in binarySI.
type suffix struct {
	notation notation
	exponent int32
}

// suffixes has the suffixes of binarySI and decimalSI.
var suffixes = map[string]suffix{
	"Ki": {binarySI, 10}, "Mi": {binarySI, 20}, "Gi": {binarySI, 30},
	"Ti": {binarySI, 40}, "Pi": {binarySI, 50}, "Ei": {binarySI, 60},
	"n": {decimalSI, -9}, "u": {decimalSI, -6}, "m": {decimalSI, -3}, "": {decimalSI, 0},
	"k": {decimalSI, 3}, "M": {decimalSI, 6}, "G": {decimalSI, 9},
	"T": {decimalSI, 12}, "P": {decimalSI, 15}, "E": {decimalSI, 18},
}

// suffixTexts is the inverse of suffixes.
var suffixTexts = func() map[suffix]string {
	texts := make(map[suffix]string, len(suffixes))
	for text, s := range suffixes {
		texts[s] = text
	}
	return texts
}()

func parseSuffix(text string) (suffix, error) {
	if s, ok := suffixes[text]; ok {
		return s, nil
	}
	if text[0] != 'e' && text[0] != 'E' {
		return suffix{}, ErrQuantitySuffix
	}
	exponent, err := strconv.ParseInt(text[1:], 10, 64)
	if err != nil {
		return suffix{}, ErrQuantitySuffix
	}
	return suffix{decimalExponent, int32(exponent)}, nil
}

// String returns "" for an exponent without a suffix.
func (s suffix) String() string {
	if s.notation != decimalExponent {
		return suffixTexts[s]
	}
	if s.exponent == 0 {
		return ""
	}
	return "e" + strconv.Itoa(int(s.exponent))
}
