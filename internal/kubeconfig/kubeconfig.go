// Package kubeconfig reads kubeconfig files.
//
// See https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/.
package kubeconfig

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/explain"
	"github.com/kubefake/kubefake/internal/inputfile"
)

// A Cluster is a server and the credentials for it.
type Cluster struct {
	// URL is the base URL, without a slash at the end.
	URL string
	// Transport sends requests with the credentials. It does not decompress
	// answers.
	Transport http.RoundTripper
	// Base is Transport without the header Authorization. It has the user's
	// certificate.
	Base http.RoundTripper
	// Token is the user's bearer token, "" if the user has none or it is in a file.
	Token string
}

// At returns a server without credentials.
func At(url string) *Cluster {
	transport := newTransport()
	return &Cluster{URL: strings.TrimSuffix(url, "/"), Transport: transport, Base: transport}
}

// Clone returns a transport with the credentials of c and with connections of its own, and
// the part of it that makes the connections.
func (c *Cluster) Clone() (sockets *http.Transport, transport http.RoundTripper) {
	sockets = c.Base.(*http.Transport).Clone()
	if a, ok := c.Transport.(*authorized); ok {
		return sockets, &authorized{sockets, a.add}
	}
	return sockets, sockets
}

// defaultTransport is http.DefaultTransport as net/http sets it. A program may replace it by one of
// another type.
var defaultTransport = http.DefaultTransport.(*http.Transport)

func newTransport() *http.Transport {
	t := defaultTransport.Clone()
	t.DisableCompression = true
	return t
}

// Load reads a file and returns the cluster of one of its contexts, or of the current
// context if name is "". It supports users with certificates, tokens, passwords and
// exec plugins. It runs a plugin once, with ctx.
func Load(ctx context.Context, path, name string) (*Cluster, error) {
	text, err := inputfile.Read(path)
	if err != nil {
		return nil, err
	}
	c, err := load(ctx, text, filepath.Dir(path), name)
	if err != nil {
		return nil, inputfile.Wrap(path, err)
	}
	return c, nil
}

// config has the supported fields of a kubeconfig file. Paths in it are relative to the
// file.
type config struct {
	CurrentContext string `json:"current-context"`
	Contexts       []struct {
		Name    string
		Context struct{ Cluster, User string }
	}
	Clusters []struct {
		Name    string
		Cluster cluster
	}
	Users []struct {
		Name string
		User user
	}
}

type cluster struct {
	Server        string
	TLSServerName string `json:"tls-server-name"`
	Insecure      bool   `json:"insecure-skip-tls-verify"`
	CA            string `json:"certificate-authority"`
	CAData        []byte `json:"certificate-authority-data"`
	Proxy         string `json:"proxy-url"`
}

type user struct {
	Certificate     string `json:"client-certificate"`
	CertificateData []byte `json:"client-certificate-data"`
	Key             string `json:"client-key"`
	KeyData         []byte `json:"client-key-data"`
	Token           string
	TokenFile       string
	Username        string
	Password        string
	Exec            *plugin
	AuthProvider    *struct{ Name string } `json:"auth-provider"`
}

func load(ctx context.Context, text []byte, dir, name string) (*Cluster, error) {
	var f config
	if err := yaml.Unmarshal(text, &f); err != nil {
		return nil, explain.Error(nil, &f, err)
	}
	c, u, err := f.find(name)
	if err != nil {
		return nil, err
	}
	return connect(ctx, c, u, dir)
}

// connect returns the Cluster of a cluster and of a user, in a file of a folder.
func connect(ctx context.Context, c *cluster, u *user, dir string) (*Cluster, error) {
	server, err := url.Parse(c.Server)
	if err != nil || server.Host == "" {
		return nil, fmt.Errorf("server: %q is not a URL", c.Server)
	}
	if u.Exec != nil {
		if err := u.Exec.run(ctx, dir, u); err != nil {
			return nil, fmt.Errorf("exec %s: %w", u.Exec.Command, err)
		}
	}
	transport := newTransport()
	if transport.TLSClientConfig, err = tlsConfig(c, u, dir); err != nil {
		return nil, err
	}
	if c.Proxy != "" {
		proxy, err := url.Parse(c.Proxy)
		if err != nil {
			return nil, fmt.Errorf("proxy-url: %w", err)
		}
		transport.Proxy = http.ProxyURL(proxy)
	}
	authorize, err := u.authorization(dir)
	if err != nil {
		return nil, err
	}
	return &Cluster{
		URL: strings.TrimSuffix(c.Server, "/"), Transport: &authorized{transport, authorize}, Base: transport, Token: u.Token,
	}, nil
}

// find returns the cluster and the user of a context.
func (f *config) find(name string) (*cluster, *user, error) {
	if name == "" {
		name = f.CurrentContext
	}
	for i := range f.Contexts {
		at := &f.Contexts[i]
		if at.Name != name {
			continue
		}
		c, u := f.cluster(at.Context.Cluster), f.user(at.Context.User)
		switch {
		case c == nil:
			return nil, nil, fmt.Errorf("context %q: cluster %q does not exist", name, at.Context.Cluster)
		case u == nil:
			return nil, nil, fmt.Errorf("context %q: user %q does not exist", name, at.Context.User)
		}
		return c, u, nil
	}
	if name == "" {
		return nil, nil, errors.New("no current context")
	}
	return nil, nil, fmt.Errorf("context %q does not exist", name)
}

func (f *config) cluster(name string) *cluster {
	for i := range f.Clusters {
		if f.Clusters[i].Name == name {
			return &f.Clusters[i].Cluster
		}
	}
	return nil
}

// user returns a user. For "" it returns a user without credentials.
func (f *config) user(name string) *user {
	if name == "" {
		return &user{}
	}
	for i := range f.Users {
		if f.Users[i].Name == name {
			return &f.Users[i].User
		}
	}
	return nil
}

func tlsConfig(c *cluster, u *user, dir string) (*tls.Config, error) {
	out := &tls.Config{ServerName: c.TLSServerName, InsecureSkipVerify: c.Insecure}
	ca, err := content(dir, c.CA, c.CAData)
	if err != nil {
		return nil, err
	}
	if len(ca) > 0 {
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(ca) {
			return nil, errors.New("certificate-authority: no certificate")
		}
	}
	cert, err := content(dir, u.Certificate, u.CertificateData)
	if err != nil {
		return nil, err
	}
	key, err := content(dir, u.Key, u.KeyData)
	if err != nil {
		return nil, err
	}
	if len(cert)+len(key) > 0 {
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("client-certificate: %w", err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}

// Users are the users of a kubeconfig file, of which each has the credentials for some
// hosts. They are immutable.
type Users struct {
	dir  string
	file config
}

// LoadUsers reads the users of a file, as a kube-apiserver of a minor release does.
func LoadUsers(path string, minor int) (*Users, error) {
	f, err := readClient(path, minor)
	if err != nil {
		return nil, err
	}
	return &Users{dir: filepath.Dir(path), file: *f}, nil
}

// For returns next with the credentials for a host and its port: those of the user that has
// its name, else of the longest name that begins with "*." and ends as the host does. At
// port 443, names without a port are tried next; then the user "*", and then that of the
// current context.
func (u *Users) For(host string, next *http.Transport) (http.RoundTripper, error) {
	found := u.named(host)
	if name, port, err := net.SplitHostPort(host); found == nil && err == nil && port == "443" {
		found = u.named(name)
	}
	if found == nil {
		found = u.file.user("*")
	}
	if found == nil {
		_, found, _ = u.file.find("")
	}
	if found == nil {
		return next, nil
	}
	trust, err := tlsConfig(&cluster{}, found, u.dir)
	if err != nil {
		return nil, err
	}
	authorize, err := found.authorization(u.dir)
	if err != nil {
		return nil, err
	}
	next.TLSClientConfig.Certificates = trust.Certificates
	return &authorized{next, authorize}, nil
}

// named returns the user for a host by its name or its pattern, nil if there is none.
func (u *Users) named(host string) *user {
	if found := u.file.user(host); found != nil {
		return found
	}
	for rest := host; ; {
		_, after, ok := strings.Cut(rest, ".")
		if !ok {
			return nil
		}
		if found := u.file.user("*." + after); found != nil {
			return found
		}
		rest = after
	}
}

// content returns inline data or the content of a file.
func content(dir, path string, data []byte) ([]byte, error) {
	if len(data) > 0 || path == "" {
		return data, nil
	}
	return inputfile.Read(resolve(dir, path))
}

// resolve returns a path in a file of dir, relative to the working directory.
func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// authorization returns a function that adds the user's credentials to a request.
func (u *user) authorization(dir string) (func(*http.Request) error, error) {
	switch {
	case u.AuthProvider != nil:
		return nil, fmt.Errorf("auth-provider %s: auth providers were removed in Kubernetes 1.26; use an exec plugin", u.AuthProvider.Name)
	case u.TokenFile != "":
		// The file is read for each request, because the token may be renewed.
		return func(r *http.Request) error {
			token, err := inputfile.Read(resolve(dir, u.TokenFile))
			if err == nil {
				r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
			}
			return err
		}, nil
	case u.Token != "":
		return func(r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+u.Token)
			return nil
		}, nil
	case u.Username != "":
		return func(r *http.Request) error {
			r.SetBasicAuth(u.Username, u.Password)
			return nil
		}, nil
	}
	return func(*http.Request) error { return nil }, nil
}

// An authorized transport adds credentials to requests.
type authorized struct {
	next http.RoundTripper
	add  func(*http.Request) error
}

func (a *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if err := a.add(r); err != nil {
		return nil, err
	}
	return a.next.RoundTrip(r)
}
