// Package header reads the headers of HTTP messages.
package header

import (
	"errors"
	"net/http"
	"strings"
)

// Get returns the first value of a header, "" if there is none. name must be in canonical
// form: "Content-Type". It does what [http.Header.Get] does without bringing the name into
// that form, which takes longer than the rest.
func Get(h http.Header, name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// Warning returns the text of a Warning header, such as: 299 - "text". A header without a quoted
// text is returned as it is.
func Warning(value string) string {
	_, text, ok := strings.Cut(value, `"`)
	if !ok {
		return value
	}
	return warningUnquoter.Replace(strings.TrimSuffix(text, `"`))
}

var warningUnquoter = strings.NewReplacer(`\"`, `"`, `\\`, `\`)

// CheckTransportSecurity returns the errors of kube-apiserver for directives of the header
// Strict-Transport-Security.
func CheckTransportSecurity(directives []string) (errs []error) {
	for _, d := range directives {
		name, _, hasValue := strings.Cut(d, "=")
		switch {
		case strings.TrimSpace(d) == "":
			errs = append(errs, errors.New("empty value in strict-transport-security-directives"))
		case d == "includeSubDomains" || d == "preload":
		case name != "max-age" || !hasValue || strings.Count(d, "=") > 1:
			errs = append(errs, errors.New("--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information"))
		}
	}
	return errs
}
