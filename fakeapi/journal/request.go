package journal

import (
	"fmt"
	"time"

	"github.com/kubefake/kubefake/internal/printable"
)

// A Request is a request that the server has responded to.
type Request struct {
	// Time is when it arrived, on the server's clock.
	Time   time.Time `json:"time"`
	Method string    `json:"method"`
	URI    string    `json:"uri"`
	// Apply reports that the request is a server-side apply, whose verb is patch.
	Apply     bool   `json:"apply,omitempty"`
	User      string `json:"user,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
	// Code is the HTTP status code of the response; 0 if there was none.
	Code int `json:"code"`
	// Bytes is the length of the response body.
	Bytes    int64         `json:"bytes"`
	Duration time.Duration `json:"duration"`
	// Revision is the revision of the state that the request read, or of its last
	// write; 0 if it did neither.
	Revision int64 `json:"revision,omitempty"`
	// StatusIgnored reports that the write would have changed the status of an object, which
	// only its subresource status changes.
	StatusIgnored bool `json:"statusIgnored,omitempty"`
	// AuditID is the value of the header Audit-Id that the client has sent; "" if it has sent
	// none. Annotations are those that admission adds to the audit log for such a request.
	AuditID     string            `json:"auditID,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// Message is the message of the failure; "" for a success.
	Message string `json:"message,omitempty"`
	// Unimplemented reports that kube-apiserver serves this request and this
	// server does not.
	Unimplemented bool `json:"unimplemented,omitempty"`
	// Panic is the stack trace of a bug of the server; "" if there was none.
	Panic string `json:"panic,omitempty"`
}

// String returns the request on one line.
func (r Request) String() string {
	line := fmt.Sprintf("%d %s %s (%s)", r.Code, r.Method, r.URI, r.UserAgent)
	if r.Message != "" {
		line += ": " + r.Message
	}
	return printable.Line(line)
}
