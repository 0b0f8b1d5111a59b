package quantity

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// The errors of Canonical, with kube-apiserver's texts.
var (
	ErrFormat  = errors.New("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
	ErrNumeric = errors.New("unable to parse numeric part of quantity")
	ErrSuffix  = errors.New("unable to parse quantity's suffix")
)

// Canonical returns the text in which kube-apiserver writes a resource
// quantity, or one of the errors above. White space around s is dropped.
//
// The canonical text has the fewest digits before a suffix that leaves no
// fraction, in the notation of s (1024Mi is 1Gi, 1.5 is 1500m, 0.1e4 is 1e3).
// As in kube-apiserver there are two exceptions: numbers that its parser
// assumes to be canonical are unchanged (+5, 1.50), and a number too great for
// any suffix loses its zeros (1000E is 1). Digits below 1n are rounded up in
// magnitude, and a number with a binary suffix is capped at 2^63-1.
func Canonical(s string) (string, error) {
	s = strings.TrimSpace(s)
	if s == "0" {
		return s, nil
	}
	q, err := parse(s)
	if err != nil {
		return "", err
	}
	if v, scale, ok := q.small(); ok {
		switch {
		case q.keepsText(v, scale):
			return s, nil
		case q.notation == binarySI:
			return formatBinary(big.NewInt(v)), nil
		}
		return formatDecimal(strconv.FormatInt(v, 10), scale, q.notation), nil
	}
	if !q.hasDigits {
		return "", ErrNumeric
	}
	if q.notation == binarySI {
		return format(q.nanos(), binarySI), nil
	}
	digits, exponent := q.rounded()
	if q.negative {
		digits = "-" + digits
	}
	return formatDecimal(digits, int32(exponent), q.notation), nil
}

// A Form is how the Go type Quantity holds a quantity that it has decoded. Two Quantities
// of one value are deeply equal if they hold the same text, or both hold none and are small.
type Form struct {
	// KeepsText is whether it holds the text.
	KeepsText bool
	small     bool // whether it holds an integer and a power
}

// FormOf returns the form of a quantity, the zero value for what is none.
func FormOf(s string) (f Form) {
	s = strings.TrimSpace(s)
	if s == "0" {
		return Form{KeepsText: true, small: true}
	}
	q, err := parse(s)
	if err != nil {
		return f
	}
	v, scale, ok := q.small()
	return Form{KeepsText: ok && q.keepsText(v, scale), small: ok}
}

// DeepEqual reports whether the Quantities decoded from a text and from its canonical text
// are deeply equal.
func DeepEqual(text, canonical string) bool {
	if text == canonical {
		return true
	}
	a, b := FormOf(text), FormOf(canonical)
	return a == b && a.small && !a.KeepsText
}

// A parsed quantity has the parts of its text.
type parsed struct {
	negative  bool
	hasDigits bool   // false for a point alone
	whole     string // digits before the point without leading zeros, or "0"
	fraction  string // digits after the point
	suffix
}

// parse returns the parts of a quantity without white space around it. A text that starts with a
// sign and zeros only is zero regardless of what follows. Of a number that is not small, hasDigits
// must be checked.
func parse(s string) (q parsed, err error) {
	if s == "" {
		return q, ErrFormat
	}
	pos := 0
	if s[0] == '-' || s[0] == '+' {
		q.negative = s[0] == '-'
		pos++
	}
	for pos < len(s) && s[pos] == '0' {
		pos++
	}
	if pos == len(s) {
		q.hasDigits, q.whole = true, "0"
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
	q.hasDigits = strings.ContainsAny(s[:pos], "0123456789")
	suffix := s[pos:]
	for pos < len(s) && strings.IndexByte("eEinumkKMGTP", s[pos]) >= 0 {
		pos++
	}
	if pos < len(s) && (s[pos] == '-' || s[pos] == '+') {
		pos++
	}
	if skipDigits(s, pos) < len(s) {
		return q, ErrFormat
	}
	q.suffix, err = parseSuffix(suffix)
	return q, err
}

// skipDigits returns the index of the first byte from pos on that is not a
// digit.
func skipDigits(s string, pos int) int {
	for pos < len(s) && '0' <= s[pos] && s[pos] <= '9' {
		pos++
	}
	return pos
}

// unscaled returns the digits of a small quantity as a number.
func (q *parsed) unscaled() int64 {
	v, err := strconv.ParseInt(q.whole+q.fraction, 10, 64)
	if err != nil {
		panic("quantity: " + err.Error()) // unreachable: small has counted the digits
	}
	return v
}

// small returns the quantity as v times 10^scale if kube-apiserver holds it in
// that form. Its shortcuts apply to such quantities only.
func (q *parsed) small() (v int64, scale int32, ok bool) {
	digits := len(q.whole) + len(q.fraction)
	if q.notation == binarySI {
		// A binary exponent of 10 is about three decimal digits.
		if q.fraction != "" || 15-len(q.whole)-int(q.exponent)*3/10-1 < 0 {
			return 0, 0, false
		}
		v = q.unscaled() << q.exponent
	} else {
		scale = q.exponent - int32(len(q.fraction))
		if digits > 18 || scale < finest {
			return 0, 0, false
		}
		v = q.unscaled()
	}
	if q.negative {
		v = -v
	}
	return v, scale, true
}

// keepsText reports whether the parser of kube-apiserver assumes that the text of q is canonical.
// v and scale are what small returned.
func (q *parsed) keepsText(v int64, scale int32) bool {
	if q.notation == binarySI {
		return v != 0 && (q.unscaled()&7) != 0
	}
	shifted := q.whole + q.fraction
	return scale%3 == 0 && !strings.HasSuffix(shifted, "000") && shifted[0] != '0'
}

// nanos returns the quantity in billionths, rounded away from zero, and capped if its suffix is binary.
func (q *parsed) nanos() *big.Int {
	n, ok := new(big.Int).SetString(q.whole+q.fraction, 10)
	if !ok {
		return new(big.Int) // a point alone
	}
	power := min(int(q.exponent), maxExponent)
	if q.notation == binarySI {
		n.Lsh(n, uint(power))
		power = 0
	}
	n = scale(n, power-finest-len(q.fraction))
	if q.notation == binarySI && n.Cmp(maxBinary) > 0 {
		n.Set(maxBinary)
	}
	if q.negative {
		n.Neg(n)
	}
	return n
}

// rounded returns the digits of a decimal quantity, without leading zeros and rounded up to billionths,
// and their power of ten.
func (q *parsed) rounded() (digits string, exponent int64) {
	digits, exponent = strings.TrimLeft(q.whole+q.fraction, "0"), int64(q.exponent)-int64(len(q.fraction))
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

const (
	// finest is the power of ten to which quantities are rounded up.
	finest = -9
	// maxExponent is the largest power of ten that is computed.
	maxExponent = 64
)

var (
	// Billion is the number of billionths in a unit. It must not be changed.
	Billion   = big.NewInt(1e9)
	million   = big.NewInt(1e6)
	kibi      = big.NewInt(1 << 10)
	maxBinary = new(big.Int).Mul(big.NewInt(1<<63-1), Billion)
)

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
func format(n *big.Int, in notation) string {
	if in == binarySI {
		if units, rest := new(big.Int).QuoRem(n, Billion, new(big.Int)); rest.Sign() == 0 {
			return formatBinary(units)
		}
		in = decimalSI
	}
	return formatDecimal(n.String(), finest, in)
}

// formatBinary formats a whole number with a binary suffix, unless the number
// is less than the first suffix.
func formatBinary(n *big.Int) string {
	if n.CmpAbs(kibi) < 0 {
		return formatDecimal(n.String(), 0, decimalSI)
	}
	exponent := n.TrailingZeroBits() / 10 * 10
	return new(big.Int).Rsh(n, exponent).String() + suffix{binarySI, int32(exponent)}.String()
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
		return suffix{}, ErrSuffix
	}
	exponent, err := strconv.ParseInt(text[1:], 10, 64)
	if err != nil {
		return suffix{}, ErrSuffix
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
