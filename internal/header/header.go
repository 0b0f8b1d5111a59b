// Package header reads the headers of HTTP messages.
package header

import (
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
