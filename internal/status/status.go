// Package status makes the Status objects by which an API server reports
// failures, and the success of a deletion, with the codes, reasons, messages
// and details of kube-apiserver.
//
// See https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/.
package status

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/kubefake/kubefake/internal/validation"
)

// A Status is a meta/v1 Status. As a failure it is also the Go error that the
// handlers return.
type Status struct {
	Kind       string   `json:"kind"`
	APIVersion string   `json:"apiVersion"`
	Metadata   ListMeta `json:"metadata"`
	Status     string   `json:"status,omitempty"`
	Message    string   `json:"message,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	Details    *Details `json:"details,omitempty"`
	Code       int      `json:"code,omitempty"`
}

// ListMeta is the metadata of a Status; only an expired continue token fills it.
type ListMeta struct {
	Continue string `json:"continue,omitempty"`
}

// Details say what a Status is about.
type Details struct {
	Name              string  `json:"name,omitempty"`
	Group             string  `json:"group,omitempty"`
	Kind              string  `json:"kind,omitempty"`
	UID               string  `json:"uid,omitempty"`
	Causes            []Cause `json:"causes,omitempty"`
	RetryAfterSeconds int     `json:"retryAfterSeconds,omitempty"`
}

// A Cause is one reason among several why a request failed.
type Cause struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Field   string `json:"field,omitempty"`
}

// Reasons, as clients branch on them.
const (
	ReasonUnauthorized          = "Unauthorized"
	ReasonForbidden             = "Forbidden"
	ReasonNotFound              = "NotFound"
	ReasonAlreadyExists         = "AlreadyExists"
	ReasonConflict              = "Conflict"
	ReasonGone                  = "Gone"
	ReasonInvalid               = "Invalid"
	ReasonTimeout               = "Timeout"
	ReasonBadRequest            = "BadRequest"
	ReasonMethodNotAllowed      = "MethodNotAllowed"
	ReasonNotAcceptable         = "NotAcceptable"
	ReasonRequestEntityTooLarge = "RequestEntityTooLarge"
	ReasonUnsupportedMediaType  = "UnsupportedMediaType"
	ReasonInternalError         = "InternalError"
	ReasonExpired               = "Expired"
	ReasonTooManyRequests       = "TooManyRequests"
	ReasonNotImplemented        = "NotImplemented"
	ReasonServiceUnavailable    = "ServiceUnavailable"
)

// Causes that are no field errors.
const (
	CauseNamespaceTerminating    = "NamespaceTerminating"
	CauseDisruptionBudget        = "DisruptionBudget"
	CauseResourceVersionTooLarge = "ResourceVersionTooLarge"
)

// A GroupResource names a resource in messages: "deployments.apps".
type GroupResource struct{ Group, Resource string }

// String is the resource, followed by a dot and its group if it has one.
func (gr GroupResource) String() string { return dotted(gr.Resource, gr.Group) }

// A GroupKind names a kind in messages: "Deployment.apps".
type GroupKind struct{ Group, Kind string }

// String is the kind, followed by a dot and its group if it has one.
func (gk GroupKind) String() string { return dotted(gk.Kind, gk.Group) }

func dotted(name, group string) string {
	if group == "" {
		return name
	}
	return name + "." + group
}

// Error is the message.
func (s *Status) Error() string { return s.Message }

// JSON is the encoded Status, ended by a newline.
func (s *Status) JSON() []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic("status: " + err.Error()) // unreachable: strings and ints only
	}
	return append(b, '\n')
}

// Failure is a failed Status of the given code, reason and message. details
// may be nil.
func Failure(code int, reason, message string, details *Details) *Status {
	return &Status{Kind: "Status", APIVersion: "v1", Status: "Failure", Message: message, Reason: reason, Details: details, Code: code}
}

// Success is what a deletion answers that does not answer the object.
func Success(details *Details) *Status {
	return &Status{Kind: "Status", APIVersion: "v1", Status: "Success", Details: details}
}

func details(gr GroupResource, name string) *Details {
	return &Details{Group: gr.Group, Kind: gr.Resource, Name: name}
}

// NotFound says that the object does not exist.
func NotFound(gr GroupResource, name string) *Status {
	return Failure(http.StatusNotFound, ReasonNotFound, fmt.Sprintf("%s %q not found", gr, name), details(gr, name))
}

// NoResource says that no resource is served at the request's path.
func NoResource() *Status {
	return Failure(http.StatusNotFound, ReasonNotFound, "the server could not find the requested resource", &Details{})
}

// AlreadyExists says that an object of that name exists.
func AlreadyExists(gr GroupResource, name string) *Status {
	return Failure(http.StatusConflict, ReasonAlreadyExists, fmt.Sprintf("%s %q already exists", gr, name), details(gr, name))
}

// Conflict says that the object is not as the request supposed it to be.
func Conflict(gr GroupResource, name, why string) *Status {
	return Failure(http.StatusConflict, ReasonConflict, fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", gr, name, why), details(gr, name))
}

// Forbidden says that the request is not allowed. With neither resource nor
// name the message names none.
func Forbidden(gr GroupResource, name, why string) *Status {
	var message string
	switch {
	case gr == GroupResource{}:
		message = "forbidden: " + why
	case name == "":
		message = gr.String() + " is forbidden: " + why
	default:
		message = fmt.Sprintf("%s %q is forbidden: %s", gr, name, why)
	}
	return Failure(http.StatusForbidden, ReasonForbidden, message, details(gr, name))
}

// Unauthorized says that the request's credentials are not known.
func Unauthorized() *Status {
	return Failure(http.StatusUnauthorized, ReasonUnauthorized, "Unauthorized", nil)
}

// Invalid reports what validation found wrong with an object.
func Invalid(gk GroupKind, name string, errs validation.List) *Status {
	d := &Details{Group: gk.Group, Kind: gk.Kind, Name: name}
	for _, e := range errs {
		d.Causes = append(d.Causes, Cause{Reason: string(e.Reason), Message: e.Body(), Field: e.Field})
	}
	message := fmt.Sprintf("%s %q is invalid", gk, name)
	if len(errs) > 0 {
		message += ": " + errs.Message()
	}
	return Failure(http.StatusUnprocessableEntity, ReasonInvalid, message, d)
}

// BadRequest says that the request could not be understood.
func BadRequest(message string) *Status {
	return Failure(http.StatusBadRequest, ReasonBadRequest, message, nil)
}

// MethodNotSupported says that the resource does not know the verb.
func MethodNotSupported(gr GroupResource, verb string) *Status {
	return Failure(http.StatusMethodNotAllowed, ReasonMethodNotAllowed,
		fmt.Sprintf("%s is not supported on resources of kind %q", verb, gr), &Details{Group: gr.Group, Kind: gr.Resource})
}

// MethodNotAllowed says that no route has the request's method.
func MethodNotAllowed() *Status {
	return Failure(http.StatusMethodNotAllowed, ReasonMethodNotAllowed, "the server does not allow this method on the requested resource", &Details{})
}

// UnsupportedMediaType says which content types a request may have.
func UnsupportedMediaType(accepted []string) *Status {
	return Failure(http.StatusUnsupportedMediaType, ReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: "+strings.Join(accepted, ", "), nil)
}

// UnroutedMediaType says that no route takes the request's content type.
func UnroutedMediaType() *Status {
	return Failure(http.StatusUnsupportedMediaType, ReasonUnsupportedMediaType, "415: Unsupported Media Type", &Details{})
}

// NotAcceptable says which media types an answer may have.
func NotAcceptable(offered []string) *Status {
	return Failure(http.StatusNotAcceptable, ReasonNotAcceptable,
		"only the following media types are accepted: "+strings.Join(offered, ", "), nil)
}

// UnroutedAccept says that the request's route answers in no media type that
// the client accepts.
func UnroutedAccept(offered []string) *Status {
	return Failure(http.StatusNotAcceptable, ReasonNotAcceptable,
		"406: Not Acceptable\n\nAvailable representations: "+strings.Join(offered, ", "), &Details{})
}

// TooLarge says that the body is longer than the server reads.
func TooLarge(limit int) *Status {
	return Failure(http.StatusRequestEntityTooLarge, ReasonRequestEntityTooLarge,
		fmt.Sprintf("Request entity too large: limit is %d", limit), nil)
}

// Expired says that the requested resource version is compacted.
func Expired(message string) *Status {
	return Failure(http.StatusGone, ReasonExpired, message, nil)
}

// Timeout says that the request could not be completed in time. A
// retryAfterSeconds of 0 gives no hint.
func Timeout(message string, retryAfterSeconds int, causes ...Cause) *Status {
	return Failure(http.StatusGatewayTimeout, ReasonTimeout, "Timeout: "+message, &Details{RetryAfterSeconds: retryAfterSeconds, Causes: causes})
}

// TooManyRequests says that the request may be allowed later. A
// retryAfterSeconds of 0 gives no hint.
func TooManyRequests(message string, retryAfterSeconds int, causes ...Cause) *Status {
	return Failure(http.StatusTooManyRequests, ReasonTooManyRequests, message, &Details{RetryAfterSeconds: retryAfterSeconds, Causes: causes})
}

// Unavailable says that the request could not be served now.
func Unavailable(message string) *Status {
	return Failure(http.StatusServiceUnavailable, ReasonServiceUnavailable, message, nil)
}

// Internal reports a failure of the server itself, or one that kube-apiserver
// reports as such.
func Internal(message string) *Status {
	return Failure(http.StatusInternalServerError, ReasonInternalError, "Internal error occurred: "+message,
		&Details{Causes: []Cause{{Message: message}}})
}

// Unclassified is how kube-apiserver reports an error that says nothing of its
// kind: 500 without a reason.
func Unclassified(message string) *Status {
	return Failure(http.StatusInternalServerError, "", message, nil)
}

// NotImplemented names something that kube-apiserver does and this server does
// not.
func NotImplemented(what string) *Status {
	return Failure(http.StatusNotImplemented, ReasonNotImplemented, "not implemented: "+what, nil)
}

// InvalidOptions is the answer to a request whose options, of the given kind, are
// invalid.
func InvalidOptions(kind string, errs validation.List) *Status {
	return Invalid(GroupKind{Group: "meta.k8s.io", Kind: kind}, "", errs)
}
