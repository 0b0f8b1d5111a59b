package selector

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	maxName      = 63
	maxSubdomain = 253
)

const (
	nameRule = "must consist of alphanumeric characters, '-', '_' or '.', " +
		"and must start and end with an alphanumeric character " +
		"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	valueRule = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " +
		"and must start and end with an alphanumeric character " +
		"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	subdomainRule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
		"and must start and end with an alphanumeric character " +
		`(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
)

// keyProblems returns the reasons why key is not a valid label key, in
// kube-apiserver's texts; none for a valid key. A label key is a name of at
// most 63 bytes, optionally after a DNS subdomain of at most 253 bytes and a
// slash.
func keyProblems(key string) []string {
	var texts []string
	prefix, name, prefixed := strings.Cut(key, "/")
	switch {
	case !prefixed:
		name = key
	case strings.Contains(name, "/"):
		return []string{"a valid label key " + nameRule + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}
	case prefix == "":
		texts = append(texts, "prefix part must be non-empty")
	default:
		if len(prefix) > maxSubdomain {
			texts = append(texts, "prefix part "+tooLong(maxSubdomain))
		}
		if !isSubdomain(prefix) {
			texts = append(texts, "prefix part "+subdomainRule)
		}
	}
	if name == "" {
		texts = append(texts, "name part must be non-empty")
	} else if len(name) > maxName {
		texts = append(texts, "name part "+tooLong(maxName))
	}
	if !isName(name) {
		texts = append(texts, "name part "+nameRule)
	}
	return texts
}

// valueProblems returns the reasons why value is not a valid label value, in
// kube-apiserver's texts; none for a valid value. A label value is empty, or a
// name of at most 63 bytes.
func valueProblems(value string) []string {
	var texts []string
	if len(value) > maxName {
		texts = append(texts, tooLong(maxName))
	}
	if value != "" && !isName(value) {
		texts = append(texts, valueRule)
	}
	return texts
}

func tooLong(limit int) string {
	return "must be no more than " + strconv.Itoa(limit) + " bytes"
}

// isName reports whether s consists of letters, digits, dashes, underscores and
// dots, and begins and ends with a letter or digit.
func isName(s string) bool {
	if s == "" || !isAlphanumeric(s[0]) || !isAlphanumeric(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// isSubdomain reports whether s consists of dot-separated labels of lower case
// letters, digits and dashes that begin and end with a letter or digit.
func isSubdomain(s string) bool {
	for more := true; more; {
		var label string
		label, s, more = strings.Cut(s, ".")
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i]; !isLower(c) && !isDigit(c) && c != '-' {
				return false
			}
		}
	}
	return true
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlphanumeric(c byte) bool {
	return isLower(c) || isDigit(c) || 'A' <= c && c <= 'Z'
}

// problems are the reasons why one requirement is invalid.
type problems []string

func (p *problems) add(path, value, detail string) {
	*p = append(*p, fmt.Sprintf("%s: Invalid value: %q: %s", path, value, detail))
}

func (p *problems) addList(path string, values []string, detail string) {
	list, err := json.Marshal(values)
	if err != nil { // unreachable: a list of strings always marshals
		panic(err)
	}
	*p = append(*p, fmt.Sprintf("%s: Invalid value: %s: %s", path, list, detail))
}

// err returns nil without problems, the text of a single one, and otherwise a
// bracketed list that contains each text once.
func (p problems) err() error {
	var distinct []string
	for _, text := range p {
		if !slices.Contains(distinct, text) {
			distinct = append(distinct, text)
		}
	}
	switch len(distinct) {
	case 0:
		return nil
	case 1:
		return errors.New(distinct[0])
	default:
		return errors.New("[" + strings.Join(distinct, ", ") + "]")
	}
}
