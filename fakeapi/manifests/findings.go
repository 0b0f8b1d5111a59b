package manifests

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/yamlpath"
)

// findings returns what a reply says about an object. A message about several fields is several
// findings.
func (r *reply) findings() (out []Finding) {
	if r.Code >= 300 {
		out = r.errors()
	}
	for _, text := range r.Warnings {
		out = append(out, Finding{Severity: Warning, Reason: "Warning", Field: fieldOf(text), Message: text})
	}
	return out
}

// errors returns why the server refuses the object.
func (r *reply) errors() []Finding {
	if r.Reason != "Invalid" || len(r.causes) == 0 || slices.ContainsFunc(r.causes, func(c cause) bool { return c.Field == "" }) {
		return r.messages()
	}
	out := make([]Finding, len(r.causes))
	for i, c := range r.causes {
		if c.Field == "<nil>" {
			out[i] = Finding{Severity: Error, Reason: c.Reason, Field: fieldOf(c.Message), Message: c.Message}
			continue
		}
		out[i] = Finding{Severity: Error, Reason: c.Reason, Field: c.Field, Message: c.Field + ": " + c.Message}
	}
	return out
}

// messages returns a finding for each part of the message.
func (r *reply) messages() (out []Finding) {
	for _, text := range partsOf(r.Message) {
		out = append(out, Finding{Severity: Error, Reason: cmp.Or(r.Reason, "Unknown"), Field: fieldOf(text), Message: text})
	}
	return out
}

// unknownField matches one error of strict decoding.
var unknownField = regexp.MustCompile(`(?:unknown|duplicate) field "((?:[^"\\]|\\.)*)"`)

// partsOf splits the message of an error that reports several fields: one of strict decoding, or one
// of typed values, whose errors are in lines.
func partsOf(message string) []string {
	if _, list, ok := strings.Cut(message, "strict decoding error: "); ok {
		found := unknownField.FindAllString(list, -1)
		if strings.Join(found, ", ") == list {
			return found
		}
	}
	if head, list, ok := strings.Cut(message, ": errors:\n"); ok {
		var out []string
		for _, line := range strings.Split(list, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				out = append(out, head+": "+line)
			}
		}
		return out
	}
	return []string{message}
}

// Where messages have the path of a field.
var fieldPatterns = []*regexp.Regexp{
	unknownField,
	// Of encoding/json, with the name of a struct in front.
	regexp.MustCompile(`Go struct field \w+\.(\S+) of type`),
	// Of typed values: a path after a colon that begins with a dot.
	regexp.MustCompile(`(?:: |^)(\.[A-Za-z_$][^\s:"\[]*(?:\[[^\]]*\][^\s:"\[]*)*): `),
	// A path at the beginning, as warnings have it.
	regexp.MustCompile(`^([a-z][A-Za-z0-9]*(?:\.[A-Za-z0-9_-]+|\[[^\]]*\])+): `),
	// A deprecated or missing field in the middle of a sentence.
	regexp.MustCompile(`(?:^|[\s"'])((?:spec|metadata|status|data)(?:\.[A-Za-z0-9_-]+|\[[^\]]*\])+)`),
}

// fieldsOfMessages are the fields of messages without a path.
var fieldsOfMessages = []struct {
	pattern *regexp.Regexp
	field   string
}{
	{regexp.MustCompile(`no PriorityClass with name .* was found`), "spec.priorityClassName"},
	{regexp.MustCompile(`error looking up service account `), "spec.serviceAccountName"},
	{regexp.MustCompile(`RuntimeClass .* not found`), "spec.runtimeClassName"},
	{regexp.MustCompile(`^namespaces ".*" not found$`), "metadata.namespace"},
}

// fieldOf returns the path of the field that a message names, "" if it names none.
func fieldOf(message string) string {
	for _, m := range fieldsOfMessages {
		if m.pattern.MatchString(message) {
			return m.field
		}
	}
	for _, p := range fieldPatterns {
		if m := p.FindStringSubmatch(message); m != nil {
			return m[1]
		}
	}
	return ""
}

// locate sets the positions of the result and of its findings.
func (r *Result) locate(l *locator) {
	at := l.object(r.Item)
	r.Line, r.Column = l.inFile(at)
	for i := range r.Findings {
		f := &r.Findings[i]
		where := at
		if f.Field != "" {
			if found := l.field(r.Item, r.pathOf(f.Field), f.Message); found.Line >= at.Line {
				where = found
			}
		}
		f.Line, f.Column = l.inFile(where)
		f.Text = l.lineOf(where.Line)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
}

// pathOf returns the path of a field in the object, for a field of a Status.
func (r *Result) pathOf(field string) string {
	if r.Kind != "CustomResourceDefinition" {
		return field
	}
	// What all versions have in common is reported as if it stood at the top.
	for _, hoisted := range []struct{ from, to string }{
		{"spec.validation.", "spec.versions[0].schema."},
		{"spec.subresources", "spec.versions[0].subresources"},
		{"spec.additionalPrinterColumns", "spec.versions[0].additionalPrinterColumns"},
		{"spec.selectableFields", "spec.versions[0].selectableFields"},
	} {
		if rest, ok := strings.CutPrefix(field, hoisted.from); ok {
			return hoisted.to + rest
		}
	}
	return field
}

// inFile returns a position of the document in its file.
func (d *document) inFile(p yamlpath.Position) (line, column int) {
	if p.Line == 1 {
		p.Column += d.column
	}
	return d.line + p.Line - 1, p.Column
}
