package apiserver

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// maxBody is the longest body that is read: 3 MiB.
const maxBody = 3 << 20

// readBody reads the whole body.
func (r *request) readBody() ([]byte, error) {
	if r.http.Body == nil {
		return nil, nil
	}
	if r.http.ContentLength > maxBody {
		return nil, status.TooLarge(maxBody)
	}
	body, err := readAll(io.LimitReader(r.http.Body, maxBody+1), r.http.ContentLength)
	var tooLong *http.MaxBytesError
	switch {
	case len(body) > maxBody, errors.As(err, &tooLong):
		return nil, status.TooLarge(maxBody)
	case err != nil:
		return nil, status.BadRequest(err.Error())
	}
	return body, nil
}

// readAll reads to the end, into room for size bytes if that is known.
func readAll(src io.Reader, size int64) ([]byte, error) {
	b := make([]byte, 0, max(size, 0)+512)
	for {
		n, err := src.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
}

// decode reads the body as an object of the kind that the path takes. Unknown
// and duplicate fields are refused, warned of or dropped, as fieldValidation
// says; warning is the default.
func (r *request) decode(format codec.Format, body []byte, o *writeOptions) (map[string]any, error) {
	c := r.bodyCodec()
	doc, err := format.Parse(body)
	if err != nil {
		return nil, resource.UnrecognizedBody(c.Kind(), body, err)
	}
	got, err := c.CheckBody(doc, r.isOtherVersion)
	if err != nil {
		return nil, err
	}
	obj, fieldErrors, err := doc.Decode(c, o.strict())
	if err == nil && len(fieldErrors) > 0 && o.FieldValidation == "Strict" {
		err = resource.StrictError(fieldErrors)
	}
	if err != nil {
		return nil, resource.UndecodableBody(got, c.Kind(), err)
	}
	r.warn(codec.Warnings(fieldErrors)...)
	return r.completed(obj), nil
}

// isOtherVersion reports whether a kind is that of a type which serves the
// request's resource.
func (r *request) isOtherVersion(kind resource.Kind) bool {
	t := r.registry.ForKind(kind)
	return t != nil && t.Prefix == r.typ.Prefix
}

// bodyCodec returns the codec of the request's body.
func (r *request) bodyCodec() resource.Codec {
	switch {
	case r.isScale():
		return r.typ.Scale.Codec
	case r.isOrder():
		return resource.BuiltinCodec(r.sub.Kind)
	}
	return r.typ.Codec
}

// completed gives the object of a body its kind and its defaults.
func (r *request) completed(obj map[string]any) map[string]any {
	if r.isScale() || r.isOrder() {
		obj["kind"], obj["apiVersion"] = r.sub.Kind.Kind, r.sub.Kind.GroupVersion.String()
		return obj
	}
	return completed(r.typ, obj)
}

// completed gives a decoded object its kind and its defaults.
func completed(t *resource.Type, obj map[string]any) map[string]any {
	obj["kind"], obj["apiVersion"] = t.Kind, t.GroupVersion.String()
	if !t.Virtual() && t.Default != nil {
		t.Default(obj)
	}
	return obj
}

var deleteOptionsKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "meta.k8s.io", Version: "v1"}, Kind: "DeleteOptions"}

var deleteOptionsCodec = resource.BuiltinCodec(deleteOptionsKind)

// decodeDeleteOptions reads DeleteOptions, which every group version has.
func (r *request) decodeDeleteOptions(format codec.Format, body []byte) (map[string]any, error) {
	doc, err := format.Parse(body)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	got, err := resource.BodyKind(doc)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	got = got.Or(deleteOptionsKind)
	known := got.GroupVersion == deleteOptionsKind.GroupVersion || r.registry.Serves(got.GroupVersion)
	if got.Kind != deleteOptionsKind.Kind || !known {
		return nil, status.BadRequest(resource.NotRegistered(got).Error())
	}
	obj, _, err := doc.Decode(deleteOptionsCodec, false)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	return obj, nil
}

// checkNamespace gives the object the namespace of the request. One that names
// another is refused; one at cluster scope loses it.
func checkNamespace(meta map[string]any, namespace string) error {
	switch own := object.String(meta, "namespace"); {
	case own == namespace:
	case own == "":
		meta["namespace"] = namespace
	case namespace == "":
		delete(meta, "namespace")
	default:
		return status.BadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// checkPlace refuses an object of another name or namespace than the request's,
// and tidies the metadata of others.
func (r *request) checkPlace(meta map[string]any) error {
	if err := checkNamespace(meta, r.namespaceOfObject()); err != nil {
		return err
	}
	if err := checkName(meta, r.Name); err != nil {
		return err
	}
	delete(meta, "selfLink")
	r.dedupOwners(meta, "")
	return nil
}

// checkName refuses an object whose name is not that of the request.
func checkName(meta map[string]any, name string) error {
	switch own := object.String(meta, "name"); own {
	case name:
		return nil
	case "":
		return status.BadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", name))
	default:
		return status.BadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", own, name))
	}
}

// dedupOwners drops owner references that came before, and warns of them: when
// says since when there are such, if that is not from the start.
func (r *request) dedupOwners(meta map[string]any, when string) {
	owners := object.List(meta, "ownerReferences")
	if len(owners) < 2 {
		return
	}
	seen := make(map[string]bool, len(owners))
	var kept []any
	var twice []string
	for _, o := range owners {
		ref, _ := o.(map[string]any)
		uid := object.String(ref, "uid")
		if seen[uid] && slices.ContainsFunc(kept, func(k any) bool { return object.Equal(k, o) }) {
			twice = append(twice, uid)
			continue
		}
		seen[uid] = true
		kept = append(kept, o)
	}
	if len(twice) > 0 {
		meta["ownerReferences"] = kept
		r.warn(".metadata.ownerReferences contains duplicate entries" + when + "; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " + strings.Join(twice, ", "))
	}
}
