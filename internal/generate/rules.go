package generate

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/kubefake/kubefake/internal/schema"
)

// hints are what the rules of a schema, and of those that it is in, name.
type hints struct {
	texts    []string
	numbers  []int64
	patterns []string
}

var (
	ruleText    = regexp.MustCompile(`'([^'\\]*)'|"([^"\\]*)"`)
	ruleNumber  = regexp.MustCompile(`\b\d{1,18}\b`)
	rulePattern = regexp.MustCompile(`self\.matches\(r?(?:'([^'\\]*)'|"([^"\\]*)")\)`)
	ruleField   = regexp.MustCompile(`\bself\.(\w+)`)
)

// with returns h with what rules name.
func (h hints) with(rules []schema.Rule) hints {
	if len(rules) == 0 {
		return h
	}
	out := hints{texts: slices.Clone(h.texts), numbers: slices.Clone(h.numbers)}
	for _, r := range rules {
		for _, m := range rulePattern.FindAllStringSubmatch(r.Rule, -1) {
			out.patterns = append(out.patterns, m[1]+m[2])
		}
		for _, m := range ruleText.FindAllStringSubmatch(r.Rule, -1) {
			out.texts = append(out.texts, m[1]+m[2])
		}
		for _, m := range ruleNumber.FindAllString(r.Rule, -1) {
			n, err := strconv.ParseInt(m, 10, 64)
			if err == nil {
				out.numbers = append(out.numbers, n, n-1, n+1)
			}
		}
	}
	return out
}

// fieldsOf returns the fields of a value that its rules read.
func fieldsOf(rules []schema.Rule) []string {
	var out []string
	for _, r := range rules {
		for _, m := range ruleField.FindAllStringSubmatch(r.Rule, -1) {
			out = append(out, m[1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
