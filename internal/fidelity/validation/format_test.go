// Package validation_test compares package validation with the validation
// functions of k8s.io/apimachinery. The messages must be the same, in the same
// order.
package validation_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubefake/kubefake/internal/validation"
)

// formats maps each format to the upstream function.
var formats = map[string]struct {
	got, want func(string) []string
}{
	"DNS1123Label":                   {validation.DNS1123Label, utilvalidation.IsDNS1123Label},
	"DNS1123Subdomain":               {validation.DNS1123Subdomain, utilvalidation.IsDNS1123Subdomain},
	"LongName":                       {validation.LongName, content.IsDNS1123Subdomain},
	"LongNameCaseless":               {validation.LongNameCaseless, content.IsDNS1123SubdomainCaseless},
	"DNS1123SubdomainWithUnderscore": {validation.DNS1123SubdomainWithUnderscore, utilvalidation.IsDNS1123SubdomainWithUnderscore},
	"WildcardDNS1123Subdomain":       {validation.WildcardDNS1123Subdomain, utilvalidation.IsWildcardDNS1123Subdomain},
	"DNS1035Label":                   {validation.DNS1035Label, utilvalidation.IsDNS1035Label},
	"QualifiedName":                  {validation.QualifiedName, utilvalidation.IsQualifiedName},
	"LabelValue":                     {validation.LabelValue, utilvalidation.IsValidLabelValue},
	"PathSegment":                    {validation.PathSegment, content.IsPathSegmentName},
	"CIdentifier":                    {validation.CIdentifier, utilvalidation.IsCIdentifier},
	"RelaxedEnvVarName":              {validation.RelaxedEnvVarName, utilvalidation.IsRelaxedEnvVarName},
	"ConfigMapKey":                   {validation.ConfigMapKey, utilvalidation.IsConfigMapKey},
	"PortName":                       {validation.PortName, utilvalidation.IsValidPortName},
	"Percent":                        {validation.Percent, utilvalidation.IsValidPercent},
	"HTTPHeaderName":                 {validation.HTTPHeaderName, utilvalidation.IsHTTPHeaderName},
	"UUID": {validation.UUID, func(s string) []string {
		return details(validate.UUID(context.Background(), operation.Operation{}, nil, &s, nil))
	}},

	"SubdomainName":           {named(validation.SubdomainName, false), named(apivalidation.NameIsDNSSubdomain, false)},
	"SubdomainName prefix":    {named(validation.SubdomainName, true), named(apivalidation.NameIsDNSSubdomain, true)},
	"LabelName":               {named(validation.LabelName, false), named(apivalidation.NameIsDNSLabel, false)},
	"LabelName prefix":        {named(validation.LabelName, true), named(apivalidation.NameIsDNSLabel, true)},
	"DNS1035LabelName":        {named(validation.DNS1035LabelName, false), named(apivalidation.NameIsDNS1035Label, false)},
	"DNS1035LabelName prefix": {named(validation.DNS1035LabelName, true), named(apivalidation.NameIsDNS1035Label, true)},
	"PathSegmentName":         {named(validation.PathSegmentName, false), content.IsPathSegmentName},
	"PathSegmentName prefix":  {named(validation.PathSegmentName, true), content.IsPathSegmentPrefix},
	"UnprefixedName":          {named(validation.UnprefixedName, false), content.IsDNS1123Subdomain},
	"IPAddressName":           {named(validation.IPAddressName, false), func(s string) []string { return details(utilvalidation.IsValidIP(nil, s)) }},
}

// listFormats has the formats that return errors or warnings.
var listFormats = map[string]struct {
	got  func(string, *validation.Path) []string
	want func(*field.Path, string) []string
}{
	"FullyQualifiedName":       {list(validation.FullyQualifiedName), upstream(utilvalidation.IsFullyQualifiedName)},
	"FullyQualifiedDomainName": {list(validation.FullyQualifiedDomainName), upstream(utilvalidation.IsFullyQualifiedDomainName)},
	"DomainPrefixedPath":       {list(validation.DomainPrefixedPath), upstream(utilvalidation.IsDomainPrefixedPath)},
	"DomainPrefixedKey":        {list(validation.DomainPrefixedKey), upstream(utilvalidation.IsDomainPrefixedKey)},
	"LabelKey":                 {list(validation.LabelKey), func(p *field.Path, s string) []string { return theirs(metavalidation.ValidateLabelName(s, p)) }},
	"IP":                       {list(validation.IP), upstream(utilvalidation.IsValidIP)},
	"CIDR":                     {list(validation.CIDR), upstream(utilvalidation.IsValidCIDR)},
	"InterfaceAddress":         {list(validation.InterfaceAddress), upstream(utilvalidation.IsValidInterfaceAddress)},
	"LegacyIP": {
		func(s string, p *validation.Path) []string {
			return ours(validation.LegacyIP(s, []string{"010.0.0.1"}, p))
		},
		func(p *field.Path, s string) []string {
			return theirs(utilvalidation.IsValidIPForLegacyField(p, s, true, []string{"010.0.0.1"}))
		},
	},
	"LegacyCIDR": {
		func(s string, p *validation.Path) []string {
			return ours(validation.LegacyCIDR(s, []string{"10.0.0.1/8"}, p))
		},
		func(p *field.Path, s string) []string {
			return theirs(utilvalidation.IsValidCIDRForLegacyField(p, s, true, []string{"10.0.0.1/8"}))
		},
	},
	// Upstream logs an error for text that is not an address.
	"IPWarnings": {validation.IPWarnings, func(p *field.Path, s string) []string {
		if len(utilvalidation.IsValidIPForLegacyField(p, s, false, nil)) > 0 {
			return nil
		}
		return utilvalidation.GetWarningsForIP(p, s)
	}},
	"CIDRWarnings": {validation.CIDRWarnings, func(p *field.Path, s string) []string {
		if len(utilvalidation.IsValidCIDRForLegacyField(p, s, false, nil)) > 0 {
			return nil
		}
		return utilvalidation.GetWarningsForCIDR(p, s)
	}},
	"Conditions reason": {
		func(s string, p *validation.Path) []string {
			return ours(validation.Conditions([]any{map[string]any{
				"type": s, "status": s, "reason": s, "message": s, "lastTransitionTime": "2024-01-01T00:00:00Z", "observedGeneration": int64(len(s) - 1),
			}}, p))
		},
		func(p *field.Path, s string) []string {
			return theirs(metavalidation.ValidateConditions([]metav1.Condition{{
				Type: s, Status: metav1.ConditionStatus(s), Reason: s, Message: s, LastTransitionTime: metav1.Now(), ObservedGeneration: int64(len(s) - 1),
			}}, p))
		},
	},
}

func named(f func(string, bool) []string, prefix bool) func(string) []string {
	return func(s string) []string { return f(s, prefix) }
}

func list(f func(string, *validation.Path) validation.List) func(string, *validation.Path) []string {
	return func(s string, p *validation.Path) []string { return ours(f(s, p)) }
}

func upstream(f func(*field.Path, string) field.ErrorList) func(*field.Path, string) []string {
	return func(p *field.Path, s string) []string { return theirs(f(p, s)) }
}

// ours and theirs convert two lists to one form: reason, field and body. ours keeps what the
// newest release reports.
func ours(list validation.List) []string {
	var texts []string
	for _, e := range list.In(compared(), "", "") {
		texts = append(texts, string(e.Reason)+" "+e.Error())
	}
	return texts
}

func theirs(list field.ErrorList) []string {
	var texts []string
	for _, e := range list {
		texts = append(texts, string(e.Type)+" "+e.Error())
	}
	return texts
}

func details(list field.ErrorList) []string {
	var texts []string
	for _, e := range list {
		texts = append(texts, e.Detail)
	}
	return texts
}

// corners are edge cases of the formats.
var corners = func() []string {
	values := []string{
		"", " ", "a", "A", "0", "-", "_", ".", "..", "...", "/", "//", "%", "*", "*.", "\n", "a\n", "é", "\xff", "ſ", "\u212a", "K.ſ", "=",
		"a-", "-a", "a-a", "a--a", "a_", "_a", "__a", "a_a", "_a._b", "a.", ".a", "a..a", "a.b", "a.b.c", "a.b.c.", "A.b", "a.B",
		"a/", "/a", "a/b", "a/b/c", "A/b", "a.b/C", "a.b/_", "example.com/foo", "example.com/foo bar", "example.com/é",
		"1", "01", "00", "-0", "-1", "--1", "+1", "1e3", "9999999999999999999999", "80", "http", "http-2", "1%", "%1", "10%%",
		"*.a", "*.*.a", "a.*", "*a.b", "..data", ".data", "FOO", "FOO=BAR", "foo bar", "X-Header",
		"01234567-89ab-cdef-0123-456789abcdef", "01234567-89AB-cdef-0123-456789abcdef", "0123456789ab-cdef-0123-456789abcdef--",
		"True", "False", "Unknown", "Reason", "Reason,Reason", "Reason:", "Reason_",
		"10.0.0.1", "010.0.0.1", "10.0.0.01", "10.0.0", "10.0.0.256", "10.0.0.0001", "1.2.3.4.5", "0.0.0.0", "00.0.0.0", "1.2.3.4%eth0",
		"::", "::1", "::0001", "::00001", "::01", "1::", "1::2::3", "fe80::1%eth0", "FE80::abc", "fe80:0:0:0:0:0:0:1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::1:2:3:4:5:6:7:8",
		"::ffff:1.2.3.4", "::ffff:01.2.3.4", "::ffff:0:0", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:1.2.3.4", "::fffff", "::0fffff", "::00ffff", ":1", "1:",
		"10.0.0.0/8", "10.0.0.1/8", "010.0.0.0/8", "10.0.0.0/08", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "/8", "10.0.0.0/99999999999999999999",
		"::/0", "::/00", "::1/64", "fe80::/10", "FE80::/10", "fe80:0::/10", "fe80::1/64", "::/129", "::ffff:1.2.3.4/120", "::ffff:1.2.3.0/120", "::ffff:1.2.3.4/24", "::ffff:1.2.3.4/96", "::ffff:0.0.0.0/96", "::ffff:1.2.3.4/128", "1.2.3.4/32", "::1%eth0/64",
	}
	for _, n := range []int{15, 16, 32, 33, 63, 64, 253, 254, 1024, 1025} {
		values = append(values, strings.Repeat("a", n), strings.Repeat("a", n)+"/b", "b/"+strings.Repeat("a", n), strings.Repeat("a.", n/2)+"a", strings.Repeat("-", n))
	}
	return values
}()

// randomText returns text that is often almost valid.
func randomText(r *rand.Rand) string {
	alphabets := []string{"ab0-._/", "aB9-._/", "0123456789.", "0123456789abcdef:.", "0f:", "0129./:", "a\x00é\xff%*=,: \n~"}
	alphabet := alphabets[r.IntN(len(alphabets))]
	b := make([]byte, r.IntN(20))
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

func compareFormats(t *testing.T, s string) {
	t.Helper()
	for name, f := range formats {
		want := f.want(s)
		if len(want) == 0 {
			want = nil
		}
		require.Equal(t, want, f.got(s), "%s(%q)", name, s)
	}
	for name, f := range listFormats {
		want := f.want(field.NewPath("a").Index(1).Key("b"), s)
		require.Equal(t, want, f.got(s, validation.NewPath("a").Index(1).Key("b")), "%s(%q)", name, s)
	}
}

func TestFormatsOnRandomText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 36))
	for range 500 {
		compareFormats(t, randomText(r))
	}
}

func FuzzFormats(f *testing.F) {
	for _, s := range corners {
		f.Add(s)
	}
	f.Fuzz(compareFormats)
}

func TestNumbers(t *testing.T) {
	for _, n := range []int{-1 << 31, -1, 0, 1, 80, 65535, 65536, 1<<31 - 1, 1 << 31, 1 << 40} {
		assert.Equal(t, utilvalidation.IsValidPortNum(n), validation.PortNumber(n))
		assert.Equal(t, utilvalidation.IsInRange(n, 0, 80), validation.InRange(n, 0, 80))
		assert.Equal(t, utilvalidation.IsValidUserID(int64(n)), validation.UserID(int64(n)))
		assert.Equal(t, utilvalidation.IsValidGroupID(int64(n)), validation.GroupID(int64(n)))
		assert.Equal(t, theirs(apivalidation.ValidateNonnegativeField(int64(n), field.NewPath("a"))),
			ours(validation.NonNegative(int64(n), validation.NewPath("a"))))
	}
}

func TestMessages(t *testing.T) {
	assert.Equal(t, utilvalidation.MaxLenError(52), validation.MaxLengthMessage(52))
	assert.Equal(t, utilvalidation.InclusiveRangeError(1, 2), validation.RangeMessage(1, 2))
	assert.Equal(t, utilvalidation.RegexError("m", "re"), validation.RegexpMessage("m", "re"))
	assert.Equal(t, utilvalidation.RegexError("m", "re", "a"), validation.RegexpMessage("m", "re", "a"))
	assert.Equal(t, utilvalidation.RegexError("m", "re", "a", "b", "c"), validation.RegexpMessage("m", "re", "a", "b", "c"))
}
