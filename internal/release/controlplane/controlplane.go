// Package controlplane builds and starts a real etcd and kube-apiserver of a Kubernetes version,
// to record what they answer. It needs the Go module proxy.
package controlplane

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Bearer tokens that a Server accepts: of the user admin in the group system:masters, and of the
// user alice in the group devs, who has no rights.
const (
	AdminToken = "admintoken"
	tokens     = AdminToken + `,admin,admin,"system:masters"` + "\n" + `alicetoken,alice,alice,"devs"` + "\n"
)

// Executables are the paths of the programs of a control plane.
type Executables struct{ APIServer, Etcd string }

// Version returns the version that the kube-apiserver prints, such as "v1.36.3".
func (e Executables) Version(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, e.APIServer, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", e.APIServer, err)
	}
	return strings.TrimSpace(strings.TrimPrefix(string(out), "Kubernetes ")), nil
}

// A Server is a running etcd and a running kube-apiserver, whose only client is the caller.
type Server struct {
	// URL is that of the kube-apiserver. Its certificate is self-signed.
	URL string
	// Etcd is the client URL of etcd.
	Etcd string

	dir       string
	processes []process
}

// A process is one that was started; ended is closed when it has ended.
type process struct {
	*exec.Cmd
	ended chan struct{}
}

// advertised is the address in the endpoints of the Service kubernetes. No client uses it.
const advertised = "192.0.2.2"

// readyTimeout is how long a server may take to become ready on a busy machine.
const readyTimeout = 15 * time.Minute

// Start starts a server with an empty etcd, and waits until it is ready. flags are flags of
// kube-apiserver beside those that Start sets: RBAC, services in 10.0.0.0/24, no admission plugin
// ServiceAccount. The caller must stop the server. The processes end with ctx too.
func Start(ctx context.Context, e Executables, flags ...string) (s *Server, err error) {
	s = &Server{}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if s.dir, err = os.MkdirTemp("", "kube-apiserver-"); err != nil {
		return nil, err
	}
	addresses, err := freeAddresses(3)
	if err != nil {
		return nil, err
	}
	if err := writeCredentials(s.dir); err != nil {
		return nil, err
	}
	s.Etcd, s.URL = "http://"+addresses[0], "https://"+addresses[2]
	peers := "http://" + addresses[1]
	if err := s.run(ctx, e.Etcd, "--data-dir", "etcd", "--unsafe-no-fsync",
		"--listen-client-urls", s.Etcd, "--advertise-client-urls", s.Etcd,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers); err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(addresses[2])
	if err := s.run(ctx, e.APIServer, append([]string{
		"--etcd-servers=" + s.Etcd, "--bind-address=" + host, "--secure-port=" + port, "--advertise-address=" + advertised, "--cert-dir=certs",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=sa.key", "--service-account-signing-key-file=sa.key",
		"--service-cluster-ip-range=10.0.0.0/24", "--authorization-mode=RBAC", "--token-auth-file=tokens.csv",
		"--disable-admission-plugins=ServiceAccount", "--allow-privileged=true",
	}, flags...)...); err != nil {
		return nil, err
	}
	return s, s.waitReady(ctx)
}

// run starts a process in the folder of the server, with its output in a file there.
func (s *Server) run(ctx context.Context, executable string, arguments ...string) error {
	path, err := filepath.Abs(executable)
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(s.dir, filepath.Base(path)+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, path, arguments...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	p := process{cmd, make(chan struct{})}
	go func() {
		defer close(p.ended)
		cmd.Wait()
	}()
	s.processes = append(s.processes, p)
	return nil
}

// waitReady waits until the kube-apiserver is ready. Its error has the end of the server's log.
func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: 2 * time.Second}
	defer client.CloseIdleConnections()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/readyz", nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+AdminToken)
		if resp, err := client.Do(req); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		server := s.processes[1]
		select {
		case <-server.ended:
			return fmt.Errorf("%s ended: %s\n%s", server.Path, server.ProcessState, s.logEnd())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s", server.Path, ctx.Err(), s.logEnd())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// logEnd returns the last lines of the kube-apiserver's log.
func (s *Server) logEnd() string {
	text, err := os.ReadFile(filepath.Join(s.dir, filepath.Base(s.processes[1].Path)+".log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// Stop ends the processes and removes their files.
func (s *Server) Stop() {
	for i := len(s.processes) - 1; i >= 0; i-- {
		s.processes[i].Process.Kill()
		<-s.processes[i].ended
	}
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}

// freeAddresses returns loopback addresses on which nothing listens.
func freeAddresses(n int) (addresses []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}

// writeCredentials writes the tokens and the key of service accounts.
func writeCredentials(dir string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := pem.Encode(&out, &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "sa.key"), out.Bytes(), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "tokens.csv"), []byte(tokens), 0o600)
}
