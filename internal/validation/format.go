package validation

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Maximum lengths of the DNS formats, in bytes.
const (
	DNS1123LabelMaxLength     = 63
	DNS1123SubdomainMaxLength = 253
	DNS1035LabelMaxLength     = 63
	LabelValueMaxLength       = 63

	qualifiedNameMaxLength = 63
	portNameMaxLength      = 15
)

// The regular expressions in messages.
const (
	dns1123LabelRE               = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
	dns1123LabelUnderscoreRE     = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
	dns1123SubdomainRE           = dns1123LabelRE + `(\.` + dns1123LabelRE + ")*"
	dns1123SubdomainUnderscoreRE = dns1123LabelUnderscoreRE + `(\.` + dns1123LabelUnderscoreRE + ")*"
	dns1123WildcardRE            = `\*\.` + dns1123SubdomainRE
	dns1035LabelRE               = "[a-z]([-a-z0-9]*[a-z0-9])?"
	qualifiedNameRE              = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
	labelValueRE                 = "(" + qualifiedNameRE + ")?"
	cIdentifierRE                = "[A-Za-z_][A-Za-z0-9_]*"
	configMapKeyRE               = "[-._a-zA-Z0-9]+"
	percentRE                    = "[0-9]+%"
	httpHeaderNameRE             = "[-A-Za-z0-9]+"
	httpPathRE                   = `[A-Za-z0-9/\-._~%!$&'()*+,;=:]+`
	conditionReasonRE            = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
)

// The rules in messages.
const (
	dns1123LabelRule               = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
	dns1123SubdomainRule           = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
	dns1123SubdomainUnderscoreRule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character"
	dns1123SubdomainCaselessRule   = "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
	dns1123WildcardRule            = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
	dns1035LabelRule               = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
	qualifiedNameRule              = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
	labelValueRule                 = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
	cIdentifierRule                = "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'"
	relaxedEnvVarNameRule          = "a valid environment variable name must consist only of printable ASCII characters other than '='"
	configMapKeyRule               = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
	percentRule                    = "a valid percent string must be a numeric string followed by an ending '%'"
	httpHeaderNameRule             = "a valid HTTP header must consist of alphanumeric characters or '-'"
	conditionReasonRule            = "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'"
	uuidRule                       = "must be a lowercase UUID in 8-4-4-4-12 format"
	nonEmptyRule                   = "must be non-empty"
)

// MaxLengthMessage is the message for a name of more than n bytes. Its text
// says characters.
func MaxLengthMessage(n int) string {
	return "must be no more than " + strconv.Itoa(n) + " characters"
}

// maxBytesMessage is the text of MaxLengthMessage in newer formats: label keys
// and values, and the formats that schemas declare.
func maxBytesMessage(n int) string {
	return "must be no more than " + strconv.Itoa(n) + " bytes"
}

// RegexpMessage is the message for a rule and its regular expression, with
// examples of valid values if any are given.
func RegexpMessage(rule, expression string, examples ...string) string {
	if len(examples) == 0 {
		return rule + " (regex used for validation is '" + expression + "')"
	}
	return rule + " (e.g. '" + strings.Join(examples, "',  or '") + "', regex used for validation is '" + expression + "')"
}

// RangeMessage is the message for a number that is not in lo to hi, inclusive.
func RangeMessage(lo, hi int) string {
	return fmt.Sprintf("must be between %d and %d, inclusive", lo, hi)
}

func isDNS1123Label(s string) bool {
	return enclosed(s, lower|digit, lower|digit|dash, lower|digit)
}

func isDNS1123Subdomain(s string) bool {
	for more := true; more; {
		var label string
		label, s, more = strings.Cut(s, ".")
		if !isDNS1123Label(label) {
			return false
		}
	}
	return true
}

func isDNS1035Label(s string) bool {
	return enclosed(s, lower, lower|digit|dash, lower|digit)
}

// DNS1123Label checks one label of a host name: at most 63 lower case letters,
// digits and inner dashes. Names of namespaces and Services are such labels.
func DNS1123Label(s string) []string { return dns1123Label(s, MaxLengthMessage) }

// ShortName is DNS1123Label for schemas, format k8s-short-name. The message about length differs.
func ShortName(s string) []string { return dns1123Label(s, maxBytesMessage) }

func dns1123Label(s string, tooLong func(int) string) []string {
	var msgs []string
	if len(s) > DNS1123LabelMaxLength {
		msgs = append(msgs, tooLong(DNS1123LabelMaxLength))
	}
	if isDNS1123Label(s) {
		return msgs
	}
	if isDNS1123Subdomain(s) {
		return append(msgs, "must not contain dots")
	}
	return append(msgs, RegexpMessage(dns1123LabelRule, dns1123LabelRE, "my-name", "123-abc"))
}

// DNS1123Subdomain checks labels joined by dots, at most 253 bytes: the format
// of most names. A single label may be as long as the whole name.
func DNS1123Subdomain(s string) []string {
	return dns1123Subdomain(s, MaxLengthMessage)
}

// LongName is DNS1123Subdomain for schemas, format k8s-long-name. The message
// about length differs.
func LongName(s string) []string {
	return dns1123Subdomain(s, maxBytesMessage)
}

func dns1123Subdomain(s string, tooLong func(int) string) []string {
	var msgs []string
	if len(s) > DNS1123SubdomainMaxLength {
		msgs = append(msgs, tooLong(DNS1123SubdomainMaxLength))
	}
	if !isDNS1123Subdomain(s) {
		msgs = append(msgs, RegexpMessage(dns1123SubdomainRule, dns1123SubdomainRE, "example.com"))
	}
	return msgs
}

// caselessSubdomain is a regular expression because case folding accepts two
// letters outside of ASCII, the long s and the Kelvin sign.
var caselessSubdomain = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^(?i)" + dns1123SubdomainRE + "$")
})

// LongNameCaseless is LongName with letters of either case, format
// k8s-long-name-caseless.
func LongNameCaseless(s string) []string {
	var msgs []string
	if len(s) > DNS1123SubdomainMaxLength {
		msgs = append(msgs, maxBytesMessage(DNS1123SubdomainMaxLength))
	}
	if !isDNS1123Subdomain(s) && !caselessSubdomain().MatchString(s) {
		msgs = append(msgs, RegexpMessage(dns1123SubdomainCaselessRule, dns1123SubdomainRE, "Example.com"))
	}
	return msgs
}

// DNS1123SubdomainWithUnderscore is DNS1123Subdomain in which labels may
// contain underscores and begin with one.
func DNS1123SubdomainWithUnderscore(s string) []string {
	var msgs []string
	if len(s) > DNS1123SubdomainMaxLength {
		msgs = append(msgs, MaxLengthMessage(DNS1123SubdomainMaxLength))
	}
	for more := true; more; {
		var label string
		label, s, more = strings.Cut(s, ".")
		label = strings.TrimPrefix(label, "_")
		if !enclosed(label, lower|digit, lower|digit|dash|underscore, lower|digit) {
			return append(msgs, RegexpMessage(dns1123SubdomainUnderscoreRule, dns1123SubdomainUnderscoreRE, "example.com"))
		}
	}
	return msgs
}

// WithoutUnderscore returns a message of [DNS1123SubdomainWithUnderscore] with the regular
// expression of [DNS1123Subdomain], as older releases have it.
func WithoutUnderscore(message string) string {
	return strings.Replace(message, dns1123SubdomainUnderscoreRE, dns1123SubdomainRE, 1)
}

// WildcardDNS1123Subdomain checks "*." followed by a subdomain.
func WildcardDNS1123Subdomain(s string) []string {
	var msgs []string
	if len(s) > DNS1123SubdomainMaxLength {
		msgs = append(msgs, MaxLengthMessage(DNS1123SubdomainMaxLength))
	}
	if domain, ok := strings.CutPrefix(s, "*."); !ok || !isDNS1123Subdomain(domain) {
		msgs = append(msgs, RegexpMessage(dns1123WildcardRule, dns1123WildcardRE, "*.example.com"))
	}
	return msgs
}

// DNS1035Label is DNS1123Label that begins with a letter.
func DNS1035Label(s string) []string {
	var msgs []string
	if len(s) > DNS1035LabelMaxLength {
		msgs = append(msgs, MaxLengthMessage(DNS1035LabelMaxLength))
	}
	if !isDNS1035Label(s) {
		msgs = append(msgs, RegexpMessage(dns1035LabelRule, dns1035LabelRE, "my-name", "abc-123"))
	}
	return msgs
}

// isQualifiedPart reports whether s has the characters of the name part of a
// qualified name, or of a label value that is not empty. It does not check the
// length.
func isQualifiedPart(s string) bool {
	return enclosed(s, letter|digit, letter|digit|dash|underscore|dot, letter|digit)
}

// QualifiedName checks the format of label keys: a name of at most 63 letters,
// digits, dashes, underscores and dots, after an optional subdomain and slash.
func QualifiedName(s string) []string {
	var msgs []string
	prefix, name, prefixed := strings.Cut(s, "/")
	switch {
	case !prefixed:
		name = s
	case strings.Contains(name, "/"):
		return []string{"a valid label key " + qualifiedNameMessage() +
			" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}
	case prefix == "":
		msgs = append(msgs, "prefix part "+nonEmptyRule)
	default:
		for _, m := range LongName(prefix) {
			msgs = append(msgs, "prefix part "+m)
		}
	}

	switch {
	case name == "":
		msgs = append(msgs, "name part "+nonEmptyRule)
	case len(name) > qualifiedNameMaxLength:
		msgs = append(msgs, "name part "+maxBytesMessage(qualifiedNameMaxLength))
	}
	if !isQualifiedPart(name) {
		msgs = append(msgs, "name part "+qualifiedNameMessage())
	}
	return msgs
}

func qualifiedNameMessage() string {
	return RegexpMessage(qualifiedNameRule, qualifiedNameRE, "MyName", "my.name", "123-abc")
}

// LabelValue checks the value of a label: empty, or at most 63 letters, digits,
// dashes, underscores and dots that begins and ends with a letter or a digit.
func LabelValue(s string) []string {
	var msgs []string
	if len(s) > LabelValueMaxLength {
		msgs = append(msgs, maxBytesMessage(LabelValueMaxLength))
	}
	if s != "" && !isQualifiedPart(s) {
		msgs = append(msgs, RegexpMessage(labelValueRule, labelValueRE, "MyValue", "my_value", "12345"))
	}
	return msgs
}

// PathSegment checks that s can be a segment of a URL path: it is neither "."
// nor ".." and contains neither slashes nor percent signs. Empty strings are
// valid; the length is not limited.
func PathSegment(s string) []string {
	if s == "." || s == ".." {
		return []string{"may not be '" + s + "'"}
	}
	return pathSegmentPrefix(s)
}

// pathSegmentPrefix is PathSegment for the beginning of a name.
func pathSegmentPrefix(s string) []string {
	var msgs []string
	for _, c := range []string{"/", "%"} {
		if strings.Contains(s, c) {
			msgs = append(msgs, "may not contain '"+c+"'")
		}
	}
	return msgs
}

// CIdentifier checks an identifier of the C language, of any length.
func CIdentifier(s string) []string {
	const word = letter | digit | underscore
	if enclosed(s, letter|underscore, word, word) {
		return nil
	}
	return []string{RegexpMessage(cIdentifierRule, cIdentifierRE, "my_name", "MY_NAME", "MyName")}
}

// RelaxedEnvVarName checks the name of an environment variable: printable ASCII
// except the equals sign.
func RelaxedEnvVarName(s string) []string {
	if s == "" {
		return []string{"environment variable name " + nonEmptyRule}
	}
	for _, r := range s {
		if r > unicode.MaxASCII || !unicode.IsPrint(r) || r == '=' {
			return []string{relaxedEnvVarNameRule}
		}
	}
	return nil
}

// ConfigMapKey checks a key of a ConfigMap or a Secret: at most 253 letters,
// digits, dashes, underscores and dots that do not refer to a parent directory.
func ConfigMapKey(s string) []string {
	var msgs []string
	if len(s) > DNS1123SubdomainMaxLength {
		msgs = append(msgs, MaxLengthMessage(DNS1123SubdomainMaxLength))
	}
	if !(letter | digit | dash | underscore | dot).all(s) {
		msgs = append(msgs, RegexpMessage(configMapKeyRule, configMapKeyRE, "key.name", "KEY_NAME", "key-name"))
	}
	return append(msgs, parentDirectory(s)...)
}

// parentDirectory rejects file names that refer to a parent directory.
func parentDirectory(s string) []string {
	switch {
	case s == "." || s == "..":
		return []string{"must not be '" + s + "'"}
	case strings.HasPrefix(s, ".."):
		return []string{"must not start with '..'"}
	}
	return nil
}

// PortName checks the name of a port: at most 15 lower case letters, digits and
// single inner dashes, with at least one letter.
func PortName(s string) []string {
	var msgs []string
	if len(s) > portNameMaxLength {
		msgs = append(msgs, MaxLengthMessage(portNameMaxLength))
	}
	if !(lower | digit | dash).all(s) {
		msgs = append(msgs, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return 'a' <= r && r <= 'z' }) {
		msgs = append(msgs, "must contain at least one letter (a-z)")
	}
	if strings.Contains(s, "--") {
		msgs = append(msgs, "must not contain consecutive hyphens")
	}
	if strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-") {
		msgs = append(msgs, "must not begin or end with a hyphen")
	}
	return msgs
}

// InRange checks that lo <= n <= hi.
func InRange(n, lo, hi int) []string {
	if lo <= n && n <= hi {
		return nil
	}
	return []string{RangeMessage(lo, hi)}
}

// PortNumber checks a port number: 1 to 65535.
func PortNumber(port int) []string {
	return InRange(port, 1, 65535)
}

// UserID checks a Unix user ID: 0 to 2147483647.
func UserID(id int64) []string {
	return unixID(id)
}

// GroupID checks a Unix group ID: 0 to 2147483647.
func GroupID(id int64) []string {
	return unixID(id)
}

func unixID(id int64) []string {
	if 0 <= id && id <= math.MaxInt32 {
		return nil
	}
	return []string{RangeMessage(0, math.MaxInt32)}
}

// DecimalInteger checks an integer in the form in which strconv prints it: without a plus
// sign and leading zeros.
func DecimalInteger(s string) []string {
	if s == "" {
		return []string{"must be non-empty"}
	}
	digits := strings.TrimPrefix(s, "-")
	if s != "0" && (strings.Trim(digits, "0123456789") != "" || digits == "" || digits[0] == '0') {
		return []string{"must be a valid decimal integer in canonical form"}
	}
	return nil
}

// Percent checks digits followed by a percent sign.
func Percent(s string) []string {
	if n, ok := strings.CutSuffix(s, "%"); ok && digit.all(n) {
		return nil
	}
	return []string{RegexpMessage(percentRule, percentRE, "1%", "93%")}
}

// HTTPHeaderName checks the name of an HTTP header: letters, digits and dashes.
func HTTPHeaderName(s string) []string {
	if (letter | digit | dash).all(s) {
		return nil
	}
	return []string{RegexpMessage(httpHeaderNameRule, httpHeaderNameRE, "X-Header-Name")}
}

// ConditionReason checks the reason of a condition, of any length.
func ConditionReason(s string) []string {
	const word = letter | digit | underscore
	if enclosed(s, letter, word|comma|colon, word) {
		return nil
	}
	return []string{RegexpMessage(conditionReasonRule, conditionReasonRE,
		"my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB")}
}

// UUID checks a UUID in lower case.
func UUID(s string) []string {
	ok := len(s) == 36
	for i := 0; ok && i < len(s); i++ {
		switch i {
		case 8, 13, 18, 23:
			ok = s[i] == '-'
		default:
			ok = digit.has(s[i]) || 'a' <= s[i] && s[i] <= 'f'
		}
	}
	if ok {
		return nil
	}
	return []string{uuidRule}
}

// NonNegative checks that n is not negative.
func NonNegative(n int64, path *Path) List {
	if n >= 0 {
		return nil
	}
	return List{Invalid(path, n, "must be greater than or equal to 0")}
}

const signerMaxLength = 2*(DNS1123SubdomainMaxLength+1) + DNS1123LabelMaxLength

// The format of sysctl names.
const (
	SysctlMaxLength = 253
	SysctlRE        = `^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`
)

// IsSysctl reports whether s is the name of a sysctl: segments of lower case
// letters, digits and inner dashes and underscores, joined by dots or slashes.
func IsSysctl(s string) bool {
	for _, segment := range strings.Split(strings.ReplaceAll(s, "/", "."), ".") {
		if !enclosed(segment, lower|digit, lower|digit|dash|underscore, lower|digit) {
			return false
		}
	}
	return len(s) <= SysctlMaxLength
}
