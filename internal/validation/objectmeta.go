package validation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/object"
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

// ObjectMeta checks the metadata of an object, after its name has been
// generated. path is the path of the metadata.
func ObjectMeta(meta map[string]any, namespaced bool, name NameFunc, path *Path) List {
	var list List
	if prefix := object.String(meta, "generateName"); prefix != "" {
		list = append(list, Each(path.Child("generateName"), prefix, name(prefix, true))...)
	}
	if s := object.String(meta, "name"); s == "" {
		list = append(list, Required(path.Child("name"), "name or generateName is required"))
	} else {
		list = append(list, Each(path.Child("name"), s, name(s, false))...)
	}

	namespace := object.String(meta, "namespace")
	switch {
	case namespaced && namespace == "":
		list = append(list, Required(path.Child("namespace"), ""))
	case namespaced:
		list = append(list, Each(path.Child("namespace"), namespace, LabelName(namespace, false))...)
	case namespace != "":
		list = append(list, Forbidden(path.Child("namespace"), "not allowed on this type"))
	}

	generation, _ := object.Int(meta, "generation")
	list = append(list, NonNegative(generation, path.Child("generation"))...)
	list = append(list, Labels(object.Map(meta, "labels"), path.Child("labels"))...)
	list = append(list, Annotations(object.Map(meta, "annotations"), path.Child("annotations"))...)
	list = append(list, ownerReferences(meta, path.Child("ownerReferences"))...)
	list = append(list, finalizers(meta, path.Child("finalizers"))...)
	list = append(list, managedFields(meta, path.Child("managedFields"))...)
	return list
}

// ObjectMetaUpdate checks the new metadata of an object against the old, which
// is not checked itself. path is the path of the metadata.
func ObjectMetaUpdate(newMeta, oldMeta map[string]any, path *Path) List {
	var list List
	if _, deleting := timestamp(oldMeta["deletionTimestamp"]); deleting {
		if added := addedFinalizers(newMeta, oldMeta); len(added) > 0 {
			list = append(list, Forbidden(path.Child("finalizers"),
				fmt.Sprintf("no new finalizers can be added if the object is being deleted, found new finalizers %#v", added)))
		}
	}
	if object.String(newMeta, "resourceVersion") == "" {
		list = append(list, Invalid(path.Child("resourceVersion"), "", "must be specified for an update"))
	}
	oldGeneration, _ := object.Int(oldMeta, "generation")
	if generation, _ := object.Int(newMeta, "generation"); generation < oldGeneration {
		list = append(list, Invalid(path.Child("generation"), generation, "must not be decremented"))
	}

	immutable := func(field string, newVal, oldVal any) {
		if newVal != oldVal {
			list = append(list, Invalid(path.Child(field), newVal, immutableRule))
		}
	}
	immutable("name", object.String(newMeta, "name"), object.String(oldMeta, "name"))
	immutable("namespace", object.String(newMeta, "namespace"), object.String(oldMeta, "namespace"))
	immutable("uid", NamedString(object.String(newMeta, "uid")), NamedString(object.String(oldMeta, "uid")))
	for _, field := range []string{"creationTimestamp", "deletionTimestamp"} {
		if stringOf(newMeta[field]) != stringOf(oldMeta[field]) {
			immutable(field, timeOrNil(newMeta[field]), timeOrNil(oldMeta[field]))
		}
	}
	immutable("deletionGracePeriodSeconds", gracePeriodOrNil(newMeta), gracePeriodOrNil(oldMeta))

	list = append(list, Labels(object.Map(newMeta, "labels"), path.Child("labels"))...)
	list = append(list, Annotations(object.Map(newMeta, "annotations"), path.Child("annotations"))...)
	list = append(list, ownerReferences(newMeta, path.Child("ownerReferences"))...)
	list = append(list, managedFields(newMeta, path.Child("managedFields"))...)
	return list
}

// utc is a time in UTC, so that equal times compare as equal. Error messages
// contain it without fractions of a second.
type utc struct{ time.Time }

func (t utc) MarshalJSON() ([]byte, error) {
	return []byte(t.Format(`"` + time.RFC3339 + `"`)), nil
}

// timeOrNil returns a time as error messages quote it, or nil.
func timeOrNil(v any) any {
	t, ok := timestamp(v)
	if !ok || t.IsZero() {
		return nil
	}
	return utc{t.UTC()}
}

// gracePeriodOrNil returns deletionGracePeriodSeconds, or nil.
func gracePeriodOrNil(meta map[string]any) any {
	n, ok := meta["deletionGracePeriodSeconds"].(int64)
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
func FinalizerWarnings(newMeta, oldMeta map[string]any, path *Path) []string {
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
func addedFinalizers(newMeta, oldMeta map[string]any) []string {
	added := object.Strings(newMeta, "finalizers")
	old := object.Strings(oldMeta, "finalizers")
	added = slices.DeleteFunc(added, func(name string) bool { return slices.Contains(old, name) })
	slices.Sort(added)
	return slices.Compact(added)
}

func finalizers(meta map[string]any, path *Path) List {
	var list List
	names := object.Strings(meta, "finalizers")
	for _, name := range names {
		list = append(list, Each(path, name, QualifiedName(name))...)
	}
	if slices.Contains(names, finalizerOrphan) && slices.Contains(names, finalizerForeground) {
		list = append(list, Invalid(path, names,
			fmt.Sprintf("finalizer %s and %s cannot be both set", finalizerOrphan, finalizerForeground)))
	}
	return list
}

// An ownerReference has the fields of a reference that are checked.
type ownerReference struct {
	APIVersion, Kind, Name, UID string
	Controller                  bool
}

func readOwnerReference(v any) ownerReference {
	ref, _ := v.(map[string]any)
	return ownerReference{
		APIVersion: object.String(ref, "apiVersion"),
		Kind:       object.String(ref, "kind"),
		Name:       object.String(ref, "name"),
		UID:        object.String(ref, "uid"),
		Controller: object.Bool(ref, "controller"),
	}
}

// ownerReferences checks the owners of an object. The path of an error has no index before
// v1.37.
func ownerReferences(meta map[string]any, path *Path) List {
	var list List
	controller := ""
	for i, v := range object.List(meta, "ownerReferences") {
		ref, at := readOwnerReference(v), path.Index(i)
		group, version := splitAPIVersion(ref.APIVersion)
		// empty adds the error of a field without a value, which had other details.
		empty := func(name, before37, before34 string) {
			was := Invalid(path.Child(name), "", before37).DetailBefore(34, before34)
			list = append(list, was.Until(37), Required(at.Child(name), "must not be empty").Since(37))
		}
		if ref.APIVersion == "" {
			empty("apiVersion", "version must not be empty", "version must not be empty")
		} else if version == "" {
			list = append(list, Invalid(at.Child("apiVersion"), ref.APIVersion, "must be <group>/<version> or <version>").
				Before(37, Invalid(path.Child("apiVersion"), ref.APIVersion, "version must not be empty")))
		}
		if ref.Kind == "" {
			empty("kind", "must not be empty", "kind must not be empty")
		}
		if ref.Name == "" {
			empty("name", "must not be empty", "name must not be empty")
		}
		if ref.UID == "" {
			empty("uid", "must not be empty", "uid must not be empty")
		}
		if group == "" && version == "v1" && ref.Kind == "Event" {
			list = append(list, Invalid(at, AsGoType("metav1.OwnerReference", v), "/v1, Kind=Event is disallowed from being an owner").FieldBefore(37, path.String()))
		}
		if !ref.Controller {
			continue
		}
		if this := ref.Kind + "/" + ref.Name; controller == "" {
			controller = this
		} else {
			list = append(list, Invalid(path, AsGoType("[]metav1.OwnerReference", object.List(meta, "ownerReferences")), fmt.Sprintf(
				`Only one reference can have Controller set to true. Found "true" in references for %s and %s`, controller, this)))
		}
	}
	return list
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

func managedFields(meta map[string]any, path *Path) List {
	var list List
	for i, v := range object.List(meta, "managedFields") {
		entry, _ := v.(map[string]any)
		path := path.Index(i)
		if op := object.String(entry, "operation"); op != "Apply" && op != "Update" {
			list = append(list, Invalid(path.Child("operation"), NamedString(op), "must be `Apply` or `Update`"))
		}
		if kind := object.String(entry, "fieldsType"); kind != "" && kind != "FieldsV1" {
			list = append(list, Invalid(path.Child("fieldsType"), kind, "must be `FieldsV1`"))
		}
		list = append(list, fieldManager(object.String(entry, "manager"), path.Child("manager"))...)
		if len(object.String(entry, "subresource")) > subresourceMaxLength {
			list = append(list, TooLong(path.Child("subresource"), subresourceMaxLength))
		}
	}
	return list
}
