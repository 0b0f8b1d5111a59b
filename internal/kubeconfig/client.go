package kubeconfig

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/kubefake/kubefake/internal/configfile"
	"github.com/kubefake/kubefake/internal/explain"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/status"
)

// LoadClient is Load for the clients that a kube-apiserver of a minor release has, such as those of
// webhooks, with its rules and errors: a user of the current context may be missing, a server may
// lack a scheme, and a user has one way to authenticate.
func LoadClient(ctx context.Context, path string, minor int) (*Cluster, error) {
	if path == "" {
		return nil, errNoConfiguration
	}
	f, err := readClient(path, minor)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	c, u, err := f.findClient(dir)
	if err == nil {
		err = c.complete(u, dir)
	}
	if err != nil {
		return nil, inputfile.Wrap(path, err)
	}
	cluster, err := connect(ctx, c, u, dir)
	return cluster, inputfile.Wrap(path, err)
}

var errNoConfiguration = errors.New("invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable")

// readClient reads a file with the rules of kube-apiserver for kinds and types.
func readClient(path string, minor int) (*config, error) {
	text, err := inputfile.Read(path)
	if err != nil {
		return nil, err
	}
	f := &config{}
	body, kind, err := configfile.IdentifyFlow(text)
	if err == nil {
		kind = configfile.Kind{APIVersion: cmp.Or(kind.APIVersion, "v1"), Kind: cmp.Or(kind.Kind, "Config")}
		if kind != (configfile.Kind{APIVersion: "v1", Kind: "Config"}) {
			err = configfile.NotRegistered(kind, minor)
		} else {
			err = explain.Error(body, f, json.Unmarshal(body, f))
		}
		if err == nil {
			err = checkNames(body)
		}
	}
	if err != nil {
		return nil, inputfile.Wrap(path, fmt.Errorf("error loading config file %q: %w", path, err))
	}
	return f, nil
}

// findClient returns the cluster and the user of the current context.
func (f *config) findClient(dir string) (*cluster, *user, error) {
	name := f.CurrentContext
	if name == "" {
		return nil, nil, errNoConfiguration
	}
	for i := range f.Contexts {
		at := &f.Contexts[i]
		if at.Name != name {
			continue
		}
		c, u := f.cluster(at.Context.Cluster), f.user(at.Context.User)
		if c == nil {
			return nil, nil, errNoConfiguration
		}
		if u == nil {
			u = &user{}
		}
		if errs := append(u.validate(at.Context.User, dir), c.validate(at.Context.Cluster, dir)...); len(errs) > 0 {
			return nil, nil, errors.New("invalid configuration: " + status.Aggregate(errs))
		}
		return c, u, nil
	}
	return nil, nil, fmt.Errorf("invalid configuration: [context was not found for specified context: %s, cluster has no server defined]", name)
}

// validate returns what is wrong with the cluster of a name.
func (c *cluster) validate(name, dir string) (errs []error) {
	if c.Server == "" {
		errs = append(errs, fmt.Errorf("no server found for cluster %q", name))
	}
	if c.Proxy != "" {
		if err := checkProxy(c.Proxy); err != nil {
			errs = append(errs, fmt.Errorf("invalid 'proxy-url' %q for cluster %q: %w", c.Proxy, name, err))
		}
	}
	if c.CA != "" && len(c.CAData) > 0 {
		errs = append(errs, fmt.Errorf("certificate-authority-data and certificate-authority are both specified for %s. certificate-authority-data will override.", name))
	}
	return append(errs, checkFile("certificate-authority", name, dir, c.CA)...)
}

// checkProxy checks the URL of a proxy.
func checkProxy(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return fmt.Errorf("could not parse: %s", text)
	}
	switch u.Scheme {
	case "http", "https", "socks5":
		return nil
	}
	return fmt.Errorf("unsupported scheme %q, must be http, https, or socks5", u.Scheme)
}

// validate returns what is wrong with the user of a name.
func (u *user) validate(name, dir string) (errs []error) {
	if u.Certificate != "" || len(u.CertificateData) > 0 {
		if u.Certificate != "" && len(u.CertificateData) > 0 {
			errs = append(errs, fmt.Errorf("client-cert-data and client-cert are both specified for %s. client-cert-data will override.", name))
		}
		if u.Key != "" && len(u.KeyData) > 0 {
			errs = append(errs, fmt.Errorf("client-key-data and client-key are both specified for %s; client-key-data will override", name))
		}
		if u.Key == "" && len(u.KeyData) == 0 {
			errs = append(errs, fmt.Errorf("client-key-data or client-key must be specified for %s to use the clientCert authentication method.", name))
		}
		errs = append(errs, checkFile("client-cert", name, dir, u.Certificate)...)
		errs = append(errs, checkFile("client-key", name, dir, u.Key)...)
	}
	if u.Exec != nil {
		errs = append(errs, u.Exec.validate(name)...)
	}
	if u.Token != "" && (u.Username != "" || u.Password != "") {
		errs = append(errs, fmt.Errorf("more than one authentication method found for %s; found [token basicAuth], only one is allowed", name))
	}
	return errs
}

// validate returns what is wrong with the plugin of a user.
func (p *plugin) validate(user string) (errs []error) {
	if p.Command == "" {
		errs = append(errs, fmt.Errorf("command must be specified for %s to use exec authentication plugin", user))
	}
	if p.APIVersion == "" {
		errs = append(errs, fmt.Errorf("apiVersion must be specified for %s to use exec authentication plugin", user))
	}
	switch p.InteractiveMode {
	case "Never", "IfAvailable", "Always":
	case "":
		if p.APIVersion != "client.authentication.k8s.io/v1beta1" { // where it has a default
			errs = append(errs, fmt.Errorf("interactiveMode must be specified for %s to use exec authentication plugin", user))
		}
	default:
		errs = append(errs, fmt.Errorf("invalid interactiveMode for %s: %q", user, p.InteractiveMode))
	}
	return errs
}

// checkFile returns the error for a file that a field names and that cannot be read.
func checkFile(field, of, dir, name string) []error {
	if name == "" {
		return nil
	}
	name = resolve(dir, name)
	if _, err := inputfile.Read(name); err != nil {
		return []error{fmt.Errorf("unable to read %s %s for %s due to %w", field, name, of, err)}
	}
	return nil
}

// complete gives the server a scheme, and checks the certificates and the file of the token.
func (c *cluster) complete(u *user, dir string) error {
	ca, err := content(dir, c.CA, c.CAData)
	if err != nil {
		return err
	}
	if server, err := url.Parse(c.Server); err != nil || server.Scheme == "" || server.Host == "" {
		scheme := "http://"
		if len(ca) > 0 || c.Insecure || u.Certificate != "" || len(u.CertificateData) > 0 {
			scheme = "https://"
		}
		if server, err = url.Parse(scheme + c.Server); err != nil {
			return err
		}
		if server.Path != "" && server.Path != "/" {
			return fmt.Errorf("host must be a URL or a host:port pair: %q", c.Server)
		}
		c.Server = strings.TrimSuffix(scheme+c.Server, "/")
	}
	switch {
	case len(ca) > 0 && c.Insecure:
		return errors.New("specifying a root certificates file with the insecure flag is not allowed")
	case len(ca) > 0 && !x509.NewCertPool().AppendCertsFromPEM(ca):
		return errors.New("unable to load root certificates: unable to parse bytes as PEM block")
	}
	if u.TokenFile != "" {
		if _, err := inputfile.Read(resolve(dir, u.TokenFile)); err != nil {
			return err
		}
	}
	cert, err := content(dir, u.Certificate, u.CertificateData)
	if err != nil || len(cert) == 0 {
		return err
	}
	key, err := content(dir, u.Key, u.KeyData)
	if err == nil {
		_, err = tls.X509KeyPair(cert, key)
	}
	return err
}
