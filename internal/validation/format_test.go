package validation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/validation"
)

// The texts in these tables are those of kube-apiserver v1.36.3.
const (
	labelText      = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
	subdomainText  = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	namePartText   = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	labelValueText = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)

func TestFormats(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	for _, tc := range []struct {
		name  string
		check func(string) []string
		value string
		want  []string
	}{
		{"label", validation.DNS1123Label, "0-a", nil},
		{"label of 63", validation.DNS1123Label, a(63), nil},
		{"label of 64", validation.DNS1123Label, a(64), []string{"must be no more than 63 characters"}},
		{"label with dots", validation.DNS1123Label, "a.b", []string{"must not contain dots"}},
		{"label empty", validation.DNS1123Label, "", []string{labelText}},
		{"label in capitals", validation.DNS1123Label, "A", []string{labelText}},

		{"subdomain", validation.DNS1123Subdomain, "a.0-0.b", nil},
		{"subdomain of 253", validation.DNS1123Subdomain, a(253), nil},
		{"subdomain too long and wrong", validation.DNS1123Subdomain, a(253) + ".", []string{"must be no more than 253 characters", subdomainText}},
		{"subdomain in bytes", validation.LongName, a(254), []string{"must be no more than 253 bytes"}},
		{"subdomain with an empty label", validation.DNS1123Subdomain, "a..b", []string{subdomainText}},
		{"subdomain in capitals", validation.DNS1123Subdomain, "A.b", []string{subdomainText}},
		{"subdomain in either case", validation.LongNameCaseless, "A.b", nil},

		{"wildcard", validation.WildcardDNS1123Subdomain, "*.a.b", nil},
		{"1035 label", validation.DNS1035Label, "a-0", nil},
		{"1035 label with a digit first", validation.DNS1035Label, "0a", []string{"a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"}},

		{"qualified name", validation.QualifiedName, "example.com/My_name.1", nil},
		{"qualified name without a prefix", validation.QualifiedName, "A", nil},
		{"qualified name empty", validation.QualifiedName, "", []string{"name part must be non-empty", namePartText}},
		{"qualified name with a dash first", validation.QualifiedName, "-bad", []string{namePartText}},
		{"qualified name too long", validation.QualifiedName, a(64), []string{"name part must be no more than 63 bytes"}},
		{"qualified name with an empty prefix", validation.QualifiedName, "/a", []string{"prefix part must be non-empty"}},
		{"qualified name with a bad prefix", validation.QualifiedName, "UPPER.com/x", []string{"prefix part " + subdomainText}},
		{"qualified name of three parts", validation.QualifiedName, "a/b/c", []string{
			"a valid label key " + strings.TrimPrefix(namePartText, "name part ") + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
		}},

		{"label value empty", validation.LabelValue, "", nil},
		{"label value too long", validation.LabelValue, a(64), []string{"must be no more than 63 bytes"}},
		{"label value with spaces", validation.LabelValue, "not a value", []string{labelValueText}},

		{"path segment", validation.PathSegment, "a:b c", nil},
		{"path segment of two dots", validation.PathSegment, "..", []string{"may not be '..'"}},
		{"path segment with everything wrong", validation.PathSegment, "a/%", []string{"may not contain '/'", "may not contain '%'"}},

		{"C identifier", validation.CIdentifier, "_a1", nil},
		{"C identifier with a digit first", validation.CIdentifier, "1a", []string{"a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"}},

		{"relaxed variable", validation.RelaxedEnvVarName, "1 + 1", nil},
		{"relaxed variable empty", validation.RelaxedEnvVarName, "", []string{"environment variable name must be non-empty"}},
		{"relaxed variable with an equals sign", validation.RelaxedEnvVarName, "a=", []string{"a valid environment variable name must consist only of printable ASCII characters other than '='"}},

		{"config key", validation.ConfigMapKey, ".a_B-1", nil},
		{"config key to a parent", validation.ConfigMapKey, "..a", []string{"must not start with '..'"}},
		{"config key with a space", validation.ConfigMapKey, "a b", []string{"a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"}},

		{"port name", validation.PortName, "http-2", nil},
		{"port name empty", validation.PortName, "", []string{"must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)", "must contain at least one letter (a-z)"}},
		{"port name of 16", validation.PortName, a(16), []string{"must be no more than 15 characters"}},
		{"port name with everything wrong", validation.PortName, "-1--1", []string{"must contain at least one letter (a-z)", "must not contain consecutive hyphens", "must not begin or end with a hyphen"}},

		{"percent", validation.Percent, "07%", nil},
		{"percent without a number", validation.Percent, "%", []string{"a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"}},
		{"header", validation.HTTPHeaderName, "X-A", nil},
		{"header with a colon", validation.HTTPHeaderName, "X:", []string{"a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"}},
		{"reason", validation.ConditionReason, "A,b:c_", nil},
		{"uuid", validation.UUID, "01234567-89ab-cdef-0123-456789abcdef", nil},
		{"uuid in capitals", validation.UUID, "01234567-89AB-cdef-0123-456789abcdef", []string{"must be a lowercase UUID in 8-4-4-4-12 format"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, tc.check(tc.value))
		})
	}
}

func TestNumbers(t *testing.T) {
	const port = "must be between 1 and 65535, inclusive"
	const id = "must be between 0 and 2147483647, inclusive"
	for _, tc := range []struct {
		name string
		got  []string
		want []string
	}{
		{"lowest port", validation.PortNumber(1), nil},
		{"highest port", validation.PortNumber(65535), nil},
		{"port zero", validation.PortNumber(0), []string{port}},
		{"port too high", validation.PortNumber(65536), []string{port}},
		{"root", validation.UserID(0), nil},
		{"negative user", validation.UserID(-1), []string{id}},
		{"group beyond 31 bits", validation.GroupID(1 << 31), []string{id}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, tc.got)
		})
	}
}

// listCase is a row for a check that returns a List.
type listCase struct {
	name string
	list validation.List
	want []string
}

func runListCases(t *testing.T, cases []listCase) {
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, texts(tc.list.In(nil, "", "")))
		})
	}
}

// texts returns the texts of the errors in a list.
func texts(list validation.List) []string {
	var s []string
	for _, e := range list {
		s = append(s, e.Error())
	}
	return s
}

func TestDomains(t *testing.T) {
	p := validation.NewPath("p")
	runListCases(t, []listCase{
		{"full name", validation.FullyQualifiedName("a.b.c", p), nil},
		{"full name empty", validation.FullyQualifiedName("", p), []string{"p: Required value"}},
		{"full name of two labels", validation.FullyQualifiedName("a.b", p), []string{`p: Invalid value: "a.b": should be a domain with at least three segments separated by dots`}},
		{"domain with a dot last", validation.FullyQualifiedDomainName("a.b.", p), nil},
		{"domain of one label", validation.FullyQualifiedDomainName("a", p), []string{`p: Invalid value: "a": should be a domain with at least two segments separated by dots`}},
		{"domain with a long label", validation.FullyQualifiedDomainName("b."+strings.Repeat("a", 64), p), []string{`p: Invalid value: "` + strings.Repeat("a", 64) + `": must be no more than 63 characters`}},
		{"path", validation.DomainPrefixedPath("acme.io/foo/bar%20", p), nil},
		{"path without a slash", validation.DomainPrefixedPath("acme.io", p), []string{`p: Invalid value: "acme.io": must be a domain-prefixed path (such as "acme.io/foo")`}},
		{"path wrong in both parts", validation.DomainPrefixedPath("A/ ", p), []string{
			`p: Invalid value: "A": ` + subdomainText,
			`p: Invalid value: " ": Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')`,
		}},
		{"key", validation.DomainPrefixedKey("acme.io/foo", p), nil},
		{"key without a slash", validation.DomainPrefixedKey("foo", p), []string{`p: Invalid value: "foo": must be a domain-prefixed key (such as "acme.io/foo")`}},
		{"zero", validation.NonNegative(0, p), nil},
		{"negative", validation.NonNegative(-1, p), []string{"p: Invalid value: -1: must be greater than or equal to 0"}},
	})
}

func TestSignerName(t *testing.T) {
	for _, test := range []struct {
		name, signer string
		want         []string
	}{
		{"good", "example.com/a.b", nil},
		{"empty", "", []string{"s: Required value"}},
		{"no path", "example.com", []string{`s: Invalid value: "example.com": must be a fully qualified domain and path of the form 'example.com/signer-name'`}},
		{"two slashes", "example.com/a/b", []string{`s: Invalid value: "example.com/a/b": must be a fully qualified domain and path of the form 'example.com/signer-name'`}},
		{"one label", "com/a", []string{`s: Invalid value: "com": should be a domain with at least two segments separated by dots`}},
		{"bad labels", "a.B.C/d_", []string{
			`s: Invalid value: "a.B.C": validating label "B": ` + labelText,
			`s: Invalid value: "d_": validating label "d_": ` + subdomainText,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, e := range validation.SignerName(test.signer, validation.NewPath("s")) {
				got = append(got, e.Error())
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestIsSysctl(t *testing.T) {
	for name, want := range map[string]bool{
		"kernel.shm_rmid_forced": true, "net/ipv4/ip_local_port_range": true, "net.ipv4/a-b": true, "a": true,
		"": false, "A": false, "a.": false, ".a": false, "a..b": false, "a._b": false, strings.Repeat("a", 254): false,
	} {
		assert.Equal(t, want, validation.IsSysctl(name), name)
	}
}
