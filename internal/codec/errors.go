package codec

import "strings"

// A NotAcceptableError says that no media type the client accepts is on offer. It
// makes a 406.
type NotAcceptableError struct {
	Offered []string
	// Route tells that the request's route has turned the client away, before a
	// handler looked at what is accepted: its Status has empty details.
	Route bool
}

func (e *NotAcceptableError) Error() string {
	offered := strings.Join(e.Offered, ", ")
	if e.Route {
		return "406: Not Acceptable\n\nAvailable representations: " + offered
	}
	return "only the following media types are accepted: " + offered
}

// An UnsupportedMediaTypeError says that the body is in a format the server does
// not read. It makes a 415.
type UnsupportedMediaTypeError struct{ Accepted []string }

func (e *UnsupportedMediaTypeError) Error() string {
	return "the body of the request was in an unknown format - accepted media types include: " + strings.Join(e.Accepted, ", ")
}
