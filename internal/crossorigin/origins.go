package crossorigin

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/kubefake/kubefake/internal/header"
)

// Origins are those of the web pages that may use a server: regular expressions for the header
// Origin.
type Origins []*regexp.Regexp

// ParseOrigins parses values of --cors-allowed-origins. The errors are those of kube-apiserver.
func ParseOrigins(patterns []string) (out Origins, errs []error) {
	for _, pattern := range patterns {
		re, err := regexp.Compile(pattern)
		switch {
		case pattern == "":
			errs = append(errs, fmt.Errorf("empty value in --cors-allowed-origins, help: %s", originsHelp))
			continue
		case err == nil && (!containsOneOf(pattern, "^", "//") || !containsOneOf(pattern, "$", ":")):
			err = errors.New("regular expression does not pin to start/end of host in the origin header")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("--cors-allowed-origins has an invalid regular expression: %w, help: %s", err, originsHelp))
		}
		out = append(out, re)
	}
	return out, errs
}

// originsHelp is what kube-apiserver says of the flag.
const originsHelp = `List of allowed origins for CORS, comma separated. An allowed origin can be a regular expression to support subdomain matching. ` +
	`If this list is empty CORS will not be enabled. Please ensure each expression matches the entire hostname by anchoring to the start with '^' or including ` +
	`the '//' prefix, and by anchoring to the end with '$' or including the ':' port separator suffix. ` +
	`Examples of valid expressions are '//example\.com(:|$)' and '^https://example\.com(:|$)'`

func containsOneOf(s string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}

// Allows reports whether a request comes from a page of one of the origins.
func (o Origins) Allows(r *http.Request) bool {
	if len(o) == 0 {
		return false
	}
	origin := header.Get(r.Header, "Origin")
	for _, re := range o {
		if origin != "" && re.MatchString(origin) {
			return true
		}
	}
	return false
}

// SetHeaders says in the headers of an answer that the page that sent a request, of an allowed origin, may
// read it.
//
// See https://fetch.spec.whatwg.org/#http-cors-protocol.
func SetHeaders(answer http.Header, r *http.Request) {
	answer.Set("Access-Control-Allow-Origin", header.Get(r.Header, "Origin"))
	answer.Set("Access-Control-Allow-Methods", "POST, GET, OPTIONS, PUT, DELETE, PATCH")
	answer.Set("Access-Control-Allow-Headers", "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since")
	answer.Set("Access-Control-Expose-Headers", "Date")
	answer.Set("Access-Control-Allow-Credentials", "true")
}
