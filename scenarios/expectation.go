package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/header"
)

// A Verdict is what a server does with a request.
type Verdict string

// The verdicts of answers.
const (
	// Allowed is a success.
	Allowed Verdict = "allowed"
	// Denied is a refusal by a policy, a webhook, an admission plugin or the validation of the
	// object, with the rules of its CustomResourceDefinition.
	Denied Verdict = "denied"
	// Forbidden is a refusal by the authorizer.
	Forbidden Verdict = "forbidden"
	// Failed is any other failure: an object that does not decode, a conflict, a webhook
	// that cannot be called.
	Failed Verdict = "error"
)

// An Expectation is what a step expects of the answer to its request. In a file it is a word
// with an optional message, or an object:
//
//	expect: allowed
//	expect: denied "no more than 5 replicas"
//	expect: {denied: no more than 5 replicas, by: replica-limit, reason: Invalid, code: 422}
//	expect: {mutated: {spec: {replicas: 1}}}
type Expectation struct {
	// Path is that of an expect step, which waits for an answer. Such a step has no Verdict.
	Path string

	Verdict Verdict
	// Message must be in the message of a refusal; <*> in it stands for any text.
	Message string
	// By is who denies: the name of a policy, of a binding, or of a webhook, or the path of a
	// field, such as spec.replicas. It may have the kind before the name:
	// ValidatingAdmissionPolicy/limit.
	By     string
	Reason string
	Code   int
	// Mutated must be a part of the answer to a request that is allowed. A null means that the
	// member is absent.
	Mutated map[string]any
}

// expectationFields is the form of an Expectation that is an object.
type expectationFields struct {
	Allowed   bool           `json:"allowed,omitempty"`
	Denied    *string        `json:"denied,omitempty"`
	Forbidden *string        `json:"forbidden,omitempty"`
	Error     *string        `json:"error,omitempty"`
	By        string         `json:"by,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	Code      int            `json:"code,omitempty"`
	Mutated   map[string]any `json:"mutated,omitempty"`
}

// UnmarshalJSON decodes a word with a message, a path, or an object.
func (e *Expectation) UnmarshalJSON(b []byte) error {
	if !bytes.HasPrefix(b, []byte("{")) {
		var text string
		if err := decode(b, &text); err != nil {
			return err
		}
		return e.parse(text)
	}
	var f expectationFields
	if err := decode(b, &f); err != nil {
		return err
	}
	*e = Expectation{By: f.By, Reason: f.Reason, Code: f.Code}
	verdicts := 0
	if f.Allowed || f.Mutated != nil {
		e.Verdict = Allowed
		verdicts++
	}
	if len(f.Mutated) > 0 {
		e.Mutated = f.Mutated
	}
	for _, refusal := range []struct {
		verdict Verdict
		message *string
	}{{Denied, f.Denied}, {Forbidden, f.Forbidden}, {Failed, f.Error}} {
		if refusal.message != nil {
			e.Verdict, e.Message = refusal.verdict, *refusal.message
			verdicts++
		}
	}
	if verdicts != 1 {
		return fmt.Errorf("expect: it needs one of allowed, mutated, denied, forbidden and error")
	}
	return nil
}

// parse parses the short form.
func (e *Expectation) parse(text string) error {
	*e = Expectation{}
	if strings.HasPrefix(text, "/") {
		e.Path = text
		return nil
	}
	word, message, _ := strings.Cut(text, " ")
	e.Verdict, e.Message = Verdict(word), unquoted(strings.TrimSpace(message))
	switch e.Verdict {
	case Denied, Forbidden, Failed:
		return nil
	case Allowed:
		if message == "" {
			return nil
		}
	}
	return fmt.Errorf("expect: %q is not allowed, denied, forbidden or error, with a message, and not a path", text)
}

// unquoted removes the quotes around a text.
func unquoted(text string) string {
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' {
		return text[1 : n-1]
	}
	return text
}

// MarshalJSON encodes the short form if it says everything.
func (e Expectation) MarshalJSON() ([]byte, error) {
	if e.By == "" && e.Reason == "" && e.Code == 0 && e.Mutated == nil {
		return marshal(e.String())
	}
	f := expectationFields{By: e.By, Reason: e.Reason, Code: e.Code, Mutated: e.Mutated}
	switch e.Verdict {
	case Denied:
		f.Denied = &e.Message
	case Forbidden:
		f.Forbidden = &e.Message
	case Failed:
		f.Error = &e.Message
	default:
		f.Allowed = e.Mutated == nil
	}
	return json.Marshal(f)
}

// String returns the expectation as a report has it.
func (e Expectation) String() string {
	if e.Path != "" {
		return e.Path
	}
	text := string(e.Verdict)
	if e.By != "" {
		text += " by " + e.By
	}
	if e.Message != "" {
		text += ` "` + e.Message + `"`
	}
	switch about := strings.TrimSpace(fmt.Sprintf("%s %s", nonZero(e.Code), e.Reason)); {
	case e.Mutated != nil:
		text += ", with " + short(e.Mutated)
	case about != "":
		text += " (" + about + ")"
	}
	return text
}

func nonZero(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// differences returns how an answer differs from the expectation. m compares values.
func (e *Expectation) differences(m *matcher, got *Answer) []string {
	var d differences
	is := decisionOf(got)
	fits := is.verdict == e.Verdict && contains(is.message, e.Message) && is.isBy(e.By) &&
		(e.Reason == "" || e.Reason == is.reason) && (e.Code == 0 || e.Code == got.Status)
	if !fits {
		d.add("expect", "want %s, got %s", e, is)
		return d
	}
	if e.Mutated != nil {
		part := m.clone()
		part.partial = true
		if part.value("stored", e.Mutated, got.Body, &d); len(d) == 0 {
			m.adopt(part)
		}
	}
	return d
}

// contains reports whether a text has another one in it, in which <*> stands for any text.
func contains(text, part string) bool { return matches("<*>"+part+"<*>", text) }

// warningDifferences returns how the Warning headers of an answer differ from the wanted
// warnings, each of which must be in its warning.
func warningDifferences(want, got []string) []string {
	var d differences
	texts := make([]string, len(got))
	for i, value := range got {
		texts[i] = header.Warning(value)
	}
	same := len(want) == len(texts)
	for i := 0; same && i < len(want); i++ {
		same = contains(texts[i], want[i])
	}
	if !same {
		d.add("warnings", "want %s, got %s", short(want), short(texts))
	}
	return d
}
