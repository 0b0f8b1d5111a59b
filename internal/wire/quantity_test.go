package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCanonicalQuantity(t *testing.T) {
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
		{name: "empty", in: "", err: ErrQuantityFormat},
		{name: "no number", in: "Mi5x", err: ErrQuantityFormat},
		{name: "no such suffix", in: "5K", err: ErrQuantitySuffix},
		{name: "exponent without digits", in: "5e", err: ErrQuantitySuffix},
		{name: "point alone", in: ".e-10", err: ErrQuantityNumeric},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := CanonicalQuantity(tt.in)
			assert.Equal(t, tt.err, err)
			assert.Equal(t, tt.want, got)
			if err == nil {
				again, err := CanonicalQuantity(got)
				assert.NoError(t, err)
				assert.Equal(t, got, again)
			}
		})
	}
}

func FuzzCanonicalQuantity(f *testing.F) {
	for _, s := range []string{"1.5Gi", "+5", ".", "1e-10", "1000E", "-1.5Ki", "1234567890123456789e1999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := CanonicalQuantity(s)
		if err == nil && got == "" {
			t.Fatalf("%q: no text", s)
		}
	})
}
