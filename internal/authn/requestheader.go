package authn

import (
	"crypto/x509"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// RequestHeader authenticates the requests of a proxy that names the user in
// headers. The proxy proves itself by a client certificate. See the
// --requestheader flags of kube-apiserver.
type RequestHeader struct {
	// CAs issue the certificates of proxies.
	CAs *CAs

	// AllowedNames are the common names that the certificate of a proxy may have.
	// None allows all.
	AllowedNames []string

	// UsernameHeaders, UIDHeaders and GroupHeaders are the names of headers. The
	// first of UsernameHeaders and of UIDHeaders that a request has counts. Values
	// of all GroupHeaders are groups.
	UsernameHeaders, UIDHeaders, GroupHeaders []string

	// ExtraHeaderPrefixes are prefixes of header names. The rest of the name, in
	// lower case and with percent-encoding decoded, is a key of User.Extra.
	ExtraHeaderPrefixes []string
}

// headerUser returns the user that the headers of a proxy name. The user is nil if
// the client has no certificate, or if the headers name no user. It fails if the
// certificate is not the one of a proxy.
func (a *Authenticator) headerUser(header http.Header, chain []*x509.Certificate) (*User, error) {
	h := a.RequestHeader
	if h == nil || len(chain) == 0 {
		return nil, nil
	}
	if err := h.CAs.verify(chain, a.Now()); err != nil {
		return nil, err
	}
	if name := chain[0].Subject.CommonName; len(h.AllowedNames) > 0 && !slices.Contains(h.AllowedNames, name) {
		return nil, x509.CertificateInvalidError{Cert: chain[0], Reason: x509.NameMismatch, Detail: name}
	}
	name := firstValue(header, h.UsernameHeaders)
	if name == "" {
		return nil, nil
	}
	user := &User{Name: name, UID: firstValue(header, h.UIDHeaders), Extra: h.extra(header)}
	for _, group := range h.GroupHeaders {
		for _, value := range header.Values(group) {
			if value != "" {
				user.Groups = append(user.Groups, value)
			}
		}
	}
	return user, nil
}

// extra returns User.Extra of the headers; nil if they have none.
func (h *RequestHeader) extra(header http.Header) map[string][]string {
	var extra map[string][]string
	for _, prefix := range h.ExtraHeaderPrefixes {
		for _, name := range slices.Sorted(maps.Keys(header)) {
			if len(name) < len(prefix) || !strings.EqualFold(name[:len(prefix)], prefix) {
				continue
			}
			key := strings.ToLower(name[len(prefix):])
			if decoded, err := url.PathUnescape(key); err == nil {
				key = decoded
			}
			if extra == nil {
				extra = map[string][]string{}
			}
			extra[key] = append(extra[key], header[name]...)
		}
	}
	return extra
}

// firstValue returns the first value of the first header that has one which is not
// empty.
func firstValue(header http.Header, names []string) string {
	for _, name := range names {
		if value := header.Get(name); value != "" {
			return value
		}
	}
	return ""
}
