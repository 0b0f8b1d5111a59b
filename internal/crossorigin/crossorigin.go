// Package crossorigin refuses the requests that the page of another site makes a
// browser send to a server of this machine.
//
// A page reaches a server on the loopback address in two ways. Its own origin
// differs from the server's: browsers mark such requests with the headers
// Sec-Fetch-Site and Origin. Or it rebinds DNS: a name of its own resolves to
// 127.0.0.1 once the page is loaded, so that a browser takes the server for the
// page's own. Such a request has nothing special but that name, in Host.
package crossorigin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/kubefake/kubefake/internal/header"
	"github.com/kubefake/kubefake/internal/status"
)

// AnyHost, as a name, allows every Host.
const AnyHost = "*"

// clusterNames are the DNS names that kube-apiserver has in its cluster. No site
// can own one.
var clusterNames = map[string]bool{
	"kubernetes": true, "kubernetes.default": true, "kubernetes.default.svc": true, "kubernetes.default.svc.cluster.local": true,
}

// Check returns an error, which says what to do, for a request that the page of
// another site may have sent, unless it is one of origins. names are the host names
// that clients may use besides the following.
//
// If the server listens on a loopback address, and the request came through a
// connection to one, Host must be an IP address, localhost or a name below it, a
// name of the Service "kubernetes", a name of the server's certificate, or one of
// names.
//
// A request from another origin fails, whatever the address, unless it opens the
// server in a window or has a bearer token: a browser adds none by itself, and asks
// the server before it lets a page do so.
//
// Differs from kube-apiserver: requests of web pages of other sites: kube-apiserver
// answers them like all others, and relies on credentials that a page does not
// have. Here they fail with 403, except for the origins of --cors-allowed-origins, and on
// a loopback address requests to unknown host names too. Request: GET /api with Origin: https://example.com.
func Check(r *http.Request, names []string, origins Origins) error {
	if host, ok := allowsHost(r, names); !ok {
		return fmt.Errorf("the server listens on a loopback address, and %q is not one of its names, so that the request may come from a web page that rebinds DNS: "+
			"use the IP address or localhost, or allow the name with --allowed-hosts (in Go, AllowedHosts of apiserver.Config)", host)
	}
	if from := foreignOrigin(r); from != "" && !origins.Allows(r) {
		return errors.New("the request comes from " + from + ", and a web page may only use a server of its own origin: use a client other than a browser, open the URL itself, or let fakeapi serve allow the origin with --cors-allowed-origins (in Go, CORSAllowedOrigins of apiserver.Config)")
	}
	return nil
}

// foreignOrigin describes the other origin that a request comes from. It returns
// "" for the server's own origin, for clients that are no browsers, for a
// request with a bearer token, and for one that opens the server in a window.
func foreignOrigin(r *http.Request) string {
	origin, site := header.Get(r.Header, "Origin"), header.Get(r.Header, "Sec-Fetch-Site")
	if origin == "" && site == "" {
		return ""
	}
	if scheme, _, _ := strings.Cut(header.Get(r.Header, "Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	switch site {
	case "same-origin", "none":
		return ""
	case "":
		if u, err := url.Parse(origin); err == nil && strings.EqualFold(u.Host, r.Host) {
			return ""
		}
	default:
		if header.Get(r.Header, "Sec-Fetch-Mode") == "navigate" && header.Get(r.Header, "Sec-Fetch-Dest") == "document" && r.Method == http.MethodGet {
			return ""
		}
		if origin == "" {
			return "another site (Sec-Fetch-Site: " + site + ")"
		}
	}
	return fmt.Sprintf("the origin %q", origin)
}

// allowsHost reports whether a request may name the server as it does. If not, it
// returns the name.
func allowsHost(r *http.Request, names []string) (host string, ok bool) {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); !ok || !local.IP.IsLoopback() {
		return "", true
	}
	host = hostname(r.Host)
	if host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") || isAddress(host) || clusterNames[host] {
		return "", true
	}
	for _, name := range names {
		if name == AnyHost || strings.EqualFold(strings.TrimSuffix(name, "."), host) {
			return "", true
		}
	}
	own, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
	return host, own != nil && (own.Addr != "" && !IsLoopback(own.Addr) || certifies(own, host))
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// certifies reports whether a certificate of the server is valid for a name.
func certifies(s *http.Server, host string) bool {
	if s.TLSConfig == nil {
		return false
	}
	for _, c := range s.TLSConfig.Certificates {
		if c.Leaf != nil && c.Leaf.VerifyHostname(host) == nil {
			return true
		}
	}
	return false
}

// hostname returns the name or the address in a Host header, in lower case.
func hostname(host string) string {
	if strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']') { // the error of SplitHostPort is allocated
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// IsLoopback reports whether only this machine reaches a server that listens on a
// TCP address, such as "127.0.0.1:0". A name is one if it resolves to loopback
// addresses only.
func IsLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	if host == "" {
		return false
	}
	addrs, err := net.DefaultResolver.LookupNetIP(context.Background(), "ip", host)
	for _, ip := range addrs {
		if !ip.Unmap().IsLoopback() {
			return false
		}
	}
	return err == nil && len(addrs) > 0
}

// Handler returns a handler that answers the requests that Check refuses with a
// Status and 403, and passes on the others.
func Handler(next http.Handler, names ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := Check(r, names, nil); err != nil {
			Refuse(w, Forbidden(err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Forbidden returns the answer to a request that Check refuses.
func Forbidden(err error) *status.Status {
	return status.Failure(http.StatusForbidden, status.ReasonForbidden, err.Error(), nil)
}

// Refuse answers with a Status in JSON.
func Refuse(w http.ResponseWriter, s *status.Status) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(s.Code))
	w.Write(s.JSON())
}
