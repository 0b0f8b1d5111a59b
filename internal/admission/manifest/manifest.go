// Package manifest reads webhooks and policies from the files of a folder: the
// staticManifestsDir of an admission plugin. They are in effect from the start of a server
// on, and requests cannot change them.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/manifest-admission-control/.
package manifest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/admission/dynamic"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/kinds/admissionregistration"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// kinds are the kinds that a plugin takes.
var kinds = map[string][]string{
	"MutatingAdmissionPolicy":    {"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"},
	"MutatingAdmissionWebhook":   {"MutatingWebhookConfiguration"},
	"ValidatingAdmissionPolicy":  {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"},
	"ValidatingAdmissionWebhook": {"ValidatingWebhookConfiguration"},
}

// A Source is the folder of a plugin.
type Source struct {
	Plugin, Dir string

	// Types are the types of Release.
	Types   *resource.Types
	Release validation.Release
}

// A Set is what the files of a folder have. It is immutable.
type Set struct {
	Configurations []dynamic.Configuration // sorted by name
	Contents       [][]byte                // of the files
	Hash           string                  // of Contents, "" if all are empty
}

// What returns what the plugin takes: "webhook" or "policy".
func (s Source) What() string {
	if strings.HasSuffix(s.Plugin, "Webhook") {
		return "webhook"
	}
	return "policy"
}

// Files returns the names of the files that Load reads, in order.
func (s Source) Files() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("failed to read manifest directory %q: %w", s.Dir, err)
	}
	var names []string
	for _, entry := range entries {
		switch strings.ToLower(filepath.Ext(entry.Name())) {
		case ".yaml", ".yml", ".json":
			if !entry.IsDir() {
				names = append(names, filepath.Join(s.Dir, entry.Name()))
			}
		}
	}
	return names, nil
}

// Load reads the files. The errors are those of kube-apiserver.
func (s Source) Load() (*Set, error) {
	names, err := s.Files()
	if err != nil {
		return nil, err
	}
	l := loader{Source: s, seen: map[key]string{}}
	var contents [][]byte
	for _, name := range names {
		text, err := inputfile.Read(name)
		if err != nil {
			return nil, fmt.Errorf("failed to read file %q: %w", name, err)
		}
		contents = append(contents, text)
		for _, doc := range documents(text) {
			if err := l.load(doc, name, ""); err != nil {
				return nil, fmt.Errorf("error loading %s: %w", name, err)
			}
		}
	}
	if err := l.checkBindings(); err != nil {
		return nil, err
	}
	slices.SortFunc(l.found, func(a, b dynamic.Configuration) int { return strings.Compare(nameOf(a.Object), nameOf(b.Object)) })
	return &Set{Configurations: l.found, Contents: contents, Hash: hash(contents)}, nil
}

// hash returns the hash of files, "" if all are empty.
func hash(contents [][]byte) string {
	var all []byte
	for _, text := range contents {
		if len(text) > 0 {
			all = append(append(all, text...), 0)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(all))
}

// documents returns the documents of a YAML stream that are not empty.
func documents(text []byte) (docs [][]byte) {
	for _, doc := range bytes.Split(append([]byte("\n"), text...), []byte("\n---")) {
		if doc = bytes.TrimSpace(doc); len(doc) > 0 {
			docs = append(docs, doc)
		}
	}
	return docs
}

func nameOf(obj map[string]any) string { return object.String(obj, "metadata", "name") }

// A loader collects the objects of the files.
type loader struct {
	Source
	found []dynamic.Configuration
	seen  map[key]string // the file of each object
}

// A key identifies an object.
type key struct{ kind, name string }

// The kinds of other groups that kube-apiserver knows here.
var (
	listKind   = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "List"}
	statusKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Status"}
)

// load adds the objects of a document. wrap begins the errors of decoding it.
func (l *loader) load(doc []byte, file, wrap string) error {
	kind, decode, err := identify(doc)
	if err != nil {
		return fmt.Errorf("%s%w", wrap, err)
	}
	if kind == listKind {
		return l.loadItems(decode, file)
	}
	base := kind
	base.Kind = strings.TrimSuffix(kind.Kind, "List")
	if _, known := wire.ForKind(base.Group, base.Version, base.Kind); kind != statusKind && (base.Group != dynamic.Group || !known) {
		return fmt.Errorf("%sno kind %q is registered for version %q", wrap, kind.Kind, kind.GroupVersion)
	}
	t := l.Types.ForKind(base)
	if base.Version != "v1" || t == nil || !slices.Contains(kinds[l.Plugin], base.Kind) {
		return fmt.Errorf("unsupported resource type *%s.%s", kind.Version, kind.Kind)
	}
	if kind == base {
		obj, err := decode(t.Codec)
		if err != nil {
			return fmt.Errorf("%s%w", wrap, err)
		}
		return l.add(t, obj, file)
	}
	list, err := decode(resource.BuiltinCodec(kind))
	if err != nil {
		return fmt.Errorf("%s%w", wrap, err)
	}
	for item := range object.Each(list["items"]) {
		item["apiVersion"], item["kind"] = base.GroupVersion.String(), base.Kind
		if err := l.add(t, item, file); err != nil {
			return err
		}
	}
	return nil
}

// loadItems adds the objects of a List of any kinds.
func (l *loader) loadItems(decode func(codec.Codec) (map[string]any, error), file string) error {
	list, err := decode(resource.BuiltinCodec(listKind))
	if err != nil {
		return err
	}
	for _, item := range object.List(list, "items") {
		if text, ok := item.(object.RawJSON); ok {
			if err := l.load([]byte(text), file, "failed to decode list item: "); err != nil {
				return err
			}
		}
	}
	return nil
}

// identify returns the kind of a document, and a function that decodes all of it.
func identify(doc []byte) (kind resource.Kind, decode func(codec.Codec) (map[string]any, error), err error) {
	format := codec.YAML
	if bytes.HasPrefix(doc, []byte("{")) {
		format = codec.JSON
	}
	body, err := format.Parse(doc)
	if err != nil {
		return kind, nil, err
	}
	switch {
	case body.Kind == "":
		return kind, nil, fmt.Errorf("Object 'Kind' is missing in '%s'", body.Body())
	case body.APIVersion == "":
		return kind, nil, fmt.Errorf("Object 'apiVersion' is missing in '%s'", body.Body())
	}
	kind, err = resource.BodyKind(body)
	return kind, func(c codec.Codec) (map[string]any, error) {
		obj, fieldErrors, err := body.Decode(c, true)
		if err == nil && len(fieldErrors) > 0 {
			err = resource.StrictError(fieldErrors)
		}
		return obj, err
	}, err
}

// add checks an object and adds it.
func (l *loader) add(t *resource.Type, obj map[string]any, file string) error {
	t.Default(obj)
	errs := validation.ObjectMeta(object.Meta(obj), false, validation.SubdomainName, validation.NewPath("metadata"))
	errs = append(errs, t.Validate(obj, object.ViewOf(obj))...).In(l.Release, t.Group, t.Kind) // an update: requests cannot create the name
	name := nameOf(obj)
	if len(errs) > 0 {
		return fmt.Errorf("%s %q: %s", t.Kind, name, errs.Message())
	}
	if !strings.HasSuffix(name, admissionregistration.StaticSuffix) {
		return fmt.Errorf("%q in file %q must have a name ending with %q", name, file, admissionregistration.StaticSuffix)
	}
	if first, again := l.seen[key{t.Kind, name}]; again {
		return fmt.Errorf("duplicate name %q found in file %q (previously seen in %q)", name, file, first)
	}
	l.seen[key{t.Kind, name}] = file
	if err := check(obj, name, file); err != nil {
		return err
	}
	l.found = append(l.found, dynamic.Configuration{ID: new(byte), Object: obj, Static: true})
	return nil
}

// check refuses what only objects in the store can have: services and parameters.
func check(obj map[string]any, name, file string) error {
	for hook := range object.Each(obj["webhooks"]) {
		if object.Has(object.Map(hook, "clientConfig"), "service") {
			return fmt.Errorf("webhook %q in %q (file %q): clientConfig.service is not supported for static manifests; use clientConfig.url instead", object.String(hook, "name"), name, file)
		}
	}
	spec := object.Map(obj, "spec")
	if object.Has(spec, "paramKind") {
		return fmt.Errorf("%s %q: spec.paramKind is not supported for static manifests", obj["kind"], name)
	}
	if policy, ok := spec["policyName"].(string); ok && !strings.HasSuffix(policy, admissionregistration.StaticSuffix) {
		return fmt.Errorf("binding %q: spec.policyName %q must end with %q", name, policy, admissionregistration.StaticSuffix)
	}
	if object.Has(spec, "paramRef") {
		return fmt.Errorf("binding %q: spec.paramRef is not supported for static manifests", name)
	}
	return nil
}

// checkBindings fails if the files do not have the policy of a binding.
func (l *loader) checkBindings() error {
	for _, c := range l.found {
		policy := object.String(c.Object, "spec", "policyName")
		kind, isBinding := strings.CutSuffix(c.Object["kind"].(string), "Binding")
		if _, ok := l.seen[key{kind, policy}]; isBinding && !ok {
			return fmt.Errorf("binding %q references policy %q which does not exist in the manifest directory", nameOf(c.Object), policy)
		}
	}
	return nil
}

// CheckDir checks the value of staticManifestsDir. The error is that of kube-apiserver.
func CheckDir(dir string, r validation.Release) error {
	at := validation.NewPath("staticManifestsDir")
	switch {
	case dir == "":
		return nil
	case !r.Enabled(admissionregistration.StaticGate):
		return validation.Forbidden(at, "staticManifestsDir requires the "+admissionregistration.StaticGate+" feature gate to be enabled")
	case !filepath.IsAbs(dir):
		return validation.Invalid(at, dir, "must be an absolute file path")
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return validation.Invalid(at, dir, fmt.Sprintf("unable to read: %v", err))
	case !info.IsDir():
		return validation.Invalid(at, dir, "must be a directory")
	}
	return nil
}
