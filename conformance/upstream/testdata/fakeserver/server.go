// Package fakeserver starts the program kube-apiserver of this project for tests that were
// written for kube-apiserver. The program upstream copies it into the modules of Kubernetes,
// so it imports nothing of this project.
package fakeserver

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/featuregate"
)

// Variables of the environment, which the program upstream sets.
const (
	// BinVariable names the folder with a folder of executables for each minor release.
	BinVariable = "FAKESERVER_BIN"
	// EtcdVariable is the URL of the program etcd.
	EtcdVariable = "KUBE_INTEGRATION_ETCD_URL"
)

// adminToken is the token of the user of Config. It is a member of system:masters, like the
// loopback client of kube-apiserver.
const adminToken = "fakeserver-loopback"

// A Server is a process.
type Server struct {
	URL string
	dir string

	cmd    *exec.Cmd
	ended  chan struct{}
	output bytes.Buffer // complete when ended is closed
}

// Start starts a kube-apiserver of a minor release, such as "1.36", with flags as Changed
// returns them. Its certificates are in the folder dir. Unless ready is false, Start returns
// when the server is ready.
func Start(dir, minor string, flags []string, ready bool) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	flags, err = withAdmin(dir, flags)
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "https://127.0.0.1:" + port, dir: dir, ended: make(chan struct{})}
	flags = append(flags, "--bind-address=127.0.0.1", "--secure-port="+port, "--cert-dir="+dir, "--etcd-servers="+os.Getenv(EtcdVariable))
	s.cmd = exec.Command(filepath.Join(os.Getenv(BinVariable), minor+".0-local", "kube-apiserver"), flags...)
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.ended)
		s.cmd.Wait()
	}()
	if err := s.wait(ready); err != nil {
		s.Stop()
		return nil, fmt.Errorf("%w\nflags: %q\n%s", err, flags, s.output.String())
	}
	return s, nil
}

// Config returns the configuration of a client that may do everything. It speaks protobuf
// where it can, as the loopback client of kube-apiserver.
func (s *Server) Config() *rest.Config {
	c := &rest.Config{Host: s.URL, BearerToken: adminToken, QPS: 1000, Burst: 10000, DisableCompression: true}
	c.ContentType = "application/vnd.kubernetes.protobuf"
	if certificate, err := os.ReadFile(s.CertFile()); err == nil {
		c.CAData = certificate
	} else {
		c.Insecure = true
	}
	return c
}

// Port returns the port of the server.
func (s *Server) Port() int {
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "https://"), ":")
	n, _ := strconv.Atoi(port)
	return n
}

// CertFile returns the file of the server's certificate. It does not exist if the flags name
// another one.
func (s *Server) CertFile() string { return filepath.Join(s.dir, "apiserver.crt") }

// Stop ends the process and waits for it.
func (s *Server) Stop() {
	s.cmd.Process.Signal(os.Interrupt)
	select {
	case <-s.ended:
	case <-time.After(10 * time.Second):
		s.cmd.Process.Kill()
		<-s.ended
	}
}

// wait waits until the server answers, and until it is ready if ready is true.
func (s *Server) wait(ready bool) error {
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true,
	}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/readyz", nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+adminToken)
		if res, err := client.Do(req); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK || !ready {
				return nil
			}
		}
		select {
		case <-s.ended:
			return errors.New("kube-apiserver ended")
		case <-ctx.Done():
			return errors.New("kube-apiserver is not ready after a minute")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// WriteKey writes a key that signs the tokens of service accounts, and returns its file.
func WriteKey(dir string) (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "account.key")
	return file, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}

// withAdmin returns the flags with the token of the administrator in the file of tokens.
func withAdmin(dir string, flags []string) ([]string, error) {
	const name = "--token-auth-file="
	tokens := adminToken + `,system:apiserver,system:apiserver,"system:masters"` + "\n"
	var out []string
	for _, flag := range flags {
		file, ok := strings.CutPrefix(flag, name)
		if !ok {
			out = append(out, flag)
			continue
		}
		given, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		tokens += string(given)
	}
	file := filepath.Join(dir, "fakeserver-tokens.csv")
	return append(out, name+file), os.WriteFile(file, []byte(tokens), 0o600)
}

// Changed returns the flags whose values are not the default ones, by flag or by the options
// behind it. It leaves out those that Start sets and those of logs.
func Changed(sets map[string]*pflag.FlagSet) []string {
	var out []string
	for _, set := range sets {
		set.VisitAll(func(f *pflag.Flag) {
			switch f.Name {
			case "bind-address", "secure-port", "cert-dir", "etcd-servers", "feature-gates", "emulated-version", "min-compatibility-version", "vmodule", "logging-format":
				return
			}
			value := f.Value.String()
			if value == f.DefValue {
				return
			}
			if f.Value.Type() == "namedCertKey" { // a list that is printed as [A;B]
				for _, one := range strings.Split(strings.Trim(value, "[]"), ";") {
					out = append(out, "--"+f.Name+"="+one)
				}
				return
			}
			if list, ok := f.Value.(pflag.SliceValue); ok {
				value = strings.Join(list.GetSlice(), ",")
			} else if f.Value.Type() == "stringSlice" || f.Value.Type() == "stringToString" { // printed as [A,B]
				value = strings.Trim(value, "[]")
			}
			out = append(out, "--"+f.Name+"="+value)
		})
	}
	return out
}

// Gates returns the flag for the gates of a process that do not have their default, nil if
// there are none.
func Gates(gates featuregate.MutableVersionedFeatureGate) []string {
	defaults := gates.DeepCopyAndReset()
	if err := defaults.SetEmulationVersion(gates.EmulationVersion()); err != nil {
		panic(err) // unreachable: it is the version of gates
	}
	var changed []string
	for _, all := range []featuregate.Feature{"AllAlpha", "AllBeta"} { // they change many others
		if on := gates.Enabled(all); on != defaults.Enabled(all) {
			changed = append(changed, fmt.Sprintf("%s=%t", all, on))
		}
	}
	if err := defaults.Set(strings.Join(changed, ",")); err != nil {
		panic(err) // unreachable: both are gates
	}
	for name := range gates.GetAll() {
		if on := gates.Enabled(name); on != defaults.Enabled(name) {
			changed = append(changed, fmt.Sprintf("%s=%t", name, on))
		}
	}
	if changed == nil {
		return nil
	}
	slices.Sort(changed)
	return []string{"--feature-gates=" + strings.Join(changed, ",")}
}

// Minor returns the release that a process emulates, such as "1.36".
func Minor(gates featuregate.MutableVersionedFeatureGate) string {
	return fmt.Sprintf("%d.%d", gates.EmulationVersion().Major(), gates.EmulationVersion().Minor())
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
