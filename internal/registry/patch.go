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
	body := Body{Format: codec.JSON, Data: p.Data}
	if p.Applies() {
		body.Format = codec.YAML
	}
	op := g.write(ctx, "patch", r, body, o)
	if op.target == targetUnsupported {
		return Result{}, op.notImplemented(op.verb)
	}
	if p.Applies() {
		op.applies = true
		return op.change(change{creates: true, update: op.applied(p)})
	}
	return op.change(change{update: func(current *storage.Decoded) (*candidate, error) {
		if current == nil {
			return nil, status.NotFound(op.groupResource(), op.Name)
		}
		c, err := op.patched(p, current)
		if err != nil {
			return nil, err
		}
		op.setDefaults(c, current.View())
		if err := op.checkNameAndNamespace(c.meta()); err != nil {
			return nil, err
		}
		c.object = op.withManagedFields(c.object, current)
		return c, nil
	}})
}

// patched applies the patch. Each call parses it: kube-apiserver looks for the object before it
// reads the patch, and an attempt changes the values that the result has from the patch.
func (op *operation) patched(p Patch, current *storage.Decoded) (*candidate, error) {
	strict := op.options.strict()
	switch p.Type {
	case patch.JSONType:
		parsed, err := patch.ParseJSON(p.Data, strict)
		if err != nil {
			return nil, patchFailed(err)
		}
		return op.patchUntyped(parsed.Apply, parsed.ApplyText, parsed.FieldErrors, current)
	case patch.StrategicType:
		parsed, err := patch.ParseStrategic(p.Data, strict)
		if err != nil {
			return nil, patchFailed(err)
		}
		return op.patchStrategic(parsed, current)
	}
	parsed, err := patch.ParseMerge(p.Data, strict)
	if err != nil {
		return nil, patchFailed(err)
	}
	return op.patchUntyped(parsed.Apply, parsed.ApplyText, parsed.FieldErrors, current)
}

// patchUntyped applies a JSON Patch or a JSON Merge Patch: with apply to an object in generic form,
// which avoids encoding and decoding the whole object, or else with applyText to its JSON text.
// fieldErrors are those of the patch.
func (op *operation) patchUntyped(apply func(obj map[string]any) (map[string]any, bool), applyText func(doc []byte) ([]byte, error), fieldErrors []error, current *storage.Decoded) (*candidate, error) {
	if len(fieldErrors) == 0 && !op.hasUntypedData() {
		if c, ok := op.patchMembers(apply, current); ok {
			return c, nil
		}
	}
	return op.patchText(applyText, fieldErrors, current)
}

// hasUntypedData reports whether the objects that the request changes may have untyped data. A patch
// changes its text.
func (op *operation) hasUntypedData() bool {
	t := op.bodyCodec().Wire()
	return t != nil && t.HasUntypedData()
}

// patchText applies a patch to the JSON text of an object and decodes the result.
// fieldErrors are those of the patch.
func (op *operation) patchText(apply func(doc []byte) ([]byte, error), fieldErrors []error, current *storage.Decoded) (*candidate, error) {
	doc, err := apply(op.viewJSON(current))
	if err != nil {
		return nil, patchFailed(err)
	}
	obj, more, err := op.bodyCodec().DecodePatched(doc, op.options.strict())
	var st *status.Status
	if errors.As(err, &st) {
		return nil, st
	}
	if err == nil && !op.isForeign(obj) {
		obj, err = op.Type.ConvertPatched(op.ctx, op.bodyCodec(), obj, op.Surface.ForKind)
	}
	if err == nil {
		err = op.toInternal(obj)
	}
	if err := op.checkPatched(slices.Concat(fieldErrors, more), err, func() string { return string(doc) }); err != nil {
		return nil, err
	}
	return &candidate{object: obj, textLen: len(doc)}, nil
}

// patchMembers applies a patch to an object in generic form. It returns false if patchText has to
// be used.
func (op *operation) patchMembers(apply func(obj map[string]any) (map[string]any, bool), current *storage.Decoded) (*candidate, bool) {
	old, bodyCodec := op.view(current).SharedMembers(), op.bodyCodec()
	patched, ok := apply(old)
	if !ok || object.String(patched, "apiVersion") == "" || object.String(patched, "kind") == "" {
		return nil, false
	}
	obj, fieldErrors, err := resource.NormalizeMembers(bodyCodec, old, patched, func(obj map[string]any) (map[string]any, []error, error) {
		return bodyCodec.Normalize(obj, op.options.strict())
	})
	if err != nil || len(fieldErrors) > 0 || !bodyCodec.Kind().Fits(obj) || op.toInternal(obj) != nil {
		return nil, false
	}
	return &candidate{object: obj, textLen: len(op.body.Data)}, true
}

// patchStrategic applies a strategic merge patch.
//
// See https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/.
func (op *operation) patchStrategic(p *patch.StrategicPatch, current *storage.Decoded) (*candidate, error) {
	bodyCodec, old := op.bodyCodec(), op.view(current).SharedMembers()
	canonical := old
	if op.hasUntypedData() {
		old, canonical = object.WithoutRaw(old), nil
	}
	s, ok := bodyCodec.MergeSchema(op.api().Release)
	if !ok {
		return nil, status.UnroutedMediaType()
	}
	merged, err := p.Apply(old, s)
	if err != nil {
		return nil, patchFailed(err)
	}
	obj, more, err := resource.NormalizeMembers(bodyCodec, canonical, merged.Object, func(obj map[string]any) (map[string]any, []error, error) {
		return bodyCodec.Wire().Convert(obj, wire.DecodeOptions{Strict: op.options.strict()})
	})
	if err == nil {
		if err := op.toInternal(obj); err != nil {
			return nil, status.Unclassified(err.Error())
		}
	}
	if err := op.checkPatched(slices.Concat(p.FieldErrors, more), err, merged.PatchText); err != nil {
		return nil, err
	}
	return &candidate{object: obj, textLen: len(op.body.Data)}, nil
}

// checkPatched fails for a patched object that did not decode, for which err is the error, or whose
// field errors the options do not allow. Its error shows the text that patch returns.
func (op *operation) checkPatched(fieldErrors []error, err error, patch func() string) error {
	if err == nil && len(fieldErrors) > 0 && op.options.FieldValidation == "Strict" {
		err = resource.StrictError(fieldErrors)
	}
	if err != nil {
		return status.Invalid(status.GroupKind{}, "", validation.List{validation.Invalid(patchPath, patch(), err.Error())})
	}
	for _, e := range fieldErrors {
		op.warn(e.Error())
	}
	return nil
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
