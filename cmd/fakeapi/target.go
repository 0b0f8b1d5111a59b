package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

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

// servedKubeconfig returns the file to which serve writes the kubeconfig of a server
// by default. Servers that run at the same time have different files, because they
// have different hosts.
func servedKubeconfig(host string) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	name := strings.NewReplacer(":", "-", "[", "", "]", "").Replace(host)
	return filepath.Join(dir, "fakeapi", name+".kubeconfig"), nil
}
