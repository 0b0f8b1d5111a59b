package apiserver

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// patchTypes are the media types of patches, in the order kube-apiserver names
// them.
var patchTypes = []string{patch.JSONType, patch.MergeType, patch.StrategicType, patch.ApplyType}

var patchPath = validation.NewPath("patch")

// patch changes an object, or a part of it that has a subresource, by a patch.
//
// Differs from kube-apiserver: strategic merge patches and server-side apply
// are not implemented.
func (r *request) patch(mode writeMode) error {
	kind, _, _ := strings.Cut(r.http.Header.Get("Content-Type"), ";")
	if !slices.Contains(patchTypes, kind) {
		return status.UnsupportedMediaType(patchTypes)
	}
	body, err := r.readBody()
	if err != nil {
		return err
	}
	o, err := r.patchOptions(kind)
	if err != nil {
		return err
	}
	var apply func(doc, patch []byte) ([]byte, error)
	switch kind {
	case patch.JSONType:
		apply = patch.JSON
	case patch.MergeType:
		apply = patch.Merge
	default:
		return status.NotImplemented("patches in " + kind)
	}
	return r.change(mode, o, "", func(old *version) (map[string]any, error) {
		if old == nil {
			return nil, status.NotFound(r.groupResource(), r.name)
		}
		doc, err := apply(r.shown(old), body)
		if err != nil {
			return nil, patchFailed(err)
		}
		obj, err := r.decodePatched(doc, o)
		if err != nil {
			return nil, err
		}
		return r.placed(obj, old)
	})
}

// patchOptions reads and checks the query of a patch.
func (r *request) patchOptions(kind string) (*writeOptions, error) {
	o := r.readWriteOptions()
	errs := validation.PatchOptions{
		WriteOptions: o.WriteOptions,
		Force:        boolOf(r.query(), "force"),
		Apply:        kind == patch.ApplyType,
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

// decodePatched reads the document that a patch has made.
func (r *request) decodePatched(doc []byte, o *writeOptions) (map[string]any, error) {
	_, codec := r.bodyKind()
	obj, fieldErrors, err := codec.Decode(doc, o.FieldValidation != "Ignore")
	if err == nil && len(fieldErrors) > 0 && o.FieldValidation == "Strict" {
		err = strictError(fieldErrors)
	}
	if err != nil {
		return nil, status.Invalid(status.GroupKind{}, "", validation.List{validation.Invalid(patchPath, string(doc), err.Error())})
	}
	for _, e := range fieldErrors {
		r.warn(e.Error())
	}
	meta := object.Meta(r.completed(obj))
	if err := checkNamespace(meta, r.namespaceOfObject()); err != nil {
		return nil, err
	}
	if err := checkName(meta, r.name); err != nil {
		return nil, err
	}
	delete(meta, "managedFields")
	delete(meta, "selfLink")
	r.dedupOwners(meta)
	return obj, nil
}
