package manifests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/profile"
	"github.com/kubefake/kubefake/internal/release"
)

// A judge finds what is new in the answers of an upgrade to an object.
type judge struct {
	config  *Config
	object  *object
	targets []*target
	created []*reply
	steps   []*step // none if the object is not stored

	findings []*judged
	old      map[oldKey]bool // what the first release says
}

// An oldKey is a finding of the first release in its answer to a write.
type oldKey struct {
	write   string
	finding findingKey
}

// A findingKey identifies findings that say the same. Releases have other words for some errors of a
// field.
type findingKey struct {
	severity               Severity
	reason, field, message string
}

func (f *Finding) identity() findingKey {
	if f.Severity != Warning && f.Field != "" {
		return findingKey{f.Severity, f.Reason, f.Field, ""}
	}
	return findingKey{f.Severity, f.Reason, f.Field, f.Message}
}

// The names of writes in Finding.Writes.
const (
	writeCreate = "create"
	writeUpdate = "update"
	writeApply  = "apply"
)

// A named reply is that to a write.
type namedReply struct {
	write string
	*reply
}

// replies returns the answers of a release to writes.
func (j *judge) replies(i int) []namedReply {
	out := []namedReply{{writeCreate, j.created[i]}}
	if len(j.steps) > 0 {
		out = append(out, namedReply{writeUpdate, j.steps[i].updated}, namedReply{writeApply, j.steps[i].applied})
	}
	return slices.DeleteFunc(out, func(r namedReply) bool {
		// A server has some objects from the beginning, which nobody creates.
		return r.reply == nil || r.missing || r.Reason == "AlreadyExists"
	})
}

// A judged finding knows which answers have it.
type judged struct {
	Finding
	answers map[answerKey]bool
}

// An answerKey identifies an answer to an object. The write is "" for a read, and for all of them.
type answerKey struct {
	target int
	write  string
}

// add adds a finding of a release, or the release and the write to one that says the same. Of two
// wordings it keeps that of the newer release.
func (j *judge) add(f Finding, i int, write string) {
	answer := answerKey{i, write}
	n := slices.IndexFunc(j.findings, func(has *judged) bool {
		return has.identity() == f.identity() && (has.Message == f.Message || !has.answers[answer])
	})
	if n < 0 {
		n = len(j.findings)
		j.findings = append(j.findings, &judged{f, map[answerKey]bool{}})
	}
	has := j.findings[n]
	has.answers[answer], has.Message = true, f.Message
	if release := j.targets[i].srv.Release(); !slices.Contains(has.Releases, release) {
		has.Releases = append(has.Releases, release)
	}
	if write != "" && !slices.Contains(has.Writes, write) {
		has.Writes = append(has.Writes, write)
	}
}

// refuse adds the error of an object of a cluster that the first release cannot store.
func (j *judge) refuse(err error) {
	text := strings.TrimPrefix(err.Error(), "fakeapi: Store: ")
	j.add(Finding{Severity: Error, Reason: "BadRequest", Message: text, Field: fieldOf(text)}, 0, "")
}

// results returns the outcome and the findings.
func (j *judge) results(ctx context.Context) (Outcome, []Finding) {
	j.judgeFirst()
	for i := range j.targets[1:] {
		j.judgeVersion(i + 1)
		j.judgeWrites(i + 1)
	}
	j.judgeServed()
	j.judgeApplied()
	if j.object.isStored() {
		j.judgeManagers(ctx)
	}
	j.judgeGates(ctx)
	writes := len(j.replies(0))
	out := make([]Finding, len(j.findings))
	for n, f := range j.findings {
		if len(f.Releases) == len(j.targets) {
			f.Releases = nil
		}
		if len(f.Writes) == writes {
			f.Writes = nil
		}
		out[n] = f.Finding
	}
	return j.outcome(out), out
}

// outcome returns the outcome of an object with the findings.
func (j *judge) outcome(findings []Finding) Outcome {
	outcome := Valid
	for _, f := range findings {
		switch {
		case f.Reason == "MissingKind" && outcome == Valid:
			outcome = MissingKind
		case f.Reason != "MissingKind" && f.Severity == Error:
			outcome = Invalid
		}
	}
	return outcome
}

// judgeFirst notes what the first release says. It adds why a document is not stored.
func (j *judge) judgeFirst() {
	j.old = map[oldKey]bool{}
	for _, r := range j.replies(0) {
		for _, f := range r.findings() {
			j.old[oldKey{r.write, f.identity()}] = true
		}
	}
	first := j.created[0]
	if j.object.isStored() && !first.missing {
		return
	}
	if first.missing {
		severity := Error
		if j.config.IgnoreMissingKinds {
			severity = Note
		}
		j.add(Finding{Severity: severity, Reason: "MissingKind", Field: "kind", Message: first.Message}, 0, "")
		return
	}
	for _, f := range first.findings() {
		if f.Severity == Error {
			j.add(f, 0, writeCreate)
		}
	}
}

// judgeVersion adds that a release does not serve the version of the object, or cannot read it.
func (j *judge) judgeVersion(i int) {
	if reply := j.created[i]; reply.missing {
		severity := Error
		if j.created[0].missing && j.config.IgnoreMissingKinds {
			severity = Note
		}
		j.add(Finding{Severity: severity, Reason: "MissingKind", Field: "kind", Message: reply.Message}, i, "")
		return
	}
	if len(j.steps) == 0 || j.steps[i].served == nil || j.steps[i].served.code == http.StatusOK {
		return
	}
	for _, f := range j.targets[i].replyOf(j.steps[i].served).findings() {
		if j.steps[0].served.code == http.StatusOK {
			j.add(f, i, "")
		}
	}
}

// judgeWrites adds what a release says about a write and the first one does not say about the same
// write. What the first one says too is added if it is the reason why the object is not stored.
func (j *judge) judgeWrites(i int) {
	for _, r := range j.replies(i) {
		for _, f := range r.findings() {
			first := slices.ContainsFunc(j.findings, func(has *judged) bool {
				return has.identity() == f.identity() && has.answers[answerKey{0, r.write}]
			})
			if first || !j.old[oldKey{r.write, f.identity()}] {
				j.add(f, i, r.write)
			}
		}
	}
}

// judgeServed adds what a release serves otherwise than the one before, though nobody has written.
func (j *judge) judgeServed() {
	for i := 1; i < len(j.steps); i++ {
		before, after := j.steps[i-1].served, j.steps[i].served
		if !isServed(before) || !isServed(after) || bytes.Equal(before.body.Bytes(), after.body.Bytes()) {
			continue
		}
		for _, c := range j.changes(before.body.Bytes(), after.body.Bytes()) {
			var text string
			switch {
			case c.Old == nil:
				text = fmt.Sprintf("served as %s, was not there before", compact(c.New))
			case c.New == nil:
				text = fmt.Sprintf("no longer served, was %s before", compact(c.Old))
			default:
				text = fmt.Sprintf("served as %s, was %s before", compact(c.New), compact(c.Old))
			}
			j.add(Finding{Severity: Warning, Reason: "Changed", Field: c.Path, Message: c.Path + ": " + text}, i, "")
		}
	}
}

func isServed(r *response) bool { return r != nil && r.code == http.StatusOK }

// judgeApplied adds what a release changes in the stored object when the document is applied again,
// and the first one does not change.
func (j *judge) judgeApplied() {
	old := map[string]bool{}
	for i, s := range j.steps {
		if s.applied == nil || s.applied.Code >= 300 || bytes.Equal(s.applied.text, s.served.body.Bytes()) {
			continue
		}
		for _, c := range j.changes(s.served.body.Bytes(), s.applied.text) {
			var text string
			switch {
			case c.Old == nil:
				text = fmt.Sprintf("set to %s when it is applied again", compact(c.New))
			case c.New == nil:
				text = fmt.Sprintf("removed when it is applied again, is %s", compact(c.Old))
			default:
				text = fmt.Sprintf("set to %s when it is applied again, is %s", compact(c.New), compact(c.Old))
			}
			text = c.Path + ": " + text
			if i == 0 {
				old[text] = true
			} else if !old[text] {
				j.add(Finding{Severity: Warning, Reason: "Changed", Field: c.Path, Message: text}, i, "")
			}
		}
	}
}

// changes returns how two versions of the object differ.
func (j *judge) changes(old, new []byte) []Change {
	var a, b map[string]any
	if json.Unmarshal(old, &a) != nil || json.Unmarshal(new, &b) != nil {
		return nil // unreachable: the server has encoded them
	}
	changes := Diff(a, b)
	if j.object.kind == "Secret" && j.object.group() == "" {
		hideSecrets(changes)
	}
	return changes
}

// maxValue is how much of a value a message has, in bytes.
const maxValue = 200

// compact returns a value as JSON in a line.
func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil { // unreachable: v is decoded JSON
		return err.Error()
	}
	if len(text) > maxValue {
		return strings.ToValidUTF8(string(text[:maxValue]), "") + "..."
	}
	return string(text)
}

// judgeManagers adds who has written an object of a cluster in a version that a release no longer
// serves: the manager of fields, or kubectl apply in its annotation.
func (j *judge) judgeManagers(ctx context.Context) {
	var o struct {
		Metadata struct {
			Annotations   map[string]string
			ManagedFields []struct{ Manager, APIVersion string }
		}
	}
	_ = json.Unmarshal(j.object.body, &o) // the server says what is wrong
	add := func(field, writer, apiVersion string) {
		if apiVersion == "" || apiVersion == j.object.apiVersion || !j.targets[0].has(ctx, apiVersion, j.object.kind) {
			return
		}
		for i, t := range j.targets[1:] {
			if _, err := t.lookup(ctx, apiVersion, j.object.kind); err != nil {
				j.add(Finding{Severity: Warning, Reason: "RemovedVersion", Field: field, Message: fmt.Sprintf("%s writes it as %s: %v", writer, apiVersion, err)}, i+1, "")
			}
		}
	}
	for i, m := range o.Metadata.ManagedFields {
		add(fmt.Sprintf("metadata.managedFields[%d].apiVersion", i), m.Manager, m.APIVersion)
	}
	const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	var applied struct{ APIVersion string }
	if json.Unmarshal([]byte(o.Metadata.Annotations[lastApplied]), &applied) == nil {
		add("metadata.annotations["+lastApplied+"]", "kubectl apply", applied.APIVersion)
	}
}

// judgeGates adds the feature gates on which fields of the object depend and whose values change.
func (j *judge) judgeGates(ctx context.Context) {
	if !release.IsKubernetesGroup(j.object.group()) {
		return
	}
	var obj map[string]any
	_ = json.Unmarshal(j.object.body, &obj) // the server says what is wrong
	for _, g := range kind.GatedPaths(j.object.group(), j.object.kind, obj) {
		was := j.targets[0].enabled(ctx, g.Gate)
		for i, t := range j.targets[1:] {
			if t.enabled(ctx, g.Gate) != was {
				j.add(Finding{
					Severity: Note, Reason: "FeatureGate", Field: g.Path,
					Message: fmt.Sprintf("%s: the feature gate %s is %s, was %s", g.Path, g.Gate, onOff(!was), onOff(was)),
				}, i+1, "")
			}
		}
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// enabled reports whether a feature gate of the server is on. One that its release does not have is
// as it was in the last one that had it, or off.
func (t *target) enabled(ctx context.Context, gate string) bool {
	t.gatesOnce.Do(func() {
		t.gates = profile.Gates(t.send(ctx, &request{method: http.MethodGet, path: "/metrics"}).body.Bytes())
	})
	if on, ok := t.gates[gate]; ok {
		return on
	}
	r, err := release.Open(t.srv.Release())
	return err == nil && r.Enabled(gate)
}
