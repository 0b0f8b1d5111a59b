package scenarios

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// A decision is what an answer says about a request: the verdict, and who refused it.
type decision struct {
	verdict         Verdict
	status          int
	reason, message string
	// kind and name are those of the policy, the webhook, the quota or the plugin that denies.
	kind, name, binding string
	fields              []string // of the causes
}

// deniers are the forms of messages of those that deny, with their kinds. The groups are a name
// and, for a policy, a binding.
var deniers = []struct {
	kind    string
	message *regexp.Regexp
}{
	{"ValidatingAdmissionPolicy", regexp.MustCompile(`ValidatingAdmissionPolicy '([^']+)'(?: with binding '([^']+)')? denied request: `)},
	{"MutatingAdmissionPolicy", regexp.MustCompile(`policy ['"]([^'"]+)['"](?: with binding '([^']+)')? denied request: `)},
	{"Webhook", regexp.MustCompile(`admission webhook "([^"]+)" denied the request()`)},
	{"PodSecurity", regexp.MustCompile(`violates PodSecurity "([^"]+)"()`)},
	{"ResourceQuota", regexp.MustCompile(`exceeded quota: ([^,]+)()`)},
}

// unauthorized matches the message of the authorizer.
var unauthorized = regexp.MustCompile(`is forbidden: User "[^"]*" cannot `)

// decisionOf returns the decision that an answer has.
func decisionOf(got *Answer) decision {
	d := decision{verdict: Allowed, status: got.Status}
	if got.Status < http.StatusBadRequest {
		return d
	}
	body, _ := got.Body.(map[string]any)
	d.reason, d.message = object.String(body, "reason"), statusMessage(got.Body)
	for cause := range object.Each(object.List(body, "details", "causes")) {
		if field := object.String(cause, "field"); field != "" {
			d.fields = append(d.fields, field)
		}
	}
	for _, by := range deniers {
		if m := by.message.FindStringSubmatch(d.message); m != nil {
			d.verdict, d.kind, d.name, d.binding = Denied, by.kind, m[1], m[2]
			return d
		}
	}
	switch {
	case got.Status == http.StatusForbidden && unauthorized.MatchString(d.message):
		d.verdict = Forbidden
	case got.Status == http.StatusForbidden, got.Status == http.StatusUnprocessableEntity:
		d.verdict = Denied
	default:
		d.verdict = Failed
	}
	return d
}

// isBy reports whether the decision is that of a policy, a webhook or a rule; "" means anybody.
func (d decision) isBy(by string) bool {
	return by == "" || by == d.kind || by == d.name || by == d.binding || by == d.kind+"/"+d.name || slices.Contains(d.fields, by)
}

// String returns the decision as a report has it.
func (d decision) String() string {
	if d.verdict == Allowed {
		return fmt.Sprintf("allowed (%d)", d.status)
	}
	text := string(d.verdict)
	switch {
	case d.kind != "":
		text += " by " + d.kind + "/" + d.name
	case d.verdict == Denied && len(d.fields) > 0:
		text += " by " + strings.Join(slices.Compact(slices.Clone(d.fields)), ", ")
	}
	return fmt.Sprintf("%s %q (%d %s)", text, d.message, d.status, cmp.Or(d.reason, "without a reason"))
}
