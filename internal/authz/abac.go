package authz

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/explain"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/resource"
)

// ABAC is the mode ABAC: a request is allowed if a policy of a file matches it. It is
// immutable.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/abac/.
type ABAC struct{ policies []abacPolicy }

// An abacPolicy is the spec of a Policy of abac.authorization.kubernetes.io/v1beta1, and of
// the form before it, which has no apiVersion.
type abacPolicy struct {
	User            string `json:"user"`
	Group           string `json:"group"`
	Readonly        bool   `json:"readonly"`
	APIGroup        string `json:"apiGroup"`
	Resource        string `json:"resource"`
	Namespace       string `json:"namespace"`
	NonResourcePath string `json:"nonResourcePath"`
}

const (
	abacGroup = "abac.authorization.kubernetes.io"
	abacKind  = "Policy"
)

// ReadABAC reads a policy file: a Policy in JSON on each line. Empty lines and lines that begin
// with # have no effect. The errors are those of kube-apiserver in a minor release, which name the line.
func ReadABAC(name string, minor int) (*ABAC, error) {
	file, err := inputfile.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	out := &ABAC{}
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		p, err := parseABAC([]byte(text), minor)
		if err != nil {
			return nil, inputfile.Wrap(name, fmt.Errorf("error reading policy file %s, line %d: %s: %w", name, n, lines.Text(), err))
		}
		out.policies = append(out.policies, p)
	}
	if err := lines.Err(); err != nil {
		return nil, inputfile.Wrap(name, fmt.Errorf("error reading policy file %s: %w", name, err))
	}
	return out, nil
}

// parseABAC returns the policy of a line.
func parseABAC(line []byte, minor int) (p abacPolicy, err error) {
	var meta struct{ APIVersion, Kind string }
	if err := json.Unmarshal(line, &meta); err != nil {
		return p, fmt.Errorf("couldn't get version/kind; json parse error: %w", explain.Error(line, &p, err))
	}
	group, version, _ := strings.Cut(meta.APIVersion, "/")
	isPolicy := group == abacGroup && meta.Kind == abacKind
	switch {
	case isPolicy && version == "v1beta1":
		var policy struct {
			Spec abacPolicy `json:"spec"`
		}
		err = json.Unmarshal(line, &policy)
		p = policy.Spec
	case meta.APIVersion == "" && (meta.Kind == "" || meta.Kind == abacKind) || isPolicy && version == "v0":
		if err = json.Unmarshal(line, &p); err == nil {
			p.convertV0()
		}
	case meta.APIVersion == "":
		err = fmt.Errorf("no kind %q is registered for version %q in scheme %q", meta.Kind, abacGroup+"/v0", resource.Scheme(minor))
	case meta.Kind == "":
		err = errors.New("Object 'Kind' is missing in '" + string(line) + "'")
	default:
		err = fmt.Errorf("no kind %q is registered for version %q in scheme %q", meta.Kind, meta.APIVersion, resource.Scheme(minor))
	}
	if p.User == all || p.Group == all { // that is who has credentials
		p.User, p.Group = "", authn.AuthenticatedGroup
	}
	return p, explain.Error(line, &p, err)
}

// convertV0 turns a policy without apiVersion into one of v1beta1: there, what is not set
// matches everything.
func (p *abacPolicy) convertV0() {
	p.APIGroup, p.NonResourcePath = all, ""
	if p.User == "" && p.Group == "" {
		p.Group = all
	}
	if p.Namespace == "" && p.Resource == "" {
		p.NonResourcePath = all
	}
	if p.Namespace == "" {
		p.Namespace = all
	}
	if p.Resource == "" {
		p.Resource = all
	}
}

// readVerbs are the verbs that a read-only policy allows.
var readVerbs = []string{"get", "list", "watch"}

// Authorize implements [Mode].
func (a *ABAC) Authorize(_ context.Context, u *authn.User, at *Attributes) Decision {
	for i := range a.policies {
		if p := &a.policies[i]; p.appliesTo(u) && p.allows(at) {
			return Decision{Allowed: true}
		}
	}
	return Decision{Reason: "No policy matched."}
}

// appliesTo reports whether the policy is for the user. A policy without a user and a
// group is for nobody.
func (p *abacPolicy) appliesTo(u *authn.User) bool {
	return (p.User != "" || p.Group != "") &&
		(p.User == "" || p.User == u.Name) && (p.Group == "" || u.InGroup(p.Group))
}

// allows reports whether the policy allows an action of its users.
func (p *abacPolicy) allows(at *Attributes) bool {
	if p.Readonly && !slices.Contains(readVerbs, at.Verb) {
		return false
	}
	if at.IsResource {
		return matchesOrAll(p.Namespace, at.Namespace) && matchesOrAll(p.Resource, at.Resource) && matchesOrAll(p.APIGroup, at.Group)
	}
	prefix := strings.TrimRight(p.NonResourcePath, all)
	return p.NonResourcePath == at.Path || prefix != p.NonResourcePath && strings.HasPrefix(at.Path, prefix)
}

// matchesOrAll reports whether a field of a policy matches a value.
func matchesOrAll(field, value string) bool { return field == all || field == value }

// Rules implements [Mode].
func (a *ABAC) Rules(u *authn.User, namespace string) (rules []Rule, errs []error) {
	for i := range a.policies {
		p := &a.policies[i]
		if !p.appliesTo(u) || !matchesOrAll(p.Namespace, namespace) {
			continue
		}
		verbs := []string{all}
		if p.Readonly {
			verbs = readVerbs
		}
		if p.Resource != "" {
			rules = append(rules, Rule{Verbs: verbs, APIGroups: []string{p.APIGroup}, Resources: []string{p.Resource}})
		}
		if p.NonResourcePath != "" {
			rules = append(rules, Rule{Verbs: verbs, NonResourceURLs: []string{p.NonResourcePath}})
		}
	}
	return rules, nil
}
