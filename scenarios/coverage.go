package scenarios

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/printable"
)

// A Coverage says how often the expressions of policies, of match conditions of webhooks and of rules
// of CustomResourceDefinitions had which result while scenarios were played.
type Coverage struct {
	Rules []CoveredRule `json:"rules"`
}

// A CoveredRule is an expression with its results.
type CoveredRule struct {
	Kind    string `json:"kind"` // of the object that has the expression
	Name    string `json:"name"`
	Version string `json:"version,omitempty"` // of a definition
	// Type is validation, match condition, variable, message, audit annotation, mutation, rule or
	// transition rule.
	Type string `json:"type"`
	// Path is the place in the object, and Field the field of custom resources that a rule is about.
	Path  string `json:"path"`
	Field string `json:"field,omitempty"`
	// Position is the file and the line, if the object is of a file of the scenario.
	Position   string `json:"position,omitempty"`
	Expression string `json:"expression"`

	True   int64 `json:"true,omitempty"`
	False  int64 `json:"false,omitempty"`
	Values int64 `json:"values,omitempty"` // other results
	Errors int64 `json:"errors,omitempty"`
	// Tolerated is how many of False were tolerated, because the update did not change the value.
	Tolerated int64 `json:"tolerated,omitempty"`
}

// Cover fails the test at its end if what the server does until then covers less than a percentage
// of the expressions of its policies and definitions, and prints which. There must be some. A
// validation, a match condition and a rule are covered by a true and a false result, each of which
// counts, and other expressions by any result that is not an error.
func Cover(t TB, srv *fakeapi.Server, percent float64) {
	t.Helper()
	call := func(method string) (c Coverage, err error) {
		h, err := httptest.Start(srv, httptest.Options{InMemory: true})
		if err != nil {
			return c, err
		}
		defer h.Close()
		p := (&Player{URL: h.URL, Transport: h.InMemory()}).newPlay(context.Background(), &Scenario{Name: "coverage"}, newMatcher())
		return p.coverage(method)
	}
	if _, err := call(http.MethodPost); err != nil {
		t.Fatalf("coverage: %s", printable.Text(err.Error()))
		return
	}
	t.Cleanup(func() {
		t.Helper()
		c, err := call(http.MethodGet)
		if err == nil {
			err = c.Check(percent)
		}
		if err != nil {
			t.Errorf("%s", printable.Text(err.Error()))
		}
	})
}

// coverage posts, gets or deletes the coverage of the server.
func (p *play) coverage(method string) (c Coverage, err error) {
	status, body, err := p.call(method, "coverage", "")
	switch {
	case err != nil:
		return c, err
	case status != http.StatusOK:
		return c, fmt.Errorf("%d %s", status, message(body))
	}
	return c, json.Unmarshal(body, &c)
}

// addCoverage adds what the scenario has covered to the Player's Coverage.
func (p *play) addCoverage() error {
	c, err := p.coverage(http.MethodGet)
	if err != nil {
		return err
	}
	if _, err := p.coverage(http.MethodDelete); err != nil {
		return err
	}
	for i := range c.Rules {
		c.Rules[i].Position = p.positionOf(&c.Rules[i])
	}
	p.Coverage.add(c)
	return nil
}

// positionOf returns the file and the line of an expression; "" if no file has it.
func (p *play) positionOf(r *CoveredRule) string {
	for _, f := range p.fixtures {
		if f.object["kind"] == r.Kind && f.name() == r.Name {
			return fmt.Sprintf("%s:%d", f.file, f.lineOf(r.Path))
		}
	}
	return ""
}

// add adds the results of other plays.
func (c *Coverage) add(more Coverage) {
	for _, r := range more.Rules {
		i := slices.IndexFunc(c.Rules, func(o CoveredRule) bool { return o.key() == r.key() })
		if i < 0 {
			c.Rules = append(c.Rules, r)
			continue
		}
		o := &c.Rules[i]
		o.True, o.False, o.Values, o.Errors, o.Tolerated = o.True+r.True, o.False+r.False, o.Values+r.Values, o.Errors+r.Errors, o.Tolerated+r.Tolerated
	}
}

// key returns the rule without its results.
func (r CoveredRule) key() CoveredRule {
	r.True, r.False, r.Values, r.Errors, r.Tolerated = 0, 0, 0, 0, 0
	return r
}

// object returns the kind and the name of the object.
func (r *CoveredRule) object() string {
	name := r.Kind + "/" + r.Name
	if r.Version != "" {
		name += " " + r.Version
	}
	return name
}

// results returns how many results cover the expression, and how many of them there were.
func (r *CoveredRule) results() (had, wanted int) {
	if !r.isBool() {
		if r.True+r.False+r.Values > 0 {
			had = 1
		}
		return had, 1
	}
	if r.True > 0 {
		had++
	}
	if r.False > 0 {
		had++
	}
	return had, 2
}

// isBool reports whether both a true and a false result matter.
func (r *CoveredRule) isBool() bool {
	switch r.Type {
	case "validation", "match condition", "rule", "transition rule":
		return true
	}
	return false
}

// Missing says which result the expression never had; "" if it is covered.
func (r *CoveredRule) Missing() string {
	switch had, wanted := r.results(); {
	case had == wanted:
		return ""
	case had == 0 && r.Errors > 0:
		return "only errors"
	case had == 0:
		return "never evaluated"
	case r.True == 0:
		return "never true"
	}
	return "never false"
}

func (r *CoveredRule) isMissing() bool { return r.Missing() != "" }

// falseFirst compares two values of which false is less.
func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Percent returns how much is covered, from 0 to 100. It is 100 if there are no rules.
func (c *Coverage) Percent() float64 {
	had, wanted := c.results()
	if wanted == 0 {
		return 100
	}
	return 100 * float64(had) / float64(wanted)
}

func (c *Coverage) results() (had, wanted int) {
	for i := range c.Rules {
		h, w := c.Rules[i].results()
		had, wanted = had+h, wanted+w
	}
	return had, wanted
}

// Check returns an error if less than a percentage is covered, or if there are no rules. It has the
// table of String.
func (c *Coverage) Check(percent float64) error {
	switch {
	case len(c.Rules) == 0:
		return fmt.Errorf("coverage: there are no expressions of policies, webhooks and definitions")
	case c.Percent() < percent:
		return fmt.Errorf("coverage: want at least %g%%, got %.1f%%\n%s", percent, c.Percent(), c)
	}
	return nil
}

// String returns a table with the results of each expression: first those that are not covered, and
// the objects that have such.
func (c *Coverage) String() string {
	objects := map[string][]*CoveredRule{}
	var names []string
	for i := range c.Rules {
		r := &c.Rules[i]
		if objects[r.object()] == nil {
			names = append(names, r.object())
		}
		objects[r.object()] = append(objects[r.object()], r)
	}
	covered := func(name string) bool { return !slices.ContainsFunc(objects[name], (*CoveredRule).isMissing) }
	slices.SortStableFunc(names, func(a, b string) int { return falseFirst(covered(a), covered(b)) })
	var out strings.Builder
	for _, name := range names {
		writeRules(&out, name, objects[name])
	}
	had, wanted := c.results()
	fmt.Fprintf(&out, "coverage %.1f%%: %d of %d results\n", c.Percent(), had, wanted)
	return printable.Text(out.String())
}

// writeRules writes the table of an object.
func writeRules(out *strings.Builder, name string, rules []*CoveredRule) {
	slices.SortStableFunc(rules, func(a, b *CoveredRule) int { return falseFirst(!a.isMissing(), !b.isMissing()) })
	of := Coverage{}
	var lines [][]string
	widths := make([]int, 4)
	for _, r := range rules {
		of.Rules = append(of.Rules, *r)
		line := []string{cmp.Or(r.Missing(), "ok"), r.Type, cmp.Or(r.Position, r.place()), r.counts()}
		for i, cell := range line {
			widths[i] = max(widths[i], len(cell))
		}
		lines = append(lines, append(line, oneLine(r.Expression)))
	}
	had, wanted := of.results()
	fmt.Fprintf(out, "%s: %d of %d\n", name, had, wanted)
	for _, line := range lines {
		out.WriteString(" ")
		for i, cell := range line[:4] {
			fmt.Fprintf(out, " %-*s ", widths[i], cell)
		}
		out.WriteString(" " + line[4] + "\n")
	}
	out.WriteString("\n")
}

// place returns the place of an expression that is in no file.
func (r *CoveredRule) place() string {
	if r.Version != "" {
		return cmp.Or(r.Field, "the object")
	}
	return r.Path
}

// counts returns the results as text.
func (r *CoveredRule) counts() string {
	var parts []string
	if r.isBool() {
		parts = append(parts, fmt.Sprintf("true %d, false %d", r.True, r.False))
	} else {
		parts = append(parts, fmt.Sprintf("values %d", r.True+r.False+r.Values))
	}
	if r.Errors > 0 {
		parts = append(parts, fmt.Sprintf("errors %d", r.Errors))
	}
	if r.Tolerated > 0 {
		parts = append(parts, fmt.Sprintf("tolerated %d", r.Tolerated))
	}
	return strings.Join(parts, ", ")
}

// oneLine returns the begin of an expression on one line.
func oneLine(text string) string {
	const limit = 100
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return text
}
