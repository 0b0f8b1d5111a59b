package resource

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/status"
)

// BodyKind returns the kind that a request body gives. The error is that of an
// apiVersion that does not parse.
func BodyKind(body *codec.Document) (Kind, error) {
	gv, err := ParseGroupVersion(body.APIVersion)
	return Kind{GroupVersion: gv, Kind: body.Kind}, err
}

// UnrecognizedBody returns the Status for a body whose kind cannot be read.
func UnrecognizedBody(want Kind, body []byte, err error) *status.Status {
	return status.BadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want.Kind, err, summary(body)))
}

// UndecodableBody returns the Status for a body that gives the kind got and
// cannot be decoded as the kind want.
func UndecodableBody(got, want Kind, err error) *status.Status {
	return status.BadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, want.Kind, err))
}

// MissingAPIVersion is kube-apiserver's text for a custom resource without an apiVersion, after it has
// decoded that.
const MissingAPIVersion = "Object 'apiVersion' is missing in 'object has no apiVersion field'"

// OtherVersion returns the Status for a body in another version of the kind.
func OtherVersion(got, want Kind) *status.Status {
	return status.BadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", got.GroupVersion, want.GroupVersion))
}

// Scheme returns the name of the scheme in the error texts of a release, by its minor
// number; 0 is the newest one.
func Scheme(minor int) string {
	switch {
	case behavior.SchemeLine111.In(minor):
		return "pkg/runtime/scheme.go:111"
	case behavior.SchemeLine110.In(minor):
		return "pkg/runtime/scheme.go:110"
	}
	return "pkg/runtime/scheme.go:100"
}

// NotRegistered returns the error of a kind that the scheme of a release does not have.
func NotRegistered(minor int, k Kind) error {
	return fmt.Errorf("no kind %q is registered for version %q in scheme %q", k.Kind, k.GroupVersion, Scheme(minor))
}

// NoTypeRegistered returns the error of converting a body to a versioned kind that
// kube-apiserver's scheme does not have as a Go type.
func NoTypeRegistered(minor int, k Kind) error {
	return fmt.Errorf("no kind is registered for the type %s.%s in scheme %q", k.Version, k.Kind, Scheme(minor))
}

// InternalType returns the name of the Go type in which kube-apiserver keeps the objects of
// t: core.Pod, or unstructured.Unstructured for custom resources. Error texts show it.
func (t *Type) InternalType() string {
	if t.Codec.Wire() == nil {
		return "unstructured.Unstructured"
	}
	return InternalPackage(t.Group) + "." + t.Kind
}

// InternalPackage returns the name of the Go package in which kube-apiserver
// keeps the internal version of a group. Error texts show it.
func InternalPackage(group string) string {
	switch group {
	case "", "events.k8s.io":
		return "core"
	}
	name, _, _ := strings.Cut(group, ".")
	return name
}

// summary returns the first 30 bytes of a body: as text if it starts like a JSON
// object, else in hexadecimal.
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
