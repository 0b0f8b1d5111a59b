package manifests

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/backdoor"
)

// The order in which objects take effect on others. Policies apply to all but their parameters,
// without which they may refuse everything.
const (
	rankClusterAccess = iota // what a user may do is known before it is asked
	rankDefinition
	rankParameterNamespace
	rankParameter
	rankPolicy
	rankNamespace
	rankAccess
	rankOther
	rankQuota // counts what the others are
)

// effective are the kinds whose objects the answers for others depend on, by group and kind.
var effective = map[[2]string]int{
	{"apiextensions.k8s.io", "CustomResourceDefinition"}:                 rankDefinition,
	{"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"}:        rankPolicy,
	{"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"}: rankPolicy,
	{"admissionregistration.k8s.io", "MutatingAdmissionPolicy"}:          rankPolicy,
	{"admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"}:   rankPolicy,
	{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"}:   rankPolicy,
	{"admissionregistration.k8s.io", "MutatingWebhookConfiguration"}:     rankPolicy,
	{"", "Namespace"}:                           rankNamespace,
	{"", "ServiceAccount"}:                      rankOther,
	{"", "LimitRange"}:                          rankOther,
	{"", "ResourceQuota"}:                       rankQuota,
	{"scheduling.k8s.io", "PriorityClass"}:      rankOther,
	{"storage.k8s.io", "StorageClass"}:          rankOther,
	{"storage.k8s.io", "VolumeAttributesClass"}: rankOther,
	{"storage.k8s.io", "CSIDriver"}:             rankOther,
	{"networking.k8s.io", "IngressClass"}:       rankOther,
	{"networking.k8s.io", "ServiceCIDR"}:        rankOther,
	{"node.k8s.io", "RuntimeClass"}:             rankOther,
	{"resource.k8s.io", "DeviceClass"}:          rankOther,
	{rbacGroup, "Role"}:                         rankAccess,
	{rbacGroup, "RoleBinding"}:                  rankAccess,
	{rbacGroup, "ClusterRole"}:                  rankClusterAccess,
	{rbacGroup, "ClusterRoleBinding"}:           rankClusterAccess,
}

// rbacGroup is the group of roles and bindings, which matter if there is a user.
const rbacGroup = "rbac.authorization.k8s.io"

// effectiveKinds are the kinds of effective.
var effectiveKinds = func() map[string]bool {
	out := map[string]bool{}
	for k := range effective {
		out[k[1]] = true
	}
	return out
}()

// A place identifies an object of the input, or a document.
type place struct {
	file     string
	document int
	item     string
}

func (o *object) place() place { return place{o.file.name, o.number, o.item} }

func (d *document) place() place { return place{file: d.file.name, document: d.number} }

func (o *object) group() string { return groupOf(o.apiVersion) }

// groupOf returns the group of an API version.
func groupOf(apiVersion string) string {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// A param is what a binding of a policy refers to.
type param struct {
	apiVersion, kind string
	name             string // "" for all
}

// takeEffect stores the objects of the input that take effect on others.
func (v *validator) takeEffect(ctx context.Context) error {
	found, err := v.find(ctx, effectiveKinds, func(o *object) (int, bool) {
		rank, ok := effective[[2]string{o.group(), o.kind}]
		if o.kind == "ServiceCIDR" {
			return rank, ok && v.config.From != "" && o.isStored() // others are not ready
		}
		return rank, ok && (o.group() != rbacGroup || v.config.User != nil)
	})
	if err != nil {
		return err
	}
	params := paramsOf(found)
	if len(params) > 0 {
		kinds := map[string]bool{}
		for _, p := range params {
			kinds[p.kind] = true
		}
		more, err := v.find(ctx, kinds, func(o *object) (int, bool) { return rankParameter, o.isParam(params) })
		if err != nil {
			return err
		}
		promoteNamespaces(found, more)
		found = append(found, more...)
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return a.rank - b.rank })
	rank := -1
	for _, o := range found {
		if rank == rankDefinition && o.rank != rank {
			v.forget()
		}
		rank = o.rank
		if err := ctx.Err(); err != nil {
			return err
		}
		v.store(ctx, o)
	}
	if v.base != nil {
		v.updateBase(ctx, found)
	}
	v.forget()
	return v.runControllers(ctx, found)
}

// promoteNamespaces gives the namespaces of parameters their rank.
func promoteNamespaces(objects, params []ranked) {
	for i, o := range objects {
		if o.rank == rankNamespace && slices.ContainsFunc(params, func(p ranked) bool { return p.namespace == o.name }) {
			objects[i].rank = rankParameterNamespace
		}
	}
}

// forget makes the targets discover their resources again.
func (v *validator) forget() {
	for _, t := range v.targets {
		t.forget()
	}
}

// A ranked object is one that takes effect.
type ranked struct {
	*object
	rank int
}

// find returns the objects of the input that of accepts, of documents in which a kind of kinds
// occurs.
func (v *validator) find(ctx context.Context, kinds map[string]bool, of func(o *object) (rank int, ok bool)) (out []ranked, err error) {
	for f := range v.reader.files(ctx) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for d := range f.documents() {
			if !mentionsKind(d.text, kinds) {
				continue
			}
			objects, err := d.objects(v.config, v.reader)
			if err != nil {
				continue // validate reports it
			}
			for _, o := range objects {
				if o.err != nil {
					continue
				}
				if rank, ok := of(o); ok && !o.matches(v.config.Skip) && !o.matches(v.config.Reject) {
					v.reader.keepBody(d)
					o.document = d.withoutText()
					out = append(out, ranked{o, rank})
				}
			}
		}
	}
	return out, nil
}

// withoutText returns the document as a place, which keeps no text of the file alive.
func (d *document) withoutText() *document {
	return &document{file: &file{name: d.file.name}, number: d.number}
}

// mentionsKind reports whether a document may have an object of kinds. It does not parse the
// document.
func mentionsKind(text []byte, kinds map[string]bool) bool {
	for {
		i := bytes.Index(text, []byte("kind"))
		if i < 0 {
			return false
		}
		text = text[i+len("kind"):]
		value := bytes.TrimLeft(text, " \t\r\n\"':")
		end := 0
		for end < len(value) && isLetterOrDigit(value[end]) {
			end++
		}
		switch {
		case end > 0:
			word := string(value[:end])
			if kinds[word] || kinds[strings.TrimSuffix(word, "List")] {
				return true
			}
		case end < len(value) && bytes.IndexByte([]byte("&*!\\|>#"), value[end]) >= 0:
			return true // an anchor, a tag, an escape: only a parser knows
		}
	}
}

func isLetterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// store writes an object that takes effect, and keeps the replies. With a user, the replies are
// those to the user, except for roles and bindings: an administrator grants permissions.
func (v *validator) store(ctx context.Context, o ranked) {
	if v.config.From != "" {
		v.storeOld(ctx, o.object)
		return
	}
	replies := make([]*reply, len(v.targets))
	for i, t := range v.targets {
		if v.config.User != nil && o.group() != rbacGroup {
			replies[i] = t.write(ctx, o.object, write{dryRun: true, user: v.config.User})
			t.write(ctx, o.object, write{})
			continue
		}
		replies[i] = t.write(ctx, o.object, write{})
	}
	v.effects[o.place()] = replies
}

// paramsOf returns the parameters of the bindings among objects.
func paramsOf(objects []ranked) (out []param) {
	type policy struct {
		Metadata struct{ Name string }
		Spec     struct {
			ParamKind  struct{ APIVersion, Kind string }
			PolicyName string
			ParamRef   *struct{ Name string }
		}
	}
	kinds := map[string]param{}
	var bindings []policy
	for _, o := range objects {
		if o.rank != rankPolicy {
			continue
		}
		var p policy
		if json.Unmarshal(o.body, &p) != nil {
			continue
		}
		if p.Spec.ParamKind.Kind != "" {
			kinds[p.Metadata.Name] = param{apiVersion: p.Spec.ParamKind.APIVersion, kind: p.Spec.ParamKind.Kind}
		}
		if p.Spec.ParamRef != nil {
			bindings = append(bindings, p)
		}
	}
	for _, b := range bindings {
		if p, ok := kinds[b.Spec.PolicyName]; ok {
			p.name = b.Spec.ParamRef.Name
			out = append(out, p)
		}
	}
	return out
}

// isParam reports whether the object is one of params.
func (o *object) isParam(params []param) bool {
	if _, ok := effective[[2]string{o.group(), o.kind}]; ok {
		return false // it takes effect anyway
	}
	return slices.ContainsFunc(params, func(p param) bool {
		return p.apiVersion == o.apiVersion && p.kind == o.kind && (p.name == "" || p.name == o.name)
	})
}

// runControllers does what controllers of a cluster do with objects on which others depend: a quota
// applies when its status has its limits, and an aggregated role has rules of others.
func (v *validator) runControllers(ctx context.Context, stored []ranked) error {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, o := range stored {
		switch o.kind {
		case "ResourceQuota":
			add("resourcequota-controller")
		case "ClusterRole":
			if v.config.User != nil {
				add("clusterrole-aggregation-controller")
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	for _, t := range v.writers() {
		if err := runControllers(ctx, t.srv, names); err != nil {
			return err
		}
	}
	return nil
}

// runControllers runs controllers of a server until they have nothing left to do.
func runControllers(ctx context.Context, srv *fakeapi.Server, names []string) error {
	if err := srv.SetControllers(names...); err != nil {
		return err
	}
	if err := backdoor.Of(srv).RunControllers(ctx); err != nil {
		return err
	}
	return srv.SetControllers()
}

// storeDefinitions stores the CustomResourceDefinitions of Config.CRDs.
func (v *validator) storeDefinitions(ctx context.Context) error {
	c := Config{Files: v.config.Files, Stdin: v.config.Stdin}
	paths := slices.DeleteFunc(slices.Clone(v.config.CRDs), isTemplateOfNames)
	r := newReader(&c, paths)
	for f := range r.files(ctx) {
		if f.err != nil {
			return f.err
		}
		for d := range f.documents() {
			objects, err := d.objects(&c, r)
			if err != nil {
				if e, ok := err.(*documentError); ok && e.outcome == NoObject {
					continue
				}
				return &inputError{d, err}
			}
			for _, o := range objects {
				if o.err != nil {
					return &inputError{d, o.err}
				}
				if o.kind != "CustomResourceDefinition" {
					continue
				}
				for _, t := range v.writers() {
					if reply := t.write(ctx, o, write{}); reply.Code >= 300 {
						return &inputError{d, refused(reply.Message)}
					}
				}
			}
		}
	}
	v.forget()
	return nil
}
