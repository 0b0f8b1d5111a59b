package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/crossorigin"
	"github.com/kubefake/kubefake/internal/inputfile"
)

// statePath is the path at which etcd keeps the state of a kube-apiserver that has
// stopped. A GET returns it, and a PUT replaces it. The query parameter prefix names one
// of several states, as --etcd-prefix does.
const statePath = "/fakeapi/state"

// maxStates is the size of all states that an etcd keeps.
const maxStates = 256 << 20

// etcdTimeout is the longest time of a request to etcd.
const etcdTimeout = 10 * time.Second

// A stateKeeper keeps states in memory. Requests of web pages of other sites, and those
// to unknown host names, fail.
type stateKeeper struct {
	mu     sync.Mutex // guards states
	states map[string][]byte
}

// ServeHTTP implements [http.Handler].
func (k *stateKeeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := crossorigin.Check(r, nil, nil); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	name := r.URL.Query().Get("prefix")
	switch r.Method {
	case http.MethodGet:
		k.mu.Lock()
		state := k.states[name]
		k.mu.Unlock()
		if state == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Write(state)
	case http.MethodPut:
		state, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxStates))
		if err == nil {
			err = k.put(name, state)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		}
	default:
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// put keeps a state, if there is room for it.
func (k *stateKeeper) put(name string, state []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	size := len(state)
	for other, s := range k.states {
		if other != name {
			size += len(s)
		}
	}
	if size > maxStates {
		return fmt.Errorf("the states exceed %d MiB", maxStates>>20)
	}
	if k.states == nil {
		k.states = map[string][]byte{}
	}
	k.states[name] = state
	return nil
}

// An etcdClient loads and stores the state of a kube-apiserver. Another etcd than that of
// this executable, or none, keeps no state.
type etcdClient struct {
	servers                   []string
	prefix                    string
	caFile, certFile, keyFile string
}

// load returns the state that the first etcd that answers keeps; nil if there is none.
func (c *etcdClient) load(ctx context.Context) (io.Reader, error) {
	resp, err := c.send(ctx, http.MethodGet, nil)
	if resp == nil || err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/x-ndjson" {
		return nil, nil
	}
	state, err := io.ReadAll(resp.Body)
	return bytes.NewReader(state), err
}

// store hands the state of a server to the first etcd that answers.
func (c *etcdClient) store(srv *fakeapi.Server) error {
	var state bytes.Buffer
	if err := srv.WriteState(&state); err != nil {
		return err
	}
	resp, err := c.send(context.Background(), http.MethodPut, state.Bytes())
	if resp == nil || err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusRequestEntityTooLarge {
		text, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("etcd does not keep the state: %s", strings.TrimSpace(string(text)))
	}
	return nil
}

// send sends a request to the first server that answers. It returns nil if none listens.
func (c *etcdClient) send(ctx context.Context, method string, body []byte) (*http.Response, error) {
	config, err := c.tls()
	if err != nil {
		return nil, fmt.Errorf("error creating storage factory: %w", err)
	}
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
	client := &http.Client{Transport: transport, Timeout: etcdTimeout}
	var failed error
	for _, server := range c.servers {
		socket, isSocket := strings.CutPrefix(server, "unix://")
		transport.DialContext = nil
		switch {
		case isSocket:
			transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", socket)
			}
			server = "http://localhost"
		case !strings.Contains(server, "://"):
			server = "http://" + server
		}
		req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(server, "/")+statePath+"?prefix="+url.QueryEscape(c.prefix), bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("--etcd-servers: %w", err)
		}
		resp, err := client.Do(req)
		if err == nil {
			return resp, nil
		}
		var dial *net.OpError
		if method == http.MethodPut && !(errors.As(err, &dial) && dial.Op == "dial") {
			failed = err
		}
	}
	return nil, failed
}

// tls returns the configuration of the flags that begin with --etcd.
func (c *etcdClient) tls() (*tls.Config, error) {
	config := &tls.Config{}
	if c.caFile != "" {
		text, err := inputfile.Read(c.caFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(text)
	}
	if (c.certFile == "") != (c.keyFile == "") {
		return nil, fmt.Errorf("KeyFile and CertFile must both be present[key: %s, cert: %s]", c.keyFile, c.certFile)
	}
	if c.certFile != "" {
		pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
