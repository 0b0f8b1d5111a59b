package semver

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The precedence of semver.org, section 11.
func TestSemverOrder(t *testing.T) {
	order := []string{"0.0.0", "0.0.1", "0.2.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.10+b", "1.2.0"}
	for i := range order {
		for j := range order {
			v, err := Parse(order[i])
			require.NoError(t, err)
			w, err := Parse(order[j])
			require.NoError(t, err)
			switch got := v.Compare(w); {
			case i < j:
				assert.Negative(t, got, "%s and %s", order[i], order[j])
			case i > j:
				assert.Positive(t, got, "%s and %s", order[i], order[j])
			default:
				assert.Zero(t, got, order[i])
			}
		}
	}
}

// FuzzSemver checks the parser against the regular expression of semver.org.
func FuzzSemver(f *testing.F) {
	official := regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`)
	for _, s := range []string{"", "1", "1.2", "1.2.3", "01.2.3", "1.2.3-", "1.2.3-0a", "1.2.3-01", "1.2.3-a..b", "1.2.3+", "1.2.3+01.-", "1.2.3-a+b+c", "v1.2.3", "1.2.3 ", "-1.2.3", "+1.2.3", "1.2.3--"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 18 {
			return // a number of 20 digits does not fit
		}
		_, err := Parse(s)
		assert.Equal(t, official.MatchString(s), err == nil, s)
	})
}
