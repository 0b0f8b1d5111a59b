package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
	"sigs.k8s.io/yaml"
)

// patchTypes are the media types of patches.
var patchTypes = []string{patch.JSONType, patch.MergeType, patch.StrategicType, patch.ApplyType}

var patchPath = validation.NewPath("patch")

// patch changes an object, or a part of it that has a subresource, by a patch.
func (r *request) patch(mode writeMode) error {
	kind, _, _ := strings.Cut(r.http.Header.Get("Content-Type"), ";")
	if !slices.Contains(patchTypes, kind) && (kind != patch.ApplyCBORType || !r.offer().CBOR) {
		return r.unroutedPatch()
	}
	if kind == patch.StrategicType {
		if _, ok := r.typ.Codec.MergeSchema(r.surface.release); !ok {
			return r.unroutedPatch()
		}
	}
	body, err := r.readBody()
	if err != nil {
		return err
	}
	o, err := r.patchOptions(kind)
	if err != nil {
		return err
	}
	if o.creates {
		return r.apply(mode, kind, body, o)
	}
	change := r.jsonPatched
	if kind == patch.StrategicType {
		change = r.strategicPatched
	}
	return r.change(mode, o, "", func(old *version) (map[string]any, error) {
		if old == nil {
			return nil, status.NotFound(r.groupResource(), r.Name)
		}
		obj, err := change(kind, body, old, o)
		if err != nil {
			return nil, err
		}
		if err := r.checkPlace(object.Meta(r.completed(obj))); err != nil {
			return nil, err
		}
		return r.owned(obj, old, o), nil
	})
}

// unroutedPatch says that no patch of the media type is taken.
func (r *request) unroutedPatch() error {
	if !r.byDefinition {
		return status.UnroutedMediaType()
	}
	types := []string{patch.JSONType, patch.MergeType, patch.ApplyType}
	if r.offer().CBOR {
		types = append(types, patch.ApplyCBORType)
	}
	return status.UnsupportedMediaType(types)
}

// jsonPatched is what a JSON Patch or a JSON Merge Patch makes of an object's
// JSON.
func (r *request) jsonPatched(kind string, body []byte, old *version, o *writeOptions) (map[string]any, error) {
	check, change := patch.CheckJSON, patch.JSON
	if kind == patch.MergeType {
		check, change = patch.CheckMerge, patch.Merge
	}
	var fieldErrors []error
	if o.strict() {
		var err error
		if fieldErrors, err = check(body); err != nil {
			return nil, patchFailed(err)
		}
	}
	c := r.bodyCodec()
	if kind == patch.MergeType && len(fieldErrors) == 0 {
		if obj, ok := r.merged(body, old, c, o); ok {
			return obj, nil
		}
	}
	doc, err := change(r.shownJSON(old), body)
	if err != nil {
		return nil, patchFailed(err)
	}
	obj, more, err := c.DecodePatched(doc, r.Name, o.strict())
	var st *status.Status
	if errors.As(err, &st) {
		r.warn(codec.Warnings(more)...)
		return nil, st
	}
	if obj, err = r.judged(obj, append(fieldErrors, more...), err, o, func() string { return string(doc) }); err != nil {
		return nil, err
	}
	return obj, nil
}

// merged is what a JSON Merge Patch with nothing peculiar in it makes of an
// object, found without a detour over text. It reports false for any other.
//
// Only what the patch names is brought into canonical form: the rest has it.
// Managed fields that the patch leaves alone are left out; the update of the
// object takes those of the old one.
func (r *request) merged(body []byte, old *version, c resource.Codec, o *writeOptions) (map[string]any, bool) {
	before := r.shown(old)
	merged, ok := patch.MergeObject(before, body)
	if !ok || object.String(merged, "apiVersion") == "" || object.String(merged, "kind") == "" {
		return nil, false
	}
	kept := map[string]any{}
	for name, v := range merged {
		if object.Same(v, before[name]) {
			kept[name] = v
			delete(merged, name)
		}
	}
	if meta := object.Map(merged, "metadata"); object.Same(meta["managedFields"], object.Value(before, "metadata", "managedFields")) {
		delete(meta, "managedFields")
	}
	obj, fieldErrors, err := c.Normalize(merged, o.strict())
	if err != nil || len(fieldErrors) > 0 || !c.Kind().Fits(obj) {
		return nil, false
	}
	for name, v := range kept {
		obj[name] = object.Copy(v)
	}
	return obj, true
}

// strategicPatched is what a strategic merge patch makes of an object.
//
// See https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/.
func (r *request) strategicPatched(_ string, body []byte, old *version, o *writeOptions) (map[string]any, error) {
	c := r.bodyCodec()
	s, ok := c.MergeSchema(r.surface.release)
	if !ok {
		return nil, status.UnroutedMediaType()
	}
	merged, err := patch.Strategic(r.shown(old), body, s, o.strict())
	if err != nil {
		return nil, patchFailed(err)
	}
	text := merged.PatchText
	obj, more, err := c.Wire().Convert(merged.Object, wire.DecodeOptions{Strict: o.strict()})
	if obj, err = r.judged(obj, append(merged.FieldErrors, more...), err, o, text); err != nil {
		return nil, err
	}
	return obj, nil
}

// judged is obj, which a patch has made, unless it is none of its kind or has
// field errors that fieldValidation does not let pass. patch is what a refusal
// shows.
func (r *request) judged(obj map[string]any, fieldErrors []error, err error, o *writeOptions, patch func() string) (map[string]any, error) {
	if err == nil && len(fieldErrors) > 0 && o.FieldValidation == "Strict" {
		err = resource.StrictError(fieldErrors)
	}
	if err != nil {
		return nil, status.Invalid(status.GroupKind{}, "", validation.List{validation.Invalid(patchPath, patch(), err.Error())})
	}
	for _, e := range fieldErrors {
		r.warn(e.Error())
	}
	return obj, nil
}

// apply merges an applied configuration into an object, or creates it of it.
//
// See https://kubernetes.io/docs/reference/using-api/server-side-apply/.
func (r *request) apply(mode writeMode, kind string, body []byte, o *writeOptions) error {
	return r.change(mode, o, "", func(old *version) (map[string]any, error) {
		body := body
		if kind == patch.ApplyCBORType {
			var err error
			if body, err = codec.CBORToJSON(body); err != nil {
				return nil, status.BadRequest("error decoding YAML: " + err.Error())
			}
		}
		applied, isJSON := decodePlainJSON(body)
		if !isJSON {
			var err error
			if applied, err = decodeYAML(body); err != nil {
				return nil, status.BadRequest("error decoding YAML: " + err.Error())
			}
		}
		var live map[string]any
		if old != nil {
			live = r.shown(old)
		}
		obj, err := r.tracked().Apply(live, applied, r.fieldOptions(o))
		if err != nil {
			return nil, applyFailed(err)
		}
		if !isJSON {
			if err := r.checkDuplicates(body, o); err != nil {
				return nil, err
			}
		}
		if obj, err = r.bodyCodec().NormalizeApplied(obj); err != nil {
			return nil, status.Unclassified(err.Error())
		}
		if uid := object.String(obj, "metadata", "uid"); old == nil && uid != "" {
			return nil, status.Conflict(r.groupResource(), r.Name, fmt.Sprintf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
		}
		return obj, r.checkPlace(object.Meta(r.completed(obj)))
	})
}

// checkDuplicates refuses, or warns of, members that a configuration has twice.
func (r *request) checkDuplicates(body []byte, o *writeOptions) error {
	if !o.strict() {
		return nil
	}
	var members map[string]any
	err := yaml.UnmarshalStrict(body, &members)
	switch {
	case err == nil:
	case o.FieldValidation == "Strict":
		return status.BadRequest("error strict decoding YAML: " + err.Error())
	default:
		// Each line tells of one member.
		text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: yaml: unmarshal errors:\n")
		for line := range strings.SplitSeq(text, "\n") {
			r.warn(strings.TrimSpace(line))
		}
	}
	return nil
}

// decodePlainJSON is decodeYAML for a document that is JSON, as clients write it,
// which is much faster. It reports false for one that YAML may read otherwise, or
// not at all: with members twice, fractions, escapes, long names, or more than
// one line of printable ASCII.
func decodePlainJSON(body []byte) (members map[string]any, ok bool) {
	body = bytes.TrimSuffix(body, []byte("\n"))
	if !bytes.HasPrefix(body, []byte("{")) || bytes.ContainsFunc(body, func(c rune) bool { return c < ' ' || c > '~' || c == '\\' }) {
		return nil, false
	}
	members, twice, err := wire.DecodeUntyped(body, wire.DecodeOptions{Strict: true})
	return members, err == nil && len(twice) == 0 && object.All(members, plainMember)
}

// longestName bounds the names that YAML takes without a question mark.
const longestName = 1000

// plainMember reports whether a member has no fraction and no long name.
func plainMember(name string, v any) bool {
	_, fraction := v.(float64)
	return !fraction && len(name) <= longestName
}

// decodeYAML reads a document in generic form.
func decodeYAML(body []byte) (map[string]any, error) {
	var members map[string]any
	err := yaml.Unmarshal(body, &members, func(d *json.Decoder) *json.Decoder {
		d.UseNumber()
		return d
	})
	if err != nil {
		return nil, err
	}
	if members == nil {
		members = map[string]any{}
	}
	return object.Integers(members), nil
}

// patchOptions reads and checks the query of a patch.
func (r *request) patchOptions(kind string) (*writeOptions, error) {
	o := r.readWriteOptions()
	force := boolOf(r.query(), "force")
	o.force, o.creates = ptrValue(force), kind == patch.ApplyType || kind == patch.ApplyCBORType
	errs := validation.PatchOptions{
		WriteOptions: o.WriteOptions,
		Force:        force,
		Apply:        o.creates,
	}.Validate()
	if len(errs) > 0 {
		return nil, invalidOptions("PatchOptions", errs)
	}
	return o, nil
}

func patchFailed(err error) error {
	var (
		malformed    *patch.MalformedError
		tooMany      *patch.TooManyError
		inapplicable *patch.InapplicableError
	)
	switch {
	case errors.As(err, &malformed):
		return status.BadRequest(malformed.Error())
	case errors.As(err, &tooMany):
		return status.Failure(http.StatusRequestEntityTooLarge, status.ReasonRequestEntityTooLarge, tooMany.Error(), nil)
	case errors.As(err, &inapplicable):
		// kube-apiserver does not tell the client what is wrong.
		return status.Failure(http.StatusUnprocessableEntity, status.ReasonInvalid, "the server rejected our request due to an error in our request", &status.Details{})
	}
	return status.Unclassified(err.Error())
}
