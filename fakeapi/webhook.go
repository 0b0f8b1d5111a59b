package fakeapi

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/outputfile"
	"github.com/kubefake/kubefake/internal/webhook"
)

// WebhookOptions configure Server.InstallWebhooks. Exactly one of CertDir and Handler is
// set.
type WebhookOptions struct {
	// CertDir is the directory for the certificate of the webhooks, tls.crt, and its key,
	// tls.key, both PEM. It is created if necessary; existing files are replaced.
	CertDir string

	// Handler serves the webhooks in memory, without a listener and a certificate, which
	// works in a testing/synctest bubble.
	Handler http.Handler

	// Services are further Services ("namespace/name") whose DNS names the certificate
	// has.
	Services []string

	// Convert are the names of CustomResourceDefinitions ("widgets.shop.example.com")
	// that get a conversion webhook, with the path /convert and version v1 of
	// ConversionReview.
	Convert []string
}

// A WebhookListener is where a test serves webhooks. Host, Port and CertDir are fields of
// controller-runtime's webhook.Options.
type WebhookListener struct {
	// Host and Port are the address to listen on. With a Handler all fields but CABundle are
	// empty.
	Host string
	Port int

	// Addr is the address as net.Listen takes it: "127.0.0.1:9443".
	Addr string

	// CertDir is that of the options. CertFile and KeyFile are the names of the certificate and
	// of its key in it, as http.Server.ListenAndServeTLS takes them.
	CertDir, CertFile, KeyFile string

	// CABundle is the CA certificate of the webhooks in PEM.
	CABundle []byte
}

// InstallWebhooks lets the test serve the webhooks of Services: those of all webhook
// configurations and CustomResourceDefinitions, except those of WithWebhookService and
// those with a URL. The test listens on the returned address. Calls wait until it does,
// up to ten seconds, and later ones fail if it does not.
//
// InstallWebhooks sets caBundle in the webhook configurations and the
// CustomResourceDefinitions that the server has, and writes a certificate for the DNS
// names of their Services ("name.namespace.svc"). Configurations that a client writes
// later need WebhookListener.CABundle, and their Services WebhookOptions.Services.
//
// The last call applies. A fork starts without: its test calls InstallWebhooks for an
// address of its own.
//
// Errors: ErrInvalidOption; ErrNotFound for a definition in Convert; those of writing
// files and of listening.
func (s *Server) InstallWebhooks(o WebhookOptions) (*WebhookListener, error) {
	l, err := s.installWebhooks(o)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: InstallWebhooks: %w", err)
	}
	return l, nil
}

func (s *Server) installWebhooks(o WebhookOptions) (*WebhookListener, error) {
	if (o.CertDir == "") == (o.Handler == nil) {
		return nil, optionError(errors.New("exactly one of CertDir and Handler must be set"))
	}
	if o.Handler != nil {
		if _, err := s.trustWebhooks(o.Services, o.Convert); err != nil {
			return nil, err
		}
		return &WebhookListener{CABundle: httptest.ClientCA()}, s.serveWebhooks(o.Handler)
	}
	w, err := s.listenForWebhooks(o.Services, o.Convert)
	if err != nil {
		return nil, err
	}
	l := &WebhookListener{
		Host: w.host, Port: w.port, Addr: w.addr(), CABundle: w.caBundle,
		CertDir: o.CertDir, CertFile: filepath.Join(o.CertDir, "tls.crt"), KeyFile: filepath.Join(o.CertDir, "tls.key"),
	}
	return l, l.writeCertificate(w.certificate, w.key)
}

// A webhookAddress is where a client serves webhooks, and its certificate in PEM.
type webhookAddress struct {
	host                       string
	port                       int
	certificate, key, caBundle []byte
}

func (w *webhookAddress) addr() string { return net.JoinHostPort(w.host, strconv.Itoa(w.port)) }

// listenForWebhooks lets a client serve the webhooks of Services.
func (s *Server) listenForWebhooks(services, convert []string) (*webhookAddress, error) {
	names, err := s.trustWebhooks(services, convert)
	if err != nil {
		return nil, err
	}
	w := &webhookAddress{caBundle: httptest.ClientCA()}
	if w.certificate, w.key, err = httptest.IssueServer(names...); err != nil {
		return nil, err
	}
	if w.host, w.port, err = freeAddress(); err != nil {
		return nil, err
	}
	s.api.Webhooks().SetBackend(&webhook.Backend{Addr: w.addr()})
	return w, nil
}

// trustWebhooks sets the CA of the webhooks in the objects with webhooks. It returns the
// DNS names of their Services and of services.
func (s *Server) trustWebhooks(services, convert []string) ([]string, error) {
	names, err := serviceNames(services)
	if err != nil {
		return nil, optionError(err)
	}
	in := &webhookInstaller{
		caBundle: base64.StdEncoding.EncodeToString(httptest.ClientCA()), except: s.config.server.Services, names: names,
	}
	if err := s.installCA(in, convert); err != nil {
		return nil, err
	}
	return in.names, nil
}

// serviceNames returns the DNS names of Services.
func serviceNames(services []string) ([]string, error) {
	var out []string
	for _, service := range services {
		namespace, name, ok := strings.Cut(service, "/")
		if !ok || namespace == "" || name == "" {
			return nil, fmt.Errorf("the Service %q is not namespace/name", service)
		}
		out = append(out, name+"."+namespace+".svc")
	}
	return out, nil
}

// serveWebhooks serves webhooks in memory until the server is closed.
func (s *Server) serveWebhooks(handler http.Handler) error {
	h, err := httptest.Start(handler, httptest.Options{InMemory: true})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.hooks = append(s.hooks, h)
	s.mu.Unlock()
	s.api.Webhooks().SetBackend(&webhook.Backend{Transport: h.Transport()})
	return nil
}

// writeCertificate writes the certificate and its key to CertDir.
func (l *WebhookListener) writeCertificate(certificate, key []byte) error {
	if err := os.MkdirAll(l.CertDir, 0o755); err != nil {
		return err
	}
	if err := outputfile.WriteText(l.KeyFile, key, 0o600); err != nil {
		return err
	}
	return outputfile.WriteText(l.CertFile, certificate, 0o644)
}

// freeAddress returns a free TCP address of the loopback interface. The port is below
// those that systems choose for connections and for listeners on port 0, so that it
// stays free until the test listens.
func freeAddress() (host string, port int, err error) {
	const first, last, attempts = 20000, 32767, 100
	for range attempts {
		port = first + rand.IntN(last-first+1)
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return "127.0.0.1", port, l.Close()
		}
	}
	return "", 0, err
}

// definitions is the resource of CustomResourceDefinitions.
const definitions = "customresourcedefinitions.apiextensions.k8s.io"

// installCA puts the CA of in into the objects with webhooks, and gives the definitions
// in convert a conversion webhook.
func (s *Server) installCA(in *webhookInstaller, convert []string) error {
	for _, name := range convert {
		if _, err := s.Get(definitions, "", name); err != nil {
			return err
		}
	}
	for _, resource := range []string{
		"mutatingwebhookconfigurations.admissionregistration.k8s.io",
		"validatingwebhookconfigurations.admissionregistration.k8s.io",
		definitions,
	} {
		objects, err := s.List(resource, "")
		if err != nil {
			return err
		}
		for _, o := range objects {
			changed := resource == definitions && slices.Contains(convert, o.Name())
			if changed {
				setConversionWebhook(o)
			}
			for _, config := range clientConfigs(o) {
				changed = in.install(config) || changed
			}
			if !changed {
				continue
			}
			if _, err := s.Store(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// setConversionWebhook gives a definition a conversion webhook.
func setConversionWebhook(definition Object) {
	object.Set(definition, map[string]any{
		"strategy": "Webhook",
		"webhook": map[string]any{
			"conversionReviewVersions": []any{"v1"},
			"clientConfig": map[string]any{
				"service": map[string]any{"namespace": "default", "name": "webhook", "path": "/convert", "port": int64(443)},
			},
		},
	}, "spec", "conversion")
}

// clientConfigs returns the clientConfigs of a webhook configuration or of a
// CustomResourceDefinition.
func clientConfigs(o Object) []map[string]any {
	if config := object.Map(o, "spec", "conversion", "webhook", "clientConfig"); config != nil {
		return []map[string]any{config}
	}
	var out []map[string]any
	for hook := range object.Each(o["webhooks"]) {
		if config := object.Map(hook, "clientConfig"); config != nil {
			out = append(out, config)
		}
	}
	return out
}

// A webhookInstaller puts a CA into clientConfigs.
type webhookInstaller struct {
	caBundle string            // base64
	except   map[string]string // Services with addresses of their own
	names    []string          // DNS names of the Services
}

// install sets the caBundle of a clientConfig of a Service. It reports whether it has
// changed config.
func (in *webhookInstaller) install(config map[string]any) bool {
	namespace, name := object.String(config, "service", "namespace"), object.String(config, "service", "name")
	if name == "" || namespace == "" || in.except[namespace+"/"+name] != "" {
		return false
	}
	if dns := name + "." + namespace + ".svc"; !slices.Contains(in.names, dns) {
		in.names = append(in.names, dns)
	}
	changed := object.String(config, "caBundle") != in.caBundle
	config["caBundle"] = in.caBundle
	return changed
}
