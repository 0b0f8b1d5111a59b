package validation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
)

// The finalizers that are not domain names.
const (
	finalizerKubernetes = "kubernetes"
	finalizerOrphan     = "orphan"
	finalizerForeground = "foregroundDeletion"
)

// subresourceMaxLength is the maximum length of a subresource in managedFields,
// in bytes.
const subresourceMaxLength = 256

// A Metadata checks the metadata of an object. kube-apiserver checks it several times on one
// write and reports the errors of each time, most of which are found here once.
type Metadata struct {
	view View
	errs Errors // of all calls
	// The errors that do not depend on the kind and on the old metadata: those of labels,
	// annotations and owners, of finalizers, and of managed fields.
	references, finalizers, managers List
}

// NewMetadata returns the checks of the metadata of an object. path is the path of the
// metadata, which must not be changed while the Metadata is in use.
func NewMetadata(meta map[string]any, path *Path) *Metadata {
	m := &Metadata{}
	m.view = View{Obj: meta, Path: path, Errs: &m.errs}
	p := m.view
	p.Labels("labels")
	p.Annotations("annotations")
	checkOwnerReferences(p)
	references := len(m.errs.List)
	checkFinalizers(p)
	finalizers := len(m.errs.List)
	checkManagedFields(p)
	errs := m.errs.List
	m.references, m.finalizers, m.managers = errs[:references], errs[references:finalizers], errs[finalizers:]
	return m
}

// New returns the errors of the metadata as that of a new object, after its name has been
// generated.
func (m *Metadata) New(namespaced bool, name NameFunc) List {
	p, before := m.view, len(m.errs.List)
	checkNames(p, name)
	switch {
	case namespaced && p.String("namespace") == "":
		p.Required("namespace", "")
	case namespaced:
		p.Format("namespace", DNS1123Label)
	case p.String("namespace") != "":
		p.Forbidden("namespace", "not allowed on this type")
	}
	p.NonNegative("generation")
	return slices.Concat(m.errs.List[before:], m.references, m.finalizers, m.managers)
}

// Names returns those of the errors of New that depend on the rule for names.
func (m *Metadata) Names(name NameFunc) List {
	before := len(m.errs.List)
	checkNames(m.view, name)
	return slices.Clone(m.errs.List[before:])
}

func checkNames(p View, name NameFunc) {
	p.FormatIfSet("generateName", func(s string) []string { return name(s, true) })
	if own := p.String("name"); own == "" {
		p.Required("name", "name or generateName is required")
	} else {
		p.formatted("name", own, func(s string) []string { return name(s, false) })
	}
}

// Changed returns the errors of the metadata as that of an object whose metadata was old,
// which is not checked itself.
func (m *Metadata) Changed(old object.View) List {
	p, before := m.view, len(m.errs.List)
	if _, deleting := Timestamp(old.String("deletionTimestamp")); deleting {
		if added := addedFinalizers(p.Obj, old); len(added) > 0 {
			p.Forbidden("finalizers", fmt.Sprintf("no new finalizers can be added if the object is being deleted, found new finalizers %#v", added))
		}
	}
	if p.String("resourceVersion") == "" {
		p.InvalidString("resourceVersion", "must be specified for an update")
	}
	oldGeneration, _ := old.Int("generation")
	generation := p.Int("generation")
	p.AddList(NonNegative(generation, p.At("generation")).Since(behavior.MetadataErrors))
	if generation < oldGeneration {
		p.Add(Invalid(p.At("generation"), generation, "must not be decremented"))
	}
	for _, field := range [...]string{"name", "namespace"} {
		if p.String(field) != old.String(field) {
			p.InvalidString(field, immutableRule)
		}
	}
	if p.String("uid") != old.String("uid") {
		p.InvalidNamed("uid", immutableRule)
	}
	for _, field := range [...]string{"creationTimestamp", "deletionTimestamp"} {
		if p.String(field) == old.String(field) {
			continue
		}
		if now := timeOrNil(p.Obj[field]); now != timeOrNil(old.String(field)) {
			p.Add(Invalid(p.At(field), now, immutableRule))
		}
	}
	if now := gracePeriodOrNil(p.Object()); now != gracePeriodOrNil(old) {
		p.Add(Invalid(p.At("deletionGracePeriodSeconds"), now, immutableRule))
	}
	return slices.Concat(m.errs.List[before:], m.references, m.managers)
}

// ObjectMeta checks the metadata of a new object once.
func ObjectMeta(meta map[string]any, namespaced bool, name NameFunc, path *Path) List {
	return NewMetadata(meta, path).New(namespaced, name)
}

// ObjectMetaUpdate checks the new metadata of an object against the old once.
func ObjectMetaUpdate(newMeta map[string]any, oldMeta object.View, path *Path) List {
	return NewMetadata(newMeta, path).Changed(oldMeta)
}

// utc is a time in UTC, so that equal times compare as equal. Error messages
// contain it without fractions of a second.
type utc struct{ time.Time }

func (t utc) MarshalJSON() ([]byte, error) {
	return []byte(t.Format(`"` + time.RFC3339 + `"`)), nil
}

// timeOrNil returns a time as error messages quote it, or nil.
func timeOrNil(v any) any {
	t, ok := Timestamp(v)
	if !ok || t.IsZero() {
		return nil
	}
	return utc{t.UTC()}
}

// gracePeriodOrNil returns deletionGracePeriodSeconds, or nil.
func gracePeriodOrNil(meta object.View) any {
	n, ok := meta.Int("deletionGracePeriodSeconds")
	if !ok {
		return nil
	}
	return n
}

// FinalizerNames checks that each finalizer is a domain and a path, or one of
// the standard finalizers of Kubernetes. It applies to all kinds except custom
// resources, which use FinalizerWarnings instead, PodDisruptionBudgets and the
// kinds in the groups admissionregistration, apiextensions, apiregistration,
// coordination and node.
func FinalizerNames(meta map[string]any, path *Path) List {
	var list List
	for i, v := range object.List(meta, "finalizers") {
		list = append(list, KubernetesFinalizer(stringOf(v), path.Child("finalizers").Index(i))...)
	}
	return list
}

// KubernetesFinalizer checks one finalizer as FinalizerNames does.
func KubernetesFinalizer(name string, path *Path) List {
	if strings.Contains(name, "/") || standardFinalizer(name) {
		return nil
	}
	return List{Invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")}
}

// FinalizerWarnings returns the warnings about the finalizers of a custom
// resource, sorted by name. It ignores the finalizers in oldMeta, which is nil
// on create.
func FinalizerWarnings(newMeta map[string]any, oldMeta object.View, path *Path) []string {
	var warnings []string
	for _, name := range addedFinalizers(newMeta, oldMeta) {
		at := fmt.Sprintf("%s: %q: ", path.Child("finalizers"), name)
		for _, m := range QualifiedName(name) {
			warnings = append(warnings, at+m)
		}
		switch {
		case strings.Contains(name, "/") || standardFinalizer(name):
		case strings.Contains(name, "."):
			warnings = append(warnings, at+"prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers")
		default:
			warnings = append(warnings, at+"prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers")
		}
	}
	return warnings
}

func standardFinalizer(name string) bool {
	return name == finalizerKubernetes || name == finalizerOrphan || name == finalizerForeground
}

// addedFinalizers returns the finalizers that are only in the new metadata,
// sorted, without duplicates.
func addedFinalizers(newMeta map[string]any, oldMeta object.View) []string {
	added := object.Strings(newMeta, "finalizers")
	old := oldMeta.Strings("finalizers")
	added = slices.DeleteFunc(added, func(name string) bool { return slices.Contains(old, name) })
	slices.Sort(added)
	return slices.Compact(added)
}

func checkFinalizers(p View) {
	names := p.Strings("finalizers")
	for _, name := range names {
		if messages := QualifiedName(name); len(messages) > 0 {
			p.AddList(Each(p.At("finalizers"), name, messages))
		}
	}
	if slices.Contains(names, finalizerOrphan) && slices.Contains(names, finalizerForeground) {
		p.Add(Invalid(p.At("finalizers"), names,
			fmt.Sprintf("finalizer %s and %s cannot be both set", finalizerOrphan, finalizerForeground)))
	}
}

// checkOwnerReferences checks the owners of an object. The path of an error has no index
// before v1.37.
func checkOwnerReferences(p View) {
	const list = "ownerReferences"
	controller := ""
	for _, ref := range p.Each(list) {
		kind, name := ref.String("kind"), ref.String("name")
		// empty adds the error of a field without a value, which had other details.
		empty := func(field, before37, before34 string) {
			p.Add(Invalid(p.At(list).Child(field), "", before37).Before(behavior.PlainDetails, Detail(before34)).Until(behavior.MetadataErrors))
			p.Add(Required(ref.At(field), "must not be empty").Since(behavior.MetadataErrors))
		}
		apiVersion := ref.String("apiVersion")
		group, version := splitAPIVersion(apiVersion)
		if apiVersion == "" {
			empty("apiVersion", "version must not be empty", "version must not be empty")
		} else if version == "" {
			p.Add(Invalid(ref.At("apiVersion"), apiVersion, "must be <group>/<version> or <version>").
				Before(behavior.MetadataErrors, Instead(Invalid(p.At(list).Child("apiVersion"), apiVersion, "version must not be empty"))))
		}
		if kind == "" {
			empty("kind", "must not be empty", "kind must not be empty")
		}
		if name == "" {
			empty("name", "must not be empty", "name must not be empty")
		}
		if ref.String("uid") == "" {
			empty("uid", "must not be empty", "uid must not be empty")
		}
		if group == "" && version == "v1" && kind == "Event" {
			p.Add(Invalid(ref.Path, AsGoType("metav1.OwnerReference", ref.Obj), "/v1, Kind=Event is disallowed from being an owner").Before(behavior.MetadataErrors, Field(p.At(list).String())))
		}
		if !ref.Bool("controller") {
			continue
		}
		if this := kind + "/" + name; controller == "" {
			controller = this
		} else {
			p.Add(Invalid(p.At(list), AsGoType("[]metav1.OwnerReference", p.Obj[list]), fmt.Sprintf(
				`Only one reference can have Controller set to true. Found "true" in references for %s and %s`, controller, this)))
		}
	}
}

// splitAPIVersion splits "group/version" or "version". It returns "", "" if s has
// neither form.
func splitAPIVersion(s string) (group, version string) {
	group, version, ok := strings.Cut(s, "/")
	switch {
	case !ok:
		return "", s
	case strings.Contains(version, "/"):
		return "", ""
	}
	return group, version
}

func checkManagedFields(p View) {
	for _, entry := range p.Each("managedFields") {
		if op := entry.String("operation"); op != "Apply" && op != "Update" {
			before := Invalid(entry.At("operation"), NamedString(op), "must be `Apply` or `Update`")
			if op == "" {
				entry.Add(Required(entry.At("operation"), "must not be empty").Before(behavior.MetadataErrors, Instead(before)))
			} else {
				entry.Add(NotSupported(entry.At("operation"), NamedString(op), []string{"Apply", "Update"}).Before(behavior.MetadataErrors, Instead(before)))
			}
		}
		if kind := entry.String("fieldsType"); kind != "" && kind != "FieldsV1" {
			entry.InvalidString("fieldsType", "must be `FieldsV1`")
		}
		entry.AddList(fieldManager(entry.String("manager"), entry.At("manager")))
		if len(entry.String("subresource")) > subresourceMaxLength {
			entry.Add(TooLong(entry.At("subresource"), subresourceMaxLength))
		}
	}
}
