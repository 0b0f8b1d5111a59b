package registry

import (
	"context"
	"errors"
	"net/http"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

var patchPath = validation.NewPath("patch")

// A Patch is the body of a PATCH and its media type, one of the constants of
// package patch.
type Patch struct {
	Type string
	Data []byte
}

// Applies reports whether the patch is an applied configuration.
func (p Patch) Applies() bool { return p.Type == patch.ApplyType || p.Type == patch.ApplyCBORType }

// Patch changes an object, or what a subresource shows of it, by a patch. An
// applied configuration creates a missing object.
func (g *Registry) Patch(ctx context.Context, r Request, p Patch, o *WriteOptions) (Result, error) {
	op := g.operation(ctx, "patch", r)
	if op.target == targetUnsupported {
		return Result{}, op.notImplemented()
	}
	if p.Applies() {
		return op.change(change{options: o, creates: true, update: op.applied(p, o)})
	}
	patched := op.jsonPatched
	if p.Type == patch.StrategicType {
		patched = op.strategicPatched
	}
	return op.change(change{options: o, update: func(old *state) (map[string]any, error) {
		if old == nil {
			return nil, status.NotFound(op.groupResource(), op.Name)
		}
		obj, err := patched(p, old, o)
		if err != nil {
			return nil, err
		}
		if err := op.checkNameAndNamespace(object.Meta(op.defaulted(obj))); err != nil {
			return nil, err
		}
		return op.withManagedFields(obj, old, o), nil
	}})
}

// jsonPatched applies a JSON Patch or a JSON Merge Patch.
func (op *operation) jsonPatched(p Patch, old *state, o *WriteOptions) (map[string]any, error) {
	check, change := patch.CheckJSON, patch.JSON
	if p.Type == patch.MergeType {
		check, change = patch.CheckMerge, patch.Merge
	}
	var fieldErrors []error
	if o.strict() {
		var err error
		if fieldErrors, err = check(p.Data); err != nil {
			return nil, patchFailed(err)
		}
	}
	c := op.bodyCodec()
	if p.Type == patch.MergeType && len(fieldErrors) == 0 {
		if obj, ok := op.mergePatched(p.Data, old, c, o); ok {
			return obj, nil
		}
	}
	doc, err := change(op.viewJSON(old), p.Data)
	if err != nil {
		return nil, patchFailed(err)
	}
	obj, more, err := c.DecodePatched(doc, op.Name, o.strict())
	var st *status.Status
	if errors.As(err, &st) {
		op.warn(codec.Warnings(more)...)
		return nil, st
	}
	if obj, err = op.checkPatched(obj, append(fieldErrors, more...), err, o, func() string { return string(doc) }); err != nil {
		return nil, err
	}
	return obj, nil
}

// mergePatched applies a JSON Merge Patch to an object in generic form, which
// avoids encoding and decoding the whole object. It returns false for a patch
// that only the text form can be trusted with.
//
// Only the members that the patch names are normalized; the others are canonical
// already. Managed fields that the patch does not change are left out, because
// withManagedFields takes those of the old object.
func (op *operation) mergePatched(body []byte, old *state, c resource.Codec, o *WriteOptions) (map[string]any, bool) {
	before := op.view(old)
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

// strategicPatched applies a strategic merge patch.
//
// See https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/.
func (op *operation) strategicPatched(p Patch, old *state, o *WriteOptions) (map[string]any, error) {
	c := op.bodyCodec()
	s, ok := c.MergeSchema(op.config.Release)
	if !ok {
		return nil, status.UnroutedMediaType()
	}
	merged, err := patch.Strategic(op.view(old), p.Data, s, o.strict())
	if err != nil {
		return nil, patchFailed(err)
	}
	text := merged.PatchText
	obj, more, err := c.Wire().Convert(merged.Object, wire.DecodeOptions{Strict: o.strict()})
	if obj, err = op.checkPatched(obj, append(merged.FieldErrors, more...), err, o, text); err != nil {
		return nil, err
	}
	return obj, nil
}

// checkPatched returns a patched object, or the error of one that did not decode
// or whose field errors the options do not allow. The error shows the text that
// patch returns.
func (op *operation) checkPatched(obj map[string]any, fieldErrors []error, err error, o *WriteOptions, patch func() string) (map[string]any, error) {
	if err == nil && len(fieldErrors) > 0 && o.FieldValidation == "Strict" {
		err = resource.StrictError(fieldErrors)
	}
	if err != nil {
		return nil, status.Invalid(status.GroupKind{}, "", validation.List{validation.Invalid(patchPath, patch(), err.Error())})
	}
	for _, e := range fieldErrors {
		op.warn(e.Error())
	}
	return obj, nil
}

// patchFailed returns the Status of an error of package patch.
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
		// kube-apiserver does not report the cause.
		return status.Failure(http.StatusUnprocessableEntity, status.ReasonInvalid, "the server rejected our request due to an error in our request", &status.Details{})
	}
	return status.Unclassified(err.Error())
}
