// Package accept parses Accept headers as kube-apiserver does. It differs from
// RFC 9110: media types are case-sensitive, and a quality of 0 still accepts.
package accept

import (
	"maps"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
)

// A Clause is one media type of an Accept header.
type Clause struct {
	Type, Subtype string            // "*" matches any
	Params        map[string]string // without q; nil if there are none
	Quality       float64           // q, 1 if absent
}

// Matches reports whether the clause covers a media type such as
// "application/json". Parameters do not matter to it.
func (c Clause) Matches(mediaType string) bool {
	typ, subtype, _ := strings.Cut(mediaType, "/")
	return (c.Type == typ || c.Type == "*" && c.Subtype == "*") && (c.Subtype == subtype || c.Subtype == "*")
}

// The limits of the cache of parsed headers. When it is full, it is emptied.
const (
	maxParsed       = 64
	maxParsedHeader = 256 // bytes of a header
)

// parsed has the clauses of headers: most clients send the same one with each request. The map
// does not change.
var parsed atomic.Pointer[map[string][]Clause]

// Parse returns the clauses of a header in order of preference: by quality,
// then by specificity, then in the order of the header. It skips clauses that
// are not media types and parameters without a value. The slice and its maps are shared:
// do not change them.
func Parse(header string) []Clause {
	known := parsed.Load()
	if known != nil {
		if clauses, ok := (*known)[header]; ok {
			return clauses
		}
	}
	if len(header) > maxParsedHeader {
		return parse(header)
	}
	header = strings.Clone(header)
	clauses := parse(header)
	with := map[string][]Clause{header: clauses}
	if known != nil && len(*known) < maxParsed {
		maps.Copy(with, *known)
	}
	parsed.CompareAndSwap(known, &with) // another request has added a header if it fails
	return clauses
}

// parse does what Parse does without the cache.
func parse(header string) []Clause {
	var clauses []Clause
	for more := true; more; {
		var part string
		part, header, more = strings.Cut(header, ",")
		if c, ok := parseClause(part); ok {
			clauses = append(clauses, c)
		}
	}
	if len(clauses) < 2 {
		return clauses
	}
	// The comparison is not a strict weak order: of */* and a specific type of
	// lower quality each is less than the other, and the later one goes first.
	// Clients see the result, so the comparison and the sort are
	// kube-apiserver's.
	sort.Slice(clauses, func(i, j int) bool {
		a, b := &clauses[i], &clauses[j]
		return a.Quality > b.Quality || a.Type != "*" && b.Type == "*" || a.Subtype != "*" && b.Subtype == "*"
	})
	return clauses
}

func parseClause(text string) (Clause, bool) {
	mediaType, params, _ := strings.Cut(text, ";")
	typ, subtype, _ := strings.Cut(mediaType, "/")
	c := Clause{Type: trim(typ), Subtype: trim(subtype), Quality: 1}
	switch {
	case subtype == "" && c.Type == "*":
		c.Subtype = "*"
	case subtype == "" || strings.Contains(subtype, "/"):
		return Clause{}, false
	}
	for more := true; more; {
		var param string
		param, params, more = strings.Cut(params, ";")
		key, value, _ := strings.Cut(param, "=")
		if value == "" || strings.Contains(value, "=") {
			continue
		}
		if key = trim(key); key == "q" {
			c.Quality, _ = strconv.ParseFloat(value, 32)
			continue
		}
		if c.Params == nil {
			c.Params = map[string]string{}
		}
		c.Params[key] = trim(value)
	}
	return c, true
}

func trim(s string) string { return strings.Trim(s, " ") }
