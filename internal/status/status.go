// Package status creates the Status objects that report failures and successful
// deletions, with kube-apiserver's codes, reasons, messages and details.
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

// A Status is a meta/v1 Status. A failure is also the Go error that handlers
// return.
type Status struct {
	Kind       string   `json:"kind"`
	APIVersion string   `json:"apiVersion"`
	Metadata   ListMeta `json:"metadata"`
	Status     string   `json:"status,omitempty"`
	Message    string   `json:"message,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	Details    *Details `json:"details,omitempty"`
	Code       int32    `json:"code,omitempty"`
}

// ListMeta is the metadata of a Status. Only an expired continue token and the answers of webhooks
// set it.
type ListMeta struct {
	SelfLink           string `json:"selfLink,omitempty"`
	ResourceVersion    string `json:"resourceVersion,omitempty"`
	Continue           string `json:"continue,omitempty"`
	RemainingItemCount *int64 `json:"remainingItemCount,omitempty"`
}

// Details identify the object or resource that a Status is about.
type Details struct {
	Name              string  `json:"name,omitempty"`
	Group             string  `json:"group,omitempty"`
	Kind              string  `json:"kind,omitempty"`
	UID               string  `json:"uid,omitempty"`
	Causes            []Cause `json:"causes,omitempty"`
	RetryAfterSeconds int     `json:"retryAfterSeconds,omitempty"`
}

// A Cause is one of the reasons why a request failed.
type Cause struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Field   string `json:"field,omitempty"`
}

// The reasons that clients distinguish.
const (
	ReasonUnauthorized          = "Unauthorized"
	ReasonForbidden             = "Forbidden"
	ReasonNotFound              = "NotFound"
	ReasonAlreadyExists         = "AlreadyExists"
	ReasonConflict              = "Conflict"
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

// Causes that are not field errors.
const (
	CauseNamespaceTerminating    = "NamespaceTerminating"
	CauseDisruptionBudget        = "DisruptionBudget"
	CauseResourceVersionTooLarge = "ResourceVersionTooLarge"
)

// A GroupResource names a resource in messages: "deployments.apps".
type GroupResource struct{ Group, Resource string }

// String returns the resource, followed by a dot and its group if it has one.
func (gr GroupResource) String() string { return dotted(gr.Resource, gr.Group) }

// A GroupKind names a kind in messages: "Deployment.apps".
type GroupKind struct{ Group, Kind string }

// String returns the kind, followed by a dot and its group if it has one.
func (gk GroupKind) String() string { return dotted(gk.Kind, gk.Group) }

func dotted(name, group string) string {
	if group == "" {
		return name
	}
	return name + "." + group
}

// Error returns the message.
func (s *Status) Error() string { return s.Message }

// JSON returns the encoded Status with a newline.
func (s *Status) JSON() []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic("status: " + err.Error()) // unreachable: strings and ints always marshal
	}
	return append(b, '\n')
}

// MessageOf returns the message of a Status in JSON, or the text itself if it is no Status.
func MessageOf(body []byte) string {
	var st struct{ Message string }
	if json.Unmarshal(body, &st) == nil && st.Message != "" {
		return st.Message
	}
	return strings.TrimSpace(string(body))
}

// Failure returns a failed Status. details may be nil.
func Failure(code int, reason, message string, details *Details) *Status {
	return &Status{Kind: "Status", APIVersion: "v1", Status: "Failure", Message: message, Reason: reason, Details: details, Code: int32(code)}
}

// Success returns the response to a deletion that does not return the object.
func Success(details *Details) *Status {
	return &Status{Kind: "Status", APIVersion: "v1", Status: "Success", Details: details}
}

func details(gr GroupResource, name string) *Details {
	return &Details{Group: gr.Group, Kind: gr.Resource, Name: name}
}

// NotFound is returned for an object that does not exist.
func NotFound(gr GroupResource, name string) *Status {
	return Failure(http.StatusNotFound, ReasonNotFound, fmt.Sprintf("%s %q not found", gr, name), details(gr, name))
}

// NoResource is returned for a path at which no resource is served.
func NoResource() *Status {
	return Failure(http.StatusNotFound, ReasonNotFound, "the server could not find the requested resource", &Details{})
}

// AlreadyExists is returned if an object with the name exists.
func AlreadyExists(gr GroupResource, name string) *Status {
	return Failure(http.StatusConflict, ReasonAlreadyExists, fmt.Sprintf("%s %q already exists", gr, name), details(gr, name))
}

// Conflict is returned if the object is not in the state that the request
// expects.
func Conflict(gr GroupResource, name, why string) *Status {
	return Failure(http.StatusConflict, ReasonConflict, fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", gr, name, why), details(gr, name))
}

// Modified is the Conflict of a write that was made from an older version of the object.
func Modified(gr GroupResource, name string) *Status {
	return Conflict(gr, name, "the object has been modified; please apply your changes to the latest version and try again")
}

// PreconditionText is why a write conflicts that was meant for an object with another UID or
// resourceVersion, which what names: want is that of the request, is that of the object.
func PreconditionText(what, want, is string) string {
	return fmt.Sprintf("Precondition failed: %s in precondition: %s, %s in object meta: %s", what, want, what, is)
}

// Forbidden is returned for a request that is not allowed. The message leaves
// out an empty resource or name.
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

// Unauthorized is returned for unknown credentials.
func Unauthorized() *Status {
	return Failure(http.StatusUnauthorized, ReasonUnauthorized, "Unauthorized", nil)
}

// Invalid is returned for an object that fails validation.
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

// BadRequest is returned for a request that cannot be parsed.
func BadRequest(message string) *Status {
	return Failure(http.StatusBadRequest, ReasonBadRequest, message, nil)
}

// MethodNotSupported is returned for a verb that the resource does not support.
func MethodNotSupported(gr GroupResource, verb string) *Status {
	return Failure(http.StatusMethodNotAllowed, ReasonMethodNotAllowed,
		fmt.Sprintf("%s is not supported on resources of kind %q", verb, gr), &Details{Group: gr.Group, Kind: gr.Resource})
}

// MethodNotAllowed is returned for a method that no route has.
func MethodNotAllowed() *Status {
	return Failure(http.StatusMethodNotAllowed, ReasonMethodNotAllowed, "the server does not allow this method on the requested resource", &Details{})
}

// UnsupportedMediaType is returned for a Content-Type that the handler does not
// accept.
func UnsupportedMediaType(accepted []string) *Status {
	return Failure(http.StatusUnsupportedMediaType, ReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: "+strings.Join(accepted, ", "), nil)
}

// UnroutedMediaType is returned for a Content-Type that no route accepts.
func UnroutedMediaType() *Status {
	return Failure(http.StatusUnsupportedMediaType, ReasonUnsupportedMediaType, "415: Unsupported Media Type", &Details{})
}

// NotAcceptable is returned if the client accepts none of the offered media
// types.
func NotAcceptable(offered []string) *Status {
	return Failure(http.StatusNotAcceptable, ReasonNotAcceptable,
		"only the following media types are accepted: "+strings.Join(offered, ", "), nil)
}

// UnroutedAccept is returned if the client accepts none of the media types that
// the request's route produces.
func UnroutedAccept(offered []string) *Status {
	return Failure(http.StatusNotAcceptable, ReasonNotAcceptable,
		"406: Not Acceptable\n\nAvailable representations: "+strings.Join(offered, ", "), &Details{})
}

// TooLarge is returned for a body that exceeds the limit that message names.
func TooLarge(message string) *Status {
	return Failure(http.StatusRequestEntityTooLarge, ReasonRequestEntityTooLarge, "Request entity too large: "+message, nil)
}

// Expired is returned for a compacted resource version.
func Expired(message string) *Status {
	return Failure(http.StatusGone, ReasonExpired, message, nil)
}

// WatchExpired is returned for a watch whose next events are compacted.
func WatchExpired() *Status {
	return Expired("The resourceVersion for the provided watch is too old.")
}

// Timeout is returned for a request that could not be completed in time. A
// retryAfterSeconds of 0 is left out.
func Timeout(message string, retryAfterSeconds int, causes ...Cause) *Status {
	return Failure(http.StatusGatewayTimeout, ReasonTimeout, "Timeout: "+message, &Details{RetryAfterSeconds: retryAfterSeconds, Causes: causes})
}

// TooManyRequestsText is what kube-apiserver answers to a request above a limit of the
// requests that are served at a time.
const TooManyRequestsText = "Too many requests, please try again later."

// TooManyRequests is returned for a request that may be allowed later. A
// retryAfterSeconds of 0 is left out.
func TooManyRequests(message string, retryAfterSeconds int, causes ...Cause) *Status {
	return Failure(http.StatusTooManyRequests, ReasonTooManyRequests, message, &Details{RetryAfterSeconds: retryAfterSeconds, Causes: causes})
}

// Unavailable is returned if the request cannot be served now.
func Unavailable(message string) *Status {
	return Failure(http.StatusServiceUnavailable, ReasonServiceUnavailable, message, nil)
}

// Internal is returned for an internal error of the server.
func Internal(message string) *Status {
	return Failure(http.StatusInternalServerError, ReasonInternalError, "Internal error occurred: "+message,
		&Details{Causes: []Cause{{Message: message}}})
}

// Unclassified is returned for an error without a reason: kube-apiserver
// responds with 500 and the error's text.
func Unclassified(message string) *Status {
	return Failure(http.StatusInternalServerError, "", message, nil)
}

// NotImplemented is returned for a feature of kube-apiserver that this server
// does not have. what names the feature.
func NotImplemented(what string) *Status {
	return Failure(http.StatusNotImplemented, ReasonNotImplemented, "not implemented: "+what, nil)
}

// InvalidOptions is the answer to a request whose options, of the given kind, are
// invalid.
func InvalidOptions(kind string, errs validation.List) *Status {
	return Invalid(GroupKind{Group: "meta.k8s.io", Kind: kind}, "", errs)
}
