package quantity

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCanonical(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
		err            error
	}{
		{name: "whole", in: "5", want: "5"},
		{name: "zero", in: "-00.0Mi", want: "0"},
		{name: "space", in: " 5 ", want: "5"},
		{name: "fraction", in: "1.5", want: "1500m"},
		{name: "thousands", in: "2000", want: "2k"},
		{name: "binary", in: "1024Mi", want: "1Gi"},
		{name: "binary fraction", in: "1.5Gi", want: "1536Mi"},
		{name: "binary below the first suffix", in: "0.5Ki", want: "512"},
		{name: "binary with a remainder", in: "1.1Ki", want: "1126400m"},
		{name: "binary capped", in: "100Ei", want: "9223372036854775807"},
		{name: "exponent", in: "0.1e4", want: "1e3"},
		{name: "finest", in: "1e-12", want: "1e-9"},
		{name: "finest rounds up", in: "-1.1n", want: "-2n"},
		{name: "many digits", in: "123456789012345678901234000", want: "123456789012345678901234k"},
		{name: "huge exponents cost nothing", in: "1234567890123456789e1999999998", want: "1234567890123456789e1999999998"},
		{name: "tiny exponents cost nothing", in: "5e-1999999999", want: "1e-9"},
		{name: "kept: a sign", in: "+5", want: "+5"},
		{name: "kept: a zero at the end", in: "1.500", want: "1.500"},
		{name: "lost: too great for a suffix", in: "1000E", want: "1"},
		{name: "empty", in: "", err: ErrFormat},
		{name: "no number", in: "Mi5x", err: ErrFormat},
		{name: "no such suffix", in: "5K", err: ErrSuffix},
		{name: "exponent without digits", in: "5e", err: ErrSuffix},
		{name: "point alone", in: ".e-10", err: ErrNumeric},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Canonical(tt.in)
			assert.Equal(t, tt.err, err)
			assert.Equal(t, tt.want, got)
			if err == nil {
				again, err := Canonical(got)
				assert.NoError(t, err)
				assert.Equal(t, got, again)
			}
		})
	}
}

// FuzzCanonical checks that the canonical text has the value of the quantity, and
// that it is its own canonical text, with the exceptions of huge numbers.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"1.5Gi", "+5", ".", "1e-10", "1000E", "-1.5Ki", "1234567890123456789e1999999999", "1000e2147483647"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Canonical(s)
		if err != nil {
			return
		}
		q, err := parse(strings.TrimSpace(s))
		require.NoError(t, err, "%q", s)
		least, most := int64(q.exponent)-int64(len(s)), int64(q.exponent)+int64(len(s))
		if least < math.MinInt32 || most > math.MaxInt32 {
			return // the exponent overflows, as in kube-apiserver
		}
		again, err := Canonical(got)
		require.NoError(t, err, "%q: %q", s, got)
		require.Equal(t, got, again, "%q", s)
		before, err := Parse(s)
		require.NoError(t, err, "%q", s)
		after, err := Parse(got)
		require.NoError(t, err, "%q: %q", s, got)
		tooGreat := q.notation == decimalSI && before.Unscaled.CmpAbs(Number{Unscaled: big.NewInt(1000), Scale: 18}.at(before.Scale)) >= 0
		capped := q.notation == decimalExponent && most > maxScale
		if !tooGreat && !capped {
			require.Zero(t, before.Compare(after), "%q: %q", s, got)
			return
		}
		// A number too great for any suffix loses its zeros, and Parse caps exponents.
		digits := func(n Number) string { return strings.TrimRight(n.at(finest).String(), "0") }
		require.Equal(t, digits(before), digits(after), "%q: %q", s, got)
	})
}
