package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/kubefake/kubefake/internal/kubeconfig"
)

// defaultAddress is where serve listens, and where other commands look for a server,
// if no flag says otherwise.
const defaultAddress = "127.0.0.1:8080"

// A target holds the flags that select a running server.
type target struct {
	server     string // a URL, or an address
	kubeconfig string
}

// given reports whether a server is selected.
func (t target) given() bool { return t.server != "" || t.kubeconfig != "" }

// cluster returns the selected server. If serve has written a kubeconfig for it to
// defaultKubeconfig, cluster takes the scheme and the credentials from there.
func (t target) cluster(ctx context.Context) (*kubeconfig.Cluster, error) {
	if t.kubeconfig != "" {
		return kubeconfig.Load(ctx, t.kubeconfig, "")
	}
	server, hasScheme := t.server, strings.Contains(t.server, "://")
	if !hasScheme {
		server = "http://" + server
	}
	at, err := url.Parse(server)
	if err != nil || at.Host == "" {
		return nil, &usageError{fmt.Errorf("--server: %q is not a URL", t.server)}
	}
	plain := kubeconfig.At(server)
	if file, err := servedKubeconfig(at.Host); err == nil {
		if c, err := kubeconfig.Load(ctx, file, ""); err == nil && (c.URL == plain.URL || !hasScheme) {
			return c, nil
		}
	}
	return plain, nil
}

// remedy says which flag helps against an error of a request to the selected server. It
// begins with a semicolon, and is "" if no flag is known to help.
func (t target) remedy(err error) string {
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "; start fakeapi serve, or give --server or --kubeconfig"
	case errors.As(err, &certificate) && t.kubeconfig == "":
		return "; give --kubeconfig, with the file of serve --kubeconfig, which has the CA certificate of the server"
	}
	return ""
}

// remedyOf is remedy for an answer with a status code.
func (t target) remedyOf(code int, server string) string {
	switch {
	case t.kubeconfig != "":
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return "; give --kubeconfig, with the file of a user who may read /debug/fakeapi/, such as that of serve --kubeconfig"
	case code == http.StatusBadRequest && strings.HasPrefix(server, "http://"):
		return "; give --kubeconfig, or --server with https://, if the server has TLS"
	}
	return ""
}

// servedFolder returns the folder of the kubeconfigs of servers.
func servedFolder() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "fakeapi"), err
}

// servedKubeconfig returns the file to which serve writes the kubeconfig of a server
// by default. Servers that run at the same time have different files, because they
// have different hosts.
func servedKubeconfig(host string) (string, error) {
	dir, err := servedFolder()
	if err != nil {
		return "", err
	}
	name := strings.NewReplacer(":", "-", "[", "", "]", "").Replace(host)
	return filepath.Join(dir, name+".kubeconfig"), nil
}
