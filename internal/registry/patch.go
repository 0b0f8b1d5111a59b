package registry

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
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
		return Result{}, op.notImplemented(op.verb)
	}
	format := codec.JSON
	if p.Applies() {
		format = codec.YAML
	}
	op.sent = sentBody{data: p.Data, format: format, length: len(p.Data)}
	if p.Applies() {
		op.applies = true
		return op.change(change{options: o, creates: true, update: op.applied(p, o)})
	}
	patched := op.patched(p, o)
	return op.change(change{options: o, update: func(old *storage.Decoded) (map[string]any, error) {
		if old == nil {
			return nil, status.NotFound(op.groupResource(), op.Name)
		}
		obj, err := patched(old)
		if err != nil {
			return nil, err
		}
		if err := op.checkNameAndNamespace(object.Meta(op.defaulted(obj, old.Map()))); err != nil {
			return nil, err
		}
		return op.withManagedFields(obj, old, o), nil
	}})
}

// patched returns the function that applies the patch. Each call parses the patch:
// kube-apiserver looks for the object before it reads the patch, and an attempt changes
// the values that the result has from the patch.
func (op *operation) patched(p Patch, o *WriteOptions) func(old *storage.Decoded) (map[string]any, error) {
	return func(old *storage.Decoded) (map[string]any, error) {
		apply, err := op.parsePatch(p, o)
		if err != nil {
			return nil, patchFailed(err)
		}
		return apply(old)
	}
}

func (op *operation) parsePatch(p Patch, o *WriteOptions) (func(old *storage.Decoded) (map[string]any, error), error) {
	switch p.Type {
	case patch.JSONType:
		parsed, err := patch.ParseJSON(p.Data, o.strict())
		return func(old *storage.Decoded) (map[string]any, error) {
			return op.patchUntyped(parsed.Apply, parsed.ApplyText, parsed.FieldErrors, old, o)
		}, err
	case patch.StrategicType:
		parsed, err := patch.ParseStrategic(p.Data, o.strict())
		return func(old *storage.Decoded) (map[string]any, error) { return op.patchStrategic(parsed, old, o) }, err
	}
	parsed, err := patch.ParseMerge(p.Data, o.strict())
	return func(old *storage.Decoded) (map[string]any, error) {
		return op.patchUntyped(parsed.Apply, parsed.ApplyText, parsed.FieldErrors, old, o)
	}, err
}

// patchUntyped applies a JSON Patch or a JSON Merge Patch: with apply to an object in generic form,
// which avoids encoding and decoding the whole object, or else with applyText to its JSON text.
// fieldErrors are those of the patch.
func (op *operation) patchUntyped(apply func(obj map[string]any) (map[string]any, bool), applyText func(doc []byte) ([]byte, error), fieldErrors []error, old *storage.Decoded, o *WriteOptions) (map[string]any, error) {
	if len(fieldErrors) == 0 && !op.hasUntypedData() {
		if obj, ok := op.patchMembers(apply, old, o); ok {
			return obj, nil
		}
	}
	return op.patchText(applyText, fieldErrors, old, o)
}

// hasUntypedData reports whether the objects that the request changes may have untyped data. A patch
// changes its text.
func (op *operation) hasUntypedData() bool {
	t := op.bodyCodec().Wire()
	return t != nil && t.HasUntypedData()
}

// patchText applies a patch to the JSON text of an object and decodes the result.
// fieldErrors are those of the patch.
func (op *operation) patchText(apply func(doc []byte) ([]byte, error), fieldErrors []error, old *storage.Decoded, o *WriteOptions) (map[string]any, error) {
	doc, err := apply(op.viewJSON(old))
	if err != nil {
		return nil, patchFailed(err)
	}
	op.sent.length = len(doc)
	obj, more, err := op.bodyCodec().DecodePatched(doc, op.Name, o.strict())
	var st *status.Status
	if errors.As(err, &st) {
		op.warn(codec.Warnings(more)...)
		return nil, st
	}
	if err == nil {
		obj, err = op.Type.ConvertPatched(op.ctx, op.bodyCodec(), obj, op.Surface.ForKind)
	}
	if err == nil {
		err = op.toInternal(obj)
	}
	return op.checkPatched(obj, slices.Concat(fieldErrors, more), err, o, func() string { return string(doc) })
}

// patchMembers applies a patch to an object in generic form. It returns false if patchText has to
// be used.
func (op *operation) patchMembers(apply func(obj map[string]any) (map[string]any, bool), old *storage.Decoded, o *WriteOptions) (map[string]any, bool) {
	before, c := op.view(old), op.bodyCodec()
	patched, ok := apply(before)
	if !ok || object.String(patched, "apiVersion") == "" || object.String(patched, "kind") == "" {
		return nil, false
	}
	obj, fieldErrors, err := resource.NormalizeMembers(c, before, patched, func(obj map[string]any) (map[string]any, []error, error) {
		return c.Normalize(obj, o.strict())
	})
	if err != nil || len(fieldErrors) > 0 || !c.Kind().Fits(obj) || op.toInternal(obj) != nil {
		return nil, false
	}
	return obj, true
}

// patchStrategic applies a strategic merge patch.
//
// See https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/.
func (op *operation) patchStrategic(p *patch.StrategicPatch, old *storage.Decoded, o *WriteOptions) (map[string]any, error) {
	c, before := op.bodyCodec(), op.view(old)
	canonical := before
	if op.hasUntypedData() {
		before, canonical = object.WithoutRaw(before), nil
	}
	s, ok := c.MergeSchema(op.api().Release)
	if !ok {
		return nil, status.UnroutedMediaType()
	}
	merged, err := p.Apply(before, s)
	if err != nil {
		return nil, patchFailed(err)
	}
	text := merged.PatchText
	obj, more, err := resource.NormalizeMembers(c, canonical, merged.Object, func(obj map[string]any) (map[string]any, []error, error) {
		return c.Wire().Convert(obj, wire.DecodeOptions{Strict: o.strict()})
	})
	if err == nil {
		if err := op.toInternal(obj); err != nil {
			return nil, status.Unclassified(err.Error())
		}
	}
	return op.checkPatched(obj, slices.Concat(p.FieldErrors, more), err, o, text)
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
		return status.TooLarge(tooMany.Error())
	case errors.As(err, &inapplicable):
		// kube-apiserver does not report the cause.
		return status.Failure(http.StatusUnprocessableEntity, status.ReasonInvalid, "the server rejected our request due to an error in our request", &status.Details{})
	}
	return status.Unclassified(err.Error())
}
