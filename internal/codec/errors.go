package codec

import "strings"

// A NotAcceptableError is returned if the client accepts none of the offered
// media types. The response is 406.
type NotAcceptableError struct {
	Offered []string
	// Route is set if kube-apiserver's route refuses the request before a
	// handler is called: the Status has empty details then.
	Route bool
	// NoBody is set if the route takes the refusal for one of a body that the request
	// does not have. The response is 415 then.
	NoBody bool
}

func (e *NotAcceptableError) Error() string {
	offered := strings.Join(e.Offered, ", ")
	switch {
	case e.NoBody:
		return "415: Unsupported Media Type\n\nAvailable representations: " + offered
	case e.Route:
		return "406: Not Acceptable\n\nAvailable representations: " + offered
	}
	return "only the following media types are accepted: " + offered
}

// An UnsupportedMediaTypeError is returned for a body in a format that the
// server does not read. The response is 415.
type UnsupportedMediaTypeError struct{ Accepted []string }

func (e *UnsupportedMediaTypeError) Error() string {
	return "the body of the request was in an unknown format - accepted media types include: " + strings.Join(e.Accepted, ", ")
}
