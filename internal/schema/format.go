package schema

import (
	"encoding/hex"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/validation"
)

// recognizedFormat returns the schema's format, "" if it is not defined for the type.
func (s *Schema) recognizedFormat() string {
	known := false
	switch {
	case s.IntOrString || s.Type == "string" || s.Type == "":
		known = stringFormats[NormalizeFormat(s.Format)] != nil
	case s.Type == "integer":
		known = s.Format == "int32" || s.Format == "int64"
	case s.Type == "number":
		known = s.Format == "float" || s.Format == "double"
	}
	if !known {
		return ""
	}
	return s.Format
}

// NormalizeFormat removes the dashes of a format's name: date-time and datetime are the
// same format.
func NormalizeFormat(format string) string { return strings.ReplaceAll(format, "-", "") }

// IsFormat reports whether s is valid for a format. An unknown format allows every
// string.
func IsFormat(format, s string) bool {
	is, ok := stringFormats[NormalizeFormat(format)]
	return !ok || is(s)
}

// stringFormat returns the check of strings by a format, nil if the format is not known.
func (o Options) stringFormat(format string) func(string) bool {
	switch name := NormalizeFormat(format); {
	case name == "", o.WithoutNameFormats && (name == "k8sshortname" || name == "k8slongname"):
		return nil
	default:
		return stringFormats[name]
	}
}

// stringFormats has the formats of strings in CustomResourceDefinitions.
var stringFormats = map[string]func(string) bool{
	"bsonobjectid": func(s string) bool {
		id, err := hex.DecodeString(s)
		return err == nil && len(id) == 12
	},
	"uri": func(s string) bool {
		_, err := url.ParseRequestURI(s)
		return err == nil
	},
	"email": func(s string) bool {
		address, err := mail.ParseAddress(s)
		return err == nil && address.Address != ""
	},
	"hostname": isHostname,
	"ipv4":     func(s string) bool { return validation.IsIP(s) && strings.Contains(s, ".") },
	"ipv6":     func(s string) bool { return net.ParseIP(s) != nil && strings.Contains(s, ":") },
	"cidr":     validation.IsCIDR,
	"mac": func(s string) bool {
		_, err := net.ParseMAC(s)
		return err == nil
	},
	"uuid":       regexpFormat(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`),
	"uuid3":      regexpFormat(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`),
	"uuid4":      regexpFormat(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`),
	"uuid5":      regexpFormat(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`),
	"isbn":       func(s string) bool { return isISBN10(s) || isISBN13(s) },
	"isbn10":     isISBN10,
	"isbn13":     isISBN13,
	"creditcard": isCreditCard,
	"ssn":        func(s string) bool { return len(s) == 11 && ssn(s) },
	"hexcolor":   regexpFormat(`^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$`),
	"rgbcolor":   regexpFormat(`^rgb\(\s*` + colour + `\s*,\s*` + colour + `\s*,\s*` + colour + `\s*\)$`),
	"byte":       regexpFormat(`^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$`),
	"password":   func(string) bool { return true },
	"date":       isDate,
	"datetime":   isDateTime,
	"duration":   isDuration,

	"k8sshortname": func(s string) bool { return len(validation.DNS1123Label(s)) == 0 },
	"k8slongname":  isLongName,
}

const colour = `(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])`

var (
	ssn         = regexpFormat(`^\d{3}[- ]?\d{2}[- ]?\d{4}$`)
	hostname    = regexpFormat(`^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$`)
	isLongForm  = regexpFormat(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	clock       = lazyRegexp(`^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$`)
	creditCard  = regexpFormat(`^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$`)
	isbn10Form  = regexpFormat(`^(?:[0-9]{9}X|[0-9]{10})$`)
	isbn13Form  = regexpFormat(`^(?:[0-9]{13})$`)
	separators  = lazyRegexp(`[\s-]+`)
	noDigits    = lazyRegexp(`[^0-9]+`)
	anyDuration = lazyRegexp(`(\d+)\s*([A-Za-zµ]+)`)
)

// lazyRegexp returns a function whose first call compiles a regular expression.
func lazyRegexp(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

// regexpFormat returns a check of strings with a regular expression.
func regexpFormat(s string) func(string) bool {
	re := lazyRegexp(s)
	return func(s string) bool { return re().MatchString(s) }
}

func isHostname(s string) bool {
	if len(s) > 255 || !hostname(s) {
		return false
	}
	for _, label := range strings.Split(s, ".") {
		if len(label) > 63 {
			return false
		}
	}
	return true
}

func isLongName(s string) bool { return len(s) <= 253 && isLongForm(s) }

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func isDateTime(s string) bool {
	parts := strings.Split(strings.ToLower(s), "t")
	if len(parts) < 2 || !isDate(parts[0]) {
		return false
	}
	m := clock().FindStringSubmatch(parts[1])
	return m != nil && m[1] <= "23" && m[2] <= "59" && m[3] <= "59"
}

func isDuration(s string) bool {
	_, err := ParseDuration(s)
	return err == nil
}

// ParseDuration parses a string of the format duration: a Go duration, or a text with at
// least one number and unit as in Scala.
func ParseDuration(s string) (time.Duration, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return d, nil
	}
	var sum time.Duration
	known := false
	for _, m := range anyDuration().FindAllStringSubmatch(s, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return 0, err
		}
		if unit := durationUnit(strings.ToLower(m[2])); unit > 0 {
			known = true
			sum += time.Duration(n) * unit
		}
	}
	if !known {
		return 0, fmt.Errorf("unable to parse %s as duration", s)
	}
	return sum, nil
}

// durationUnit returns the unit with the given short name, or whose long name is a prefix
// of word; 0 if there is none.
func durationUnit(word string) time.Duration {
	for _, unit := range []struct {
		length time.Duration
		long   string
		short  []string
	}{
		{time.Nanosecond, "nano", []string{"ns"}}, {time.Microsecond, "micro", []string{"us", "µs"}},
		{time.Millisecond, "milli", []string{"ms"}}, {time.Second, "sec", []string{"s"}},
		{time.Minute, "min", []string{"m"}}, {time.Hour, "hour", []string{"h", "hr"}},
		{24 * time.Hour, "day", []string{"d"}}, {7 * 24 * time.Hour, "week", []string{"w", "wk"}},
	} {
		if strings.HasPrefix(word, unit.long) || slices.Contains(unit.short, word) {
			return unit.length
		}
	}
	return 0
}

func isISBN10(s string) bool {
	s = separators().ReplaceAllString(s, "")
	if !isbn10Form(s) {
		return false
	}
	sum := 0
	for i := range 10 {
		digit := int(s[i] - '0')
		if s[i] == 'X' {
			digit = 10
		}
		sum += (i + 1) * digit
	}
	return sum%11 == 0
}

func isISBN13(s string) bool {
	s = separators().ReplaceAllString(s, "")
	if !isbn13Form(s) {
		return false
	}
	sum := 0
	for i := range 13 {
		sum += int(s[i]-'0') * (1 + i%2*2)
	}
	return sum%10 == 0
}

// isCreditCard checks the form of a card number and its Luhn checksum.
func isCreditCard(s string) bool {
	s = noDigits().ReplaceAllString(s, "")
	if !creditCard(s) {
		return false
	}
	sum := 0
	for i := range len(s) {
		digit := int(s[len(s)-1-i] - '0')
		if i%2 == 1 {
			digit *= 2
		}
		sum += digit/10 + digit%10
	}
	return sum%10 == 0
}
