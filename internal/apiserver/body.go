package apiserver

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
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
func (r *request) decode(body []byte, o *writeOptions) (map[string]any, error) {
	kind, codec := r.bodyKind()
	obj, fieldErrors, err := codec.Decode(body, o.FieldValidation != "Ignore")
	if err != nil || !kind.Fits(obj) {
		return nil, r.notDecoded(body, kind, err)
	}
	if len(fieldErrors) > 0 {
		if o.FieldValidation == "Strict" {
			return nil, r.notDecoded(body, kind, strictError(fieldErrors))
		}
		for _, e := range fieldErrors {
			r.warn(e.Error())
		}
	}
	return r.completed(obj), nil
}

// bodyKind is the kind that the request's body has, and how it is read.
func (r *request) bodyKind() (resource.Kind, resource.Codec) {
	if r.isScale() {
		return r.sub.Kind, r.typ.Scale.Codec
	}
	return resource.Kind{GroupVersion: r.typ.GroupVersion, Kind: r.typ.Kind}, r.typ.Codec
}

// completed gives the object of a body its kind and its defaults.
func (r *request) completed(obj map[string]any) map[string]any {
	if r.isScale() {
		obj["kind"], obj["apiVersion"] = r.sub.Kind.Kind, r.sub.Kind.GroupVersion.String()
		return obj
	}
	return completed(r.typ, obj)
}

// completed gives a decoded object its kind and its defaults.
func completed(t *resource.Type, obj map[string]any) map[string]any {
	obj["kind"], obj["apiVersion"] = t.Kind, t.GroupVersion.String()
	if t.Default != nil {
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

// notDecoded words why a body is no object of the kind: err if its kind is the
// right one, else what is wrong with its kind.
func (r *request) notDecoded(body []byte, kind resource.Kind, err error) error {
	var head struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	unrecognized := func(err error) error {
		return status.BadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", kind.Kind, err, summary(body)))
	}
	if headErr := decodeHead(body, &head); headErr != nil {
		return unrecognized(headErr)
	}
	gv, headErr := parseGroupVersion(head.APIVersion)
	if headErr != nil {
		return unrecognized(headErr)
	}
	got := resource.Kind{GroupVersion: gv, Kind: head.Kind}.Or(kind)
	cannot := func(err error) error {
		return status.BadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, kind.Kind, err))
	}
	if got == kind {
		return cannot(err)
	}
	if _, registered := wire.ForKind(got.Group, got.Version, got.Kind); !registered {
		return cannot(notRegistered(got))
	}
	if other := r.registry.ForKind(got); other != nil && r.typ != nil && other.Prefix == r.typ.Prefix {
		return status.BadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", got.GroupVersion, kind.GroupVersion))
	}
	return cannot(fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", got.Version, got.Kind, internalPackage(kind.Group), kind.Kind))
}

// notRegistered names the scheme as kube-apiserver's builds do.
func notRegistered(k resource.Kind) error {
	return fmt.Errorf("no kind %q is registered for version %q in scheme %q", k.Kind, k.GroupVersion, "pkg/runtime/scheme.go:111")
}

func decodeHead(body []byte, head any) error {
	if err := json.Unmarshal(body, head); err != nil {
		return fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	return nil
}

func parseGroupVersion(s string) (resource.GroupVersion, error) {
	switch strings.Count(s, "/") {
	case 0:
		return resource.GroupVersion{Version: s}, nil
	case 1:
		group, version, _ := strings.Cut(s, "/")
		return resource.GroupVersion{Group: group, Version: version}, nil
	}
	return resource.GroupVersion{}, fmt.Errorf("unexpected GroupVersion string: %s", s)
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
func (r *request) decodeDeleteOptions(body []byte) (map[string]any, error) {
	var head struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := decodeHead(body, &head); err != nil {
		return nil, status.BadRequest(err.Error())
	}
	gv, err := parseGroupVersion(head.APIVersion)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	got := resource.Kind{GroupVersion: gv, Kind: head.Kind}.Or(deleteOptionsKind)
	known := got.GroupVersion == deleteOptionsKind.GroupVersion || r.registry.Serves(got.GroupVersion)
	if got.Kind != deleteOptionsKind.Kind || !known {
		return nil, status.BadRequest(notRegistered(got).Error())
	}
	typ, ok := wire.ForKind("", "v1", deleteOptionsKind.Kind)
	if !ok {
		panic("apiserver: the type of DeleteOptions is not known") // unreachable: it is in the table
	}
	obj, _, err := typ.Decode(body, wire.DecodeOptions{})
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

// dedupOwners drops owner references whose uid came before, and warns of them.
func (r *request) dedupOwners(meta map[string]any) {
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
		if seen[uid] {
			twice = append(twice, uid)
			continue
		}
		seen[uid] = true
		kept = append(kept, o)
	}
	if len(twice) > 0 {
		meta["ownerReferences"] = kept
		r.warn(".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " + strings.Join(twice, ", "))
	}
}
