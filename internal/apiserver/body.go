package apiserver

import (
	"encoding/hex"
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
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
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
	kind, c := r.bodyKind()
	doc, err := format.Parse(body)
	if err != nil {
		return nil, unrecognized(kind, body, err)
	}
	got, err := givenKind(doc)
	if err != nil {
		return nil, unrecognized(kind, body, err)
	}
	if r.typ.Dynamic && !r.isScale() {
		if err := r.checkDynamic(doc, got, kind, body); err != nil {
			return nil, err
		}
	} else if got = got.Or(kind); !r.takes(got, kind) {
		return nil, r.wrongKind(doc, got, kind)
	}
	obj, fieldErrors, err := doc.Decode(c, c.Wire(), o.strict())
	if err == nil && len(fieldErrors) > 0 && o.FieldValidation == "Strict" {
		err = strictError(fieldErrors)
	}
	if err != nil {
		return nil, cannotHandle(got, kind, err)
	}
	r.warn(codec.Warnings(fieldErrors)...)
	return r.completed(obj), nil
}

// checkDynamic checks the kind of a body that is decoded without a Go type: it
// has to be there.
func (r *request) checkDynamic(doc *codec.Document, got, want resource.Kind, body []byte) error {
	switch {
	case got.Kind == "":
		return unrecognized(want, body, fmt.Errorf("Object 'Kind' is missing in '%s'", body))
	case got.GroupVersion != want.GroupVersion:
		return otherVersion(got, want)
	case got.Kind != want.Kind:
		kind := status.GroupKind{Group: got.Group, Kind: got.Kind}
		obj, _, err := doc.Decode(r.typ.Codec, nil, false)
		if err != nil {
			return cannotHandle(got, want, err)
		}
		return status.Invalid(kind, object.String(obj, "metadata", "name"), validation.List{
			validation.Invalid(validation.NewPath("kind"), got.Kind, "must be "+want.Kind),
		})
	}
	return nil
}

func otherVersion(got, want resource.Kind) error {
	return status.BadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", got.GroupVersion, want.GroupVersion))
}

// bodyKind is the kind that the request's body has, and how it is read.
func (r *request) bodyKind() (resource.Kind, resource.Codec) {
	if r.isScale() {
		return r.sub.Kind, r.typ.Scale.Codec
	}
	if r.isOrder() {
		t, ok := wire.ForKind(r.sub.Kind.Group, r.sub.Kind.Version, r.sub.Kind.Kind)
		if !ok {
			panic("apiserver: no type is known for the kind " + r.sub.Kind.Kind) // unreachable: the table has the kinds of all profiles
		}
		return r.sub.Kind, kindCodec{t}
	}
	return resource.Kind{GroupVersion: r.typ.GroupVersion, Kind: r.typ.Kind}, r.typ.Codec
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

// strictError joins what fieldValidation=Strict does not let pass.
func strictError(errs []error) error {
	texts := make([]string, len(errs))
	for i, e := range errs {
		texts[i] = e.Error()
	}
	return errors.New("strict decoding error: " + strings.Join(texts, ", "))
}

// givenKind is the kind that a body says it is of.
func givenKind(doc *codec.Document) (resource.Kind, error) {
	gv, err := resource.ParseGroupVersion(doc.APIVersion)
	return resource.Kind{GroupVersion: gv, Kind: doc.Kind}, err
}

// unrecognized says that a body does not even tell its kind.
func unrecognized(want resource.Kind, body []byte, err error) error {
	return status.BadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want.Kind, err, summary(body)))
}

func cannotHandle(got, want resource.Kind, err error) error {
	return status.BadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, want.Kind, err))
}

// wrongKind words why a body of another kind is refused: it has to be a good one
// of its own kind first.
func (r *request) wrongKind(doc *codec.Document, got, want resource.Kind) error {
	if t, ok := wire.ForKind(got.Group, got.Version, got.Kind); ok {
		if _, _, err := doc.Decode(kindCodec{t}, t, false); err != nil {
			return cannotHandle(got, want, err)
		}
	}
	if other := r.registry.ForKind(got); other != nil && other.Prefix == r.typ.Prefix && got.Kind == want.Kind {
		return otherVersion(got, want)
	}
	return cannotHandle(got, want, r.otherKind(got, want))
}

// otherKind says that a kind is not the one that is wanted.
func (r *request) otherKind(got, want resource.Kind) error {
	if _, registered := wire.ForKind(got.Group, got.Version, got.Kind); !registered {
		return notRegistered(got)
	}
	return fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", got.Version, got.Kind, internalPackage(want.Group), want.Kind)
}

// scheme is the name of the register of kinds, as kube-apiserver's builds have it.
const scheme = "pkg/runtime/scheme.go:111"

func notRegistered(k resource.Kind) error {
	return fmt.Errorf("no kind %q is registered for version %q in scheme %q", k.Kind, k.GroupVersion, scheme)
}

// internalPackage is the name of the Go package in which kube-apiserver keeps
// the kinds of a group, as its messages show it.
func internalPackage(group string) string {
	switch group {
	case "", "events.k8s.io":
		return "core"
	}
	name, _, _ := strings.Cut(group, ".")
	return name
}

// summary shows the beginning of a body: as it is if it looks like JSON, else
// in hexadecimal.
func summary(body []byte) string {
	const most = 30
	switch {
	case len(body) == 0:
		return "<empty>"
	case body[0] == '{' && len(body) > most:
		return string(body[:most]) + " ..."
	case body[0] == '{':
		return string(body)
	case len(body) > most:
		return hex.EncodeToString(body[:most]) + " ..."
	}
	return hex.EncodeToString(body)
}

var deleteOptionsKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "meta.k8s.io", Version: "v1"}, Kind: "DeleteOptions"}

// decodeDeleteOptions reads DeleteOptions, which every group version has.
func (r *request) decodeDeleteOptions(format codec.Format, body []byte) (map[string]any, error) {
	doc, err := format.Parse(body)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	got, err := givenKind(doc)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	got = got.Or(deleteOptionsKind)
	known := got.GroupVersion == deleteOptionsKind.GroupVersion || r.registry.Serves(got.GroupVersion)
	if got.Kind != deleteOptionsKind.Kind || !known {
		return nil, status.BadRequest(notRegistered(got).Error())
	}
	obj, _, err := doc.Decode(kindCodec{metaType("DeleteOptions")}, metaType("DeleteOptions"), false)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	return obj, nil
}

// kindCodec reads and writes a kind that is no resource's.
type kindCodec struct{ *wire.Type }

func (c kindCodec) Wire() *wire.Type { return c.Type }

func (c kindCodec) Decode(body []byte, strict bool) (map[string]any, []error, error) {
	return c.Type.Decode(body, wire.DecodeOptions{Strict: strict})
}

func (c kindCodec) Normalize(obj map[string]any, strict bool) (map[string]any, []error, error) {
	return c.Type.Normalize(obj, wire.DecodeOptions{Strict: strict})
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
