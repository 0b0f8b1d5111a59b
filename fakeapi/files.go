package fakeapi

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/aggregator"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz/chain"
	"github.com/kubefake/kubefake/internal/filewatch"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/metrics"
)

// readWatched sets the options that the files take the place of.
func (c *config) readWatched() error {
	if c.watched == nil {
		return nil
	}
	f := *c.watched
	c.watched = &f
	var err error
	read := func(name string) (text []byte) {
		if name != "" && err == nil {
			text, err = inputfile.Read(name)
		}
		return text
	}
	if f.Certificate != "" {
		c.http.Certificate, c.http.Key = read(f.Certificate), read(f.Key)
	}
	for _, n := range f.NamedCertificates {
		c.http.Named = append(c.http.Named, httptest.NamedCertificate{Certificate: read(n.Certificate), Key: read(n.Key), Names: n.Names})
	}
	if f.ProxyClientCertificate != "" {
		c.proxyCertificate = [2][]byte{read(f.ProxyClientCertificate), read(f.ProxyClientKey)}
		if err == nil {
			err = c.setProxyCertificate()
		}
	}
	if f.ClientCA != "" {
		c.clientCAs = [][]byte{read(f.ClientCA)}
	}
	if f.RequestHeaderCA != "" || f.AuthenticationConfig != "" {
		var a apiserver.Authentication
		if c.authentication != nil {
			a = *c.authentication
		}
		if f.AuthenticationConfig != "" {
			a.Config = read(f.AuthenticationConfig)
		}
		if f.RequestHeaderCA != "" {
			if a.RequestHeader == nil {
				return optionError(errors.New("RequestHeaderCA needs RequestHeader"))
			}
			h := *a.RequestHeader
			h.ClientCA = read(f.RequestHeaderCA)
			a.RequestHeader = &h
		}
		c.authentication = &a
	}
	if f.AuthorizationConfig != "" {
		var a apiserver.Authorization
		if c.authorization != nil {
			a = *c.authorization
		}
		a.Config = append([]byte{}, read(f.AuthorizationConfig)...) // an empty file is not nil
		c.authorization = &a
	}
	return err
}

// A reloader reads the files of servers again: of a server and its forks, replicas and front
// ends. It is safe for concurrent use. Its methods do nothing if it is nil.
type reloader struct {
	config  *config // of the first server
	files   apiserver.Files
	watcher filewatch.Watcher

	mu        sync.Mutex // guards the fields below
	servers   map[*Server]struct{}
	stop      func() // ends the goroutine; nil if there is none
	certs     httptest.Certificates
	clientCAs []*x509.Certificate
	proxyCAs  []*x509.Certificate

	watchesCertificate bool
	watchesManifests   bool

	publishing sync.Mutex // held while a ConfigMap is written
}

// newReloader returns a reloader of the files of c, nil if there are none.
func (c *config) newReloader() *reloader {
	r := &reloader{config: c, servers: map[*Server]struct{}{}, clientCAs: c.clientRoots, proxyCAs: c.proxyCAs}
	if c.watched != nil {
		r.files = *c.watched
	}
	f := &r.files
	if c.http.CertDir != "" && c.http.TLS && f.Certificate == "" && len(c.http.Certificate) == 0 {
		f.Certificate, f.Key = filepath.Join(c.http.CertDir, "apiserver.crt"), filepath.Join(c.http.CertDir, "apiserver.key")
	}
	r.certs = httptest.Certificates{Certificate: c.http.Certificate, Key: c.http.Key, Named: c.http.Named, ClientCAs: c.http.ClientCAs}
	if f.ClientCA != "" {
		r.watch([]string{f.ClientCA}, r.setClientCA, nil, c.clientCAs[0])
	}
	if f.RequestHeaderCA != "" {
		r.watch([]string{f.RequestHeaderCA}, r.setProxyCA, nil, c.authentication.RequestHeader.ClientCA)
	}
	if f.ProxyClientCertificate != "" {
		r.watch([]string{f.ProxyClientCertificate, f.ProxyClientKey}, func(contents [][]byte) error {
			return c.server.ProxyCertificate.Set(contents[0], contents[1])
		}, nil, c.proxyCertificate[0], c.proxyCertificate[1])
	}
	for i, n := range f.NamedCertificates {
		r.watch([]string{n.Certificate, n.Key}, func(contents [][]byte) error {
			return r.setCertificates(func(c *httptest.Certificates) {
				c.Named = slices.Clone(c.Named)
				c.Named[i].Certificate, c.Named[i].Key = contents[0], contents[1]
			})
		}, nil, c.http.Named[i].Certificate, c.http.Named[i].Key)
	}
	if f.AuthenticationConfig != "" {
		text := c.authentication.Config
		r.watch([]string{f.AuthenticationConfig}, r.setAuthentication, metrics.NewReloads("authentication", text), text)
	}
	if f.AuthorizationConfig != "" {
		text := c.authorization.Config
		r.watch([]string{f.AuthorizationConfig}, r.setAuthorization, metrics.NewReloads("authorization", text), text)
	}
	if r.watcher.Len() == 0 && f.Certificate == "" && c.server.Plugins.ConfigFile == "" {
		return nil
	}
	return r
}

// watch calls set with the contents of files when they change. counts counts the results,
// unless it is nil. contents are those of the start.
func (r *reloader) watch(names []string, set func(contents [][]byte) error, counts *metrics.Reloads, contents ...[]byte) {
	now := r.config.server.Clock.Now
	if counts != nil {
		r.config.server.Reloads = append(r.config.server.Reloads, counts)
	}
	done := func(contents [][]byte, err error) {
		switch {
		case counts == nil:
		case err == nil:
			counts.Succeeded(now(), contents[0])
		default:
			counts.Failed(now())
		}
		if r.files.OnReload != nil {
			r.files.OnReload(names[0], err)
		}
	}
	r.watcher.Add(filewatch.Group{
		Names:      names,
		Changed:    func(contents [][]byte) { done(contents, set(contents)) },
		Unreadable: func(err error) { done(nil, err) },
	}, contents...)
}

// attach gives a server the newest certificates, and those of later reloads until detach.
func (r *reloader) attach(s *Server) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.files; f.Certificate != "" && !r.watchesCertificate {
		if err := r.watchCertificate(f.Certificate, f.Key); err != nil {
			return err
		}
	}
	if s.config.http.TLS && !s.InMemory() {
		if err := s.http.SetCertificates(r.certs); err != nil {
			return err
		}
	}
	r.servers[s] = struct{}{}
	r.run(s)
	return nil
}

// upgraded watches the folders of admission plugins that the new release of a server has.
func (r *reloader) upgraded(s *Server) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, attached := r.servers[s]; attached {
		r.run(s)
	}
}

// run watches the folders of the release of an attached server, and starts the goroutine if
// there are files to watch.
func (r *reloader) run(s *Server) {
	if !r.watchesManifests {
		r.watchManifests(s)
	}
	if r.stop == nil && r.watcher.Len() > 0 {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.watcher.Run(ctx)
		}()
		r.stop = func() {
			cancel()
			<-ended
		}
	}
}

// watchCertificate watches the certificate of the server, which the start of the first
// server may have written.
func (r *reloader) watchCertificate(certificate, key string) error {
	if len(r.certs.Certificate) == 0 {
		var err error
		if r.certs.Certificate, err = inputfile.Read(certificate); err != nil {
			return err
		}
		if r.certs.Key, err = inputfile.Read(key); err != nil {
			return err
		}
	}
	r.watchesCertificate = true
	r.watch([]string{certificate, key}, func(contents [][]byte) error {
		return r.setCertificates(func(c *httptest.Certificates) { c.Certificate, c.Key = contents[0], contents[1] })
	}, nil, r.certs.Certificate, r.certs.Key)
	return nil
}

// watchManifests watches the folders of admission plugins.
func (r *reloader) watchManifests(s *Server) {
	for _, m := range s.api.Manifests() {
		r.watchesManifests = true
		reload := func() {
			err := r.reloadManifests(m.Plugin)
			if r.files.OnReload != nil {
				r.files.OnReload(m.Dir, err)
			}
		}
		r.watcher.Add(filewatch.Group{
			List:       m.Files,
			Changed:    func([][]byte) { reload() },
			Unreadable: func(error) { reload() },
		}, m.Set.Contents...)
	}
}

// reloadManifests reads the folder of an admission plugin again, for each server. It returns the
// first error.
func (r *reloader) reloadManifests(plugin string) (first error) {
	r.mu.Lock()
	servers := slices.Collect(maps.Keys(r.servers))
	r.mu.Unlock()
	for _, s := range servers {
		if s.frontEnd {
			continue // of another server, which is among them
		}
		if err := s.api.ReloadManifests(plugin); first == nil {
			first = err
		}
	}
	return first
}

// detach ends attach. The last server ends the goroutine.
func (r *reloader) detach(s *Server) {
	if r == nil {
		return
	}
	r.mu.Lock()
	delete(r.servers, s)
	stop := r.stop
	if len(r.servers) > 0 {
		stop = nil
	} else {
		r.stop = nil
	}
	r.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// setCertificates changes what the servers present to clients. If the new certificates are not
// valid, it changes nothing.
func (r *reloader) setCertificates(change func(*httptest.Certificates)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	certs := r.certs
	change(&certs)
	for s := range r.servers {
		if err := s.http.SetCertificates(certs); err != nil {
			return err
		}
	}
	r.certs = certs
	return nil
}

// parseCAs returns the CAs in a file.
func parseCAs(flag, name string, text []byte) ([]*x509.Certificate, error) {
	if len(text) == 0 {
		return nil, fmt.Errorf("missing content for CA bundle %q", flag+"::"+name)
	}
	cas := parseCertificates(text)
	if cas == nil {
		return nil, fmt.Errorf("error loading CA bundle for %q: data does not contain any valid RSA or ECDSA certificates", flag+"::"+name)
	}
	return cas, nil
}

func (r *reloader) setClientCA(contents [][]byte) error {
	cas, err := parseCAs("client-ca-bundle", r.files.ClientCA, contents[0])
	if err != nil {
		return err
	}
	return r.setCAs(r.config.server.Auth.ClientCAs, &r.clientCAs, cas)
}

func (r *reloader) setProxyCA(contents [][]byte) error {
	cas, err := parseCAs("request-header", r.files.RequestHeaderCA, contents[0])
	if err != nil {
		return err
	}
	return r.setCAs(r.config.server.Auth.RequestHeader.CAs, &r.proxyCAs, cas)
}

// setCAs replaces CAs that verify certificates, and their list.
func (r *reloader) setCAs(verify *authn.CAs, list *[]*x509.Certificate, cas []*x509.Certificate) error {
	verify.Replace(poolOf(cas))
	r.mu.Lock()
	*list = cas
	servers := slices.Collect(maps.Keys(r.servers))
	r.mu.Unlock()
	if r.config.http.TLS && !r.config.http.InMemory {
		err := r.setCertificates(func(c *httptest.Certificates) {
			c.ClientCAs = poolOf(slices.Concat(r.clientCAs, r.proxyCAs))
		})
		if err != nil {
			return err
		}
	}
	for _, s := range servers {
		if err := r.publish(s); err != nil {
			return err
		}
	}
	return nil
}

func (r *reloader) setAuthentication(contents [][]byte) error {
	c := r.config
	accounts := c.authentication.ServiceAccountIssuers
	before, _, err := c.issuers(c.authentication, accounts)
	if err != nil {
		return err
	}
	file, issuers, err := c.issuers(&apiserver.Authentication{Config: contents[0]}, accounts)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(before.Anonymous, file.Anonymous) {
		return errors.New("anonymous: Forbidden: changed from initial configuration file")
	}
	c.server.Auth.Issuers.Replace(issuers)
	return nil
}

func (r *reloader) setAuthorization(contents [][]byte) error {
	modes, err := chain.Load(contents[0], r.config.authorizationOptions())
	if err != nil {
		return err
	}
	return r.config.server.Auth.Modes.Replace(modes)
}

// setProxyCertificate sets the client certificate for aggregated API servers.
func (c *config) setProxyCertificate() error {
	c.server.ProxyCertificate = &aggregator.Certificate{}
	if err := c.server.ProxyCertificate.Set(c.proxyCertificate[0], c.proxyCertificate[1]); err != nil {
		return optionError(fmt.Errorf("the client certificate for aggregated API servers: %w", err))
	}
	return nil
}
