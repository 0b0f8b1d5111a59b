package manifests

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/fakeapi"
	generic "github.com/kubefake/kubefake/internal/object"
)

// A base is the state that the input updates: the objects of Config.Base.
type base struct {
	config  *Config // its Files are those of the base
	reader  *reader
	objects []*baseObject // in their order
	byKey   map[objectKey]*baseObject
	inInput map[objectKey]bool // set when all of the input is validated
	broken  []*Result          // the files and documents that cannot be read

	ownerNames map[string]bool // kind and name of what owns objects; nil until isAlone
}

// A baseObject is an object of a base.
type baseObject struct {
	*object
	replies []*reply // to the request that stored it, one for each target
}

// An owner is an element of metadata.ownerReferences.
type owner struct{ APIVersion, Kind, Name, UID string }

// owners returns the owners of the object.
func (o *object) owners() []owner {
	if !bytes.Contains(o.body, []byte(`"ownerReferences"`)) {
		return nil
	}
	var has struct {
		Metadata struct{ OwnerReferences []owner }
	}
	_ = json.Unmarshal(o.body, &has) // the server says what is wrong
	return has.Metadata.OwnerReferences
}

// refusal returns the first reply that refuses the object, nil if there is none.
func (b *baseObject) refusal() *reply {
	for _, r := range b.replies {
		if r.missing || r.Code >= 300 {
			return r
		}
	}
	return nil
}

// storeBase stores the objects of Config.Base in the targets, and makes the targets forks of that.
func (v *validator) storeBase(ctx context.Context, paths []string) error {
	b, err := v.readBase(ctx, paths)
	if err != nil {
		return err
	}
	v.base = b
	stored := make([]ranked, len(b.objects))
	for i, o := range b.objects {
		o.replies = make([]*reply, len(v.targets))
		stored[i] = ranked{o.object, baseRank(o.object)}
	}
	for i, t := range v.targets {
		replies, err := t.storeState(ctx, stored)
		if err != nil {
			return err
		}
		for n, o := range b.objects {
			o.replies[i] = replies[n]
			if key := replies[n].key; key != (objectKey{}) {
				b.byKey[key] = o
			}
		}
	}
	if err := v.runControllers(ctx, stored); err != nil {
		return err
	}
	for _, t := range v.targets {
		if err := t.fork(); err != nil {
			return err
		}
	}
	return nil
}

// readBase reads the objects of Config.Base.
func (v *validator) readBase(ctx context.Context, paths []string) (*base, error) {
	c := &Config{Files: v.config.Files, FieldValidation: "Ignore", IgnoreFiles: v.config.IgnoreFiles}
	from := []string{v.config.Base}
	if revision, ok := strings.CutPrefix(v.config.Base, "git:"); ok {
		files, err := openRevision(ctx, revision, paths)
		if err != nil {
			return nil, fmt.Errorf("%w: the base %s: %w", fakeapi.ErrInvalidOption, v.config.Base, err)
		}
		c.Files, from = files, files.present
	} else if slices.ContainsFunc(paths, func(p string) bool { return samePath(p, v.config.Base) }) {
		return nil, fmt.Errorf("%w: the base %s is the input too: nothing would change", fakeapi.ErrInvalidOption, v.config.Base)
	}
	b := &base{config: c, reader: newReader(c, from), byKey: map[objectKey]*baseObject{}}
	if files, ok := c.Files.(*revisionFiles); ok {
		for _, p := range files.missing {
			b.addBroken(&Result{File: p, Outcome: Unreadable, Findings: []Finding{{Message: "the revision does not have it"}}})
		}
	}
	for f := range b.reader.files(ctx) {
		if err := b.add(&f); err != nil {
			return nil, err
		}
	}
	return b, ctx.Err()
}

// samePath reports whether two paths are those of one file or folder.
func samePath(a, b string) bool { return a != "-" && filepath.Clean(a) == filepath.Clean(b) }

// add adds the objects of a file.
func (b *base) add(f *file) error {
	if f.err != nil {
		if !f.found {
			return fmt.Errorf("%w: the base: %w", fakeapi.ErrInvalidOption, f.err)
		}
		b.addBroken(&Result{File: f.name, Outcome: Unreadable, Findings: []Finding{{Severity: Warning, Message: f.problem()}}})
		return nil
	}
	for d := range f.documents() {
		objects, err := d.objects(b.config, b.reader)
		if err != nil {
			b.addBroken(documentResult(d, "", err))
		}
		for _, o := range objects {
			if o.err != nil {
				b.addBroken(documentResult(d, o.item, o.err))
				continue
			}
			b.objects = append(b.objects, &baseObject{object: o})
		}
	}
	return nil
}

// addBroken adds a file or document that cannot be read. In the input it would be an error; a
// cluster does not have its objects.
func (b *base) addBroken(r *Result) {
	if r.Outcome == NoObject {
		return
	}
	r.Findings[0].Reason = "Base"
	if r.Findings[0].Severity == Error {
		r.Findings[0].Severity = Warning
	}
	b.broken = append(b.broken, b.result(r))
}

// result returns a result of the input as one of the base.
func (b *base) result(r *Result) *Result {
	r.FromBase = true
	if files, ok := b.config.Files.(*revisionFiles); ok {
		r.File = files.revision + ":" + r.File
	}
	return r
}

// The order in which the objects of a base are stored: what takes effect on others first, and what
// only refuses others last, as a cluster may have objects that are older than its policies.
const (
	rankStored = rankQuota + 1 + iota
	rankRefusing
)

// baseRank returns when an object of the base is stored.
func baseRank(o *object) int {
	rank, ok := effective[[2]string{o.group(), o.kind}]
	switch {
	case !ok:
		return rankStored
	case rank == rankQuota || strings.HasPrefix(o.kind, "Validating"):
		return rankRefusing
	}
	return rank
}

// storeState stores objects as the state before the input is written, and returns the replies in
// the order of the objects. Policies, quotas and the levels of PodSecurity refuse none of them.
func (t *target) storeState(ctx context.Context, objects []ranked) ([]*reply, error) {
	replies := make([]*reply, len(objects))
	promoteParams(objects)
	rank := -1
	for _, i := range storeOrder(objects) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o := objects[i]
		if rank == rankDefinition && o.rank != rank {
			t.forget()
		}
		rank = o.rank
		replies[i] = t.storeInState(ctx, o.object)
	}
	for i, o := range objects { // with what the first write has left out
		if replies[i].Code < 300 && (o.isNamespace() || t.dropsConversion(o.object)) {
			t.write(ctx, o.object.withoutServerFields(), write{validation: "Ignore", force: true, keepConversion: true})
		}
	}
	t.forget()
	return replies, nil
}

// storeOrder returns the indices of objects in the order in which they are stored: by their ranks,
// and owners before what they own.
func storeOrder(objects []ranked) []int {
	names := map[string]int{} // depth of ownership, by kind and name
	var depth func(o *object) int
	owned := map[string]*object{}
	for _, o := range objects {
		if len(o.owners()) > 0 {
			owned[o.kind+"/"+o.name] = o.object
		}
	}
	depth = func(o *object) int {
		id := o.kind + "/" + o.name
		if d, ok := names[id]; ok || owned[id] == nil {
			return d
		}
		names[id] = 0 // of a loop
		d := 0
		for _, w := range o.owners() {
			if above := owned[w.Kind+"/"+w.Name]; above != nil {
				d = max(d, depth(above))
			}
		}
		names[id] = d + 1
		return d + 1
	}
	order := make([]int, len(objects))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(objects[a].rank-objects[b].rank, depth(objects[a].object)-depth(objects[b].object))
	})
	return order
}

// storeInState stores an object of the state before the input. One that has managedFields comes from
// a cluster, and is stored as it is. Another one is applied.
func (t *target) storeInState(ctx context.Context, o *object) *reply {
	if bytes.Contains(o.body, []byte(`"managedFields"`)) {
		return t.restore(ctx, o)
	}
	o = o.withoutServerFields()
	if o.isNamespace() {
		o = o.withBody(func(n map[string]any) { dropPodSecurity(generic.Map(n, "metadata", "labels")) })
	}
	r := t.write(ctx, t.withOwnerUIDs(ctx, o), write{validation: "Ignore"})
	if r.Code < 300 && o.group() == "" && o.kind == "PersistentVolumeClaim" {
		t.bind(ctx, r)
	}
	r.text = nil
	return r
}

// restore stores an object of a cluster with its UID, its status and its managed fields.
func (t *target) restore(ctx context.Context, o *object) *reply {
	res, err := t.lookup(ctx, o.apiVersion, o.kind)
	if err != nil {
		return t.missingKind(err)
	}
	namespace := ""
	if res.Namespaced {
		namespace = t.namespaceOf(o)
		t.createNamespace(namespace)
	}
	if _, err := t.srv.Store(o.withBody(func(n map[string]any) {
		if namespace != "" {
			generic.Meta(n)["namespace"] = namespace
		}
	}).body); err != nil {
		return t.refusal("Invalid", err.Error())
	}
	return &reply{
		Answer: Answer{Release: t.srv.Release(), Code: http.StatusOK},
		key:    objectKey{o.group(), o.kind, namespace, o.name}, path: objectPath(o, res, namespace),
	}
}

func (o *object) isNamespace() bool { return o.group() == "" && o.kind == "Namespace" }

// withBody returns the object with a changed body.
func (o *object) withBody(change func(map[string]any)) *object {
	n := decodeObject(o.body)
	change(n)
	body, err := json.Marshal(n)
	if err != nil { // unreachable: n is decoded JSON
		return o
	}
	out := *o
	out.body = body
	return &out
}

// withoutServerFields returns the object without the metadata that a server sets, as an object from
// a cluster has it.
func (o *object) withoutServerFields() *object {
	if !bytes.Contains(o.body, []byte(`"uid"`)) && !bytes.Contains(o.body, []byte(`"resourceVersion"`)) && !bytes.Contains(o.body, []byte(`"managedFields"`)) {
		return o
	}
	return o.withBody(func(n map[string]any) {
		for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "selfLink", "managedFields"} {
			delete(generic.Map(n, "metadata"), name)
		}
	})
}

// withOwnerUIDs returns an object whose owners have the UIDs that the server has given them.
func (t *target) withOwnerUIDs(ctx context.Context, o *object) *object {
	if len(o.owners()) == 0 {
		return o
	}
	return o.withBody(func(n map[string]any) {
		for ref := range generic.Each(generic.Value(n, "metadata", "ownerReferences")) {
			owner := &object{apiVersion: generic.String(ref, "apiVersion"), kind: generic.String(ref, "kind"), name: generic.String(ref, "name")}
			res, err := t.lookup(ctx, owner.apiVersion, owner.kind)
			if err != nil {
				continue
			}
			namespace := ""
			if res.Namespaced {
				namespace = t.namespaceOf(o)
			}
			if stored := get(ctx, t.srv, objectPath(owner, res, namespace)); stored != nil {
				ref["uid"] = generic.String(stored, "metadata", "uid")
			}
		}
	})
}

// promoteParams gives the parameters of policies the rank of parameters.
func promoteParams(objects []ranked) {
	policies := slices.Clone(objects)
	for i := range policies {
		if policies[i].rank == rankRefusing && policies[i].kind != "ResourceQuota" {
			policies[i].rank = rankPolicy
		}
	}
	params := paramsOf(policies)
	var found []ranked
	for i := range objects {
		if len(params) > 0 && objects[i].isParam(params) {
			objects[i].rank = rankParameter
			found = append(found, objects[i])
		}
	}
	promoteNamespaces(objects, found)
}

// dropPodSecurity deletes the labels of PodSecurity.
func dropPodSecurity(labels map[string]any) {
	for name := range labels {
		if strings.HasPrefix(name, "pod-security.kubernetes.io/") {
			delete(labels, name)
		}
	}
}

// bind gives a PersistentVolumeClaim the volume that a cluster gives it. What may change in a claim
// depends on that.
func (t *target) bind(ctx context.Context, claim *reply) {
	stored := decodeObject(claim.text)
	patch := func(path string, body any) {
		text, err := json.Marshal(body)
		if err == nil {
			t.send(ctx, &request{method: http.MethodPatch, path: path, contentType: "application/merge-patch+json", body: text})
		}
	}
	spec := generic.Map(stored, "spec")
	patch(claim.path, map[string]any{"spec": map[string]any{"volumeName": "pvc-" + generic.String(stored, "metadata", "uid")}})
	patch(claim.path+"/status", map[string]any{"status": map[string]any{
		"phase": "Bound", "accessModes": spec["accessModes"], "capacity": generic.Map(spec, "resources", "requests"),
	}})
}

// fork makes the server of the target a fork of itself, which the input updates.
func (t *target) fork() error {
	srv, err := t.srv.NewFork()
	if err != nil {
		return err
	}
	t.base = t.of(t.srv)
	t.srv = srv
	return nil
}

// updateBase is called when what takes effect on others is stored in the targets: it finds the
// definitions that differ from those of the base.
func (v *validator) updateBase(ctx context.Context, stored []ranked) {
	for _, o := range stored {
		if o.rank != rankDefinition {
			continue
		}
		for i, t := range v.targets {
			reply := v.effects[o.place()][i]
			if state, _ := t.stateOf(ctx, o.object, reply, true); state == Changed {
				group, kind := definedKind(o.body)
				t.redefined[[2]string{group, kind}] = true
			}
		}
	}
	for _, o := range v.base.objects {
		for _, t := range v.targets {
			if t.dropsConversion(o.object) {
				t.dropConversion(ctx, o.object)
			}
		}
	}
}

// close closes the servers of the target.
func (t *target) close() {
	for _, other := range []*target{t.base, t.fresh} {
		if other != nil {
			other.srv.Close()
		}
	}
	t.srv.Close()
}

// get returns an object that a server stores, nil if there is none.
func get(ctx context.Context, srv *fakeapi.Server, path string) map[string]any {
	r := serve(ctx, srv, &request{method: http.MethodGet, path: path})
	if r.code != http.StatusOK {
		return nil
	}
	return decodeObject(r.body.Bytes())
}

// decodeObject decodes what a server has encoded. Numbers keep their digits.
func decodeObject(text []byte) (o map[string]any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&o) // the server has encoded it
	return o
}
