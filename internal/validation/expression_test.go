package validation

import (
	"regexp"
	"testing"
)

// FuzzExpressions compares formats with the regular expressions that their
// messages quote.
func FuzzExpressions(f *testing.F) {
	matchers := make(map[string]func(string) bool)
	for re, check := range map[string]func(string) []string{
		dns1123LabelRE:               DNS1123Label,
		dns1123SubdomainRE:           DNS1123Subdomain,
		dns1123SubdomainUnderscoreRE: DNS1123SubdomainWithUnderscore,
		dns1123WildcardRE:            WildcardDNS1123Subdomain,
		dns1035LabelRE:               DNS1035Label,
		labelValueRE:                 LabelValue,
		cIdentifierRE:                CIdentifier,
		percentRE:                    Percent,
		httpHeaderNameRE:             HTTPHeaderName,
		conditionReasonRE:            ConditionReason,
	} {
		matchers[re] = func(s string) bool { return len(check(s)) == 0 }
	}
	matchers[qualifiedNameRE] = isQualifiedPart

	expressions := make(map[string]*regexp.Regexp)
	for re := range matchers {
		expressions[re] = regexp.MustCompile("^" + re + "$")
	}

	for _, s := range []string{
		"", "a", "Z", "0", "-", "_", ".", "a-", "-a", "a-b", "a--b", "a.b", "a..b", ".a", "a.", "*.a", "*.", "*.a.b",
		"_a._b", "__a", "a_", "1%", "%", "a,b:c", "a,", "a\n", "\xff", "ſ", "K", "A-1", "X-Y",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > LabelValueMaxLength {
			return // the length has a rule of its own
		}
		for re, matches := range matchers {
			if got, want := matches(s), expressions[re].MatchString(s); got != want {
				t.Errorf("%q matches %s: got %t, want %t", s, re, got, want)
			}
		}
	})
}
