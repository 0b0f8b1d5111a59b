package quantity

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestToThousandths(t *testing.T) {
	for q, want := range map[string]string{
		"1": "1", "1500m": "1500m", "1.50": "1.50", "1Gi": "1Gi", "1e3": "1e3", "": "",
		"1n": "1m", "-1n": "-1m", "100u": "1m", "1000001u": "1001m", "1.000500": "1001m", "1000u": "1000u",
		"1e-6": "1e-3", "102400001n": "103m",
	} {
		assert.Equal(t, want, toThousandths(q), q)
	}
}

func TestSum(t *testing.T) {
	for _, row := range []struct{ name, a, b, want string }{
		{"decimal", "250m", "1750m", "2"},
		{"binary", "512Mi", "512Mi", "1Gi"},
		{"in the notation of the first", "1500M", "64Mi", "1567108864"},
		{"binary and decimal", "64Mi", "1024k", "66536Ki"},
		{"zero has none", "0", "64Mi", "64Mi"},
		{"exponent", "1e3", "500", "1500"},
		{"small and binary", "100", "1Ki", "1124"},
		{"binary, no multiple of 1Ki", "1Ki", "3976", "5000"},
		{"binary, greater than 2^63", "8191Pi", "8191Pi", "16382Pi"},
		{"a fraction and binary", "1Ki", "500m", "1024500m"},
		{"negative", "-1", "1", "0"},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, Add(row.a, row.b)) })
	}
}

func TestDifference(t *testing.T) {
	for _, row := range []struct{ name, a, b, want string }{
		{"decimal", "2", "250m", "1750m"},
		{"binary", "1Gi", "512Mi", "512Mi"},
		{"zero has no notation", "0", "64Mi", "-64Mi"},
		{"nothing is left", "1Gi", "1024Mi", "0"},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, Sub(row.a, row.b)) })
	}
}

func TestCompareNumbers(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{
		{"-3", "1.5", -1}, {"1", "-1m", 1}, {"-3", "0", -1}, {"0", "-3", 1}, {"0", "0m", 0}, {"1", "0", 1},
		{"1", "1000m", 0}, {"1Ki", "1k", 1}, {"-1Ki", "-1k", -1}, {"12345678901234567890", "1", 1},
	} {
		a, err := Parse(row.a)
		require.NoError(t, err)
		b, err := Parse(row.b)
		require.NoError(t, err)
		assert.Equal(t, row.want, a.Compare(b), "%s and %s", row.a, row.b)
	}
}

func TestCompare(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{
		{"1", "1000m", 0}, {"1Gi", "1024Mi", 0}, {"1G", "1Gi", -1}, {"1E", "1P", 1}, {"1e3", "1k", 0}, {"-1", "0", -1},
		{"1e999999999", "1E", 1}, // larger than maxExponent
	} {
		assert.Equal(t, row.want, Compare(row.a, row.b), "%s and %s", row.a, row.b)
	}
}

func TestPositive(t *testing.T) {
	for q, want := range map[string]bool{"1": true, "100m": true, "0": false, "-1": false, "": false, "0.5": true, "+5": true, "1e-9": true} {
		assert.Equal(t, want, IsPositive(q), q)
	}
}

// FuzzToThousandths checks that a rounded quantity is canonical and at most a thousandth
// greater than the original.
func FuzzToThousandths(f *testing.F) {
	for _, q := range []string{"1", "1n", "-100u", "1.000500", "1e-6", "0.1Ki", "12345678901234567890", "9E"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := Canonical(s)
		if err != nil || len(s) > 100 {
			return
		}
		rounded := toThousandths(q)
		again, err := Canonical(rounded)
		assert.NoError(t, err)
		assert.Equal(t, again, rounded)
		before, after := Nanos(q), Nanos(rounded)
		assert.GreaterOrEqual(t, after.CmpAbs(before), 0)
		assert.Negative(t, after.Sub(after, before).CmpAbs(million))
		assert.Equal(t, rounded, toThousandths(rounded))
	})
}

func TestPredicates(t *testing.T) {
	for q, want := range map[string]struct {
		sign   int
		whole  bool
		toUnit string
	}{
		"":         {0, true, ""},
		"0":        {0, true, "0"},
		"0.0":      {0, true, "0.0"},
		"1":        {1, true, "1"},
		"-1":       {-1, true, "-1"},
		"1500m":    {1, false, "2"},
		"-1500m":   {-1, false, "-2"},
		"1n":       {1, false, "1"},
		"2e3":      {1, true, "2e3"},
		"25e-1":    {1, false, "3"},
		"1536Mi":   {1, true, "1536Mi"},
		"-0":       {0, true, "-0"},
		"100E":     {1, true, "100E"},
		"1000000m": {1, true, "1000000m"},
	} {
		t.Run(q, func(t *testing.T) {
			assert.Equal(t, want.sign, sign(q))
			assert.Equal(t, want.sign != 0, IsNonZero(q))
			assert.Equal(t, want.sign > 0, IsPositive(q))
			assert.Equal(t, want.whole, IsInteger(q))
			assert.Equal(t, want.toUnit, RoundToUnits(q))
			assert.Equal(t, Nanos(want.toUnit).String(), new(big.Int).Mul(Count(q, 1e9), Billion).String())
			if q != "" {
				assert.Equal(t, want.sign, Compare(q, "0"))
			}
		})
	}
}
