package httptest

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// A Kubeconfig says how a Kubernetes client reaches a server and as whom. All
// but Server may be left empty.
type Kubeconfig struct {
	// Server is the base URL.
	Server string
	// CertificateAuthority is the PEM of what the client trusts for TLS. If
	// empty, it trusts what its system trusts.
	CertificateAuthority []byte
	// Token is a bearer token.
	Token string
	// ClientCertificate and ClientKey are PEM, as [IssueClient] returns them.
	ClientCertificate, ClientKey []byte
	// Namespace is where clients work that name none. Empty means "default".
	Namespace string
}

// YAML returns the kubeconfig file: one cluster, one user and one context, the
// current one, each called fakeapi.
func (k Kubeconfig) YAML() []byte {
	var b strings.Builder
	// Values are JSON strings, which are YAML strings whatever they contain.
	field := func(indent, name, value string) {
		if value == "" {
			return
		}
		quoted, err := json.Marshal(value)
		if err != nil { // strings always marshal
			panic(err)
		}
		b.WriteString(indent + name + ": " + string(quoted) + "\n")
	}
	data := base64.StdEncoding.EncodeToString

	b.WriteString("apiVersion: v1\nkind: Config\n")
	b.WriteString("clusters:\n- name: fakeapi\n  cluster:\n")
	field("    ", "server", k.Server)
	field("    ", "certificate-authority-data", data(k.CertificateAuthority))
	if k.Token == "" && len(k.ClientCertificate) == 0 && len(k.ClientKey) == 0 {
		b.WriteString("users:\n- name: fakeapi\n  user: {}\n")
	} else {
		b.WriteString("users:\n- name: fakeapi\n  user:\n")
		field("    ", "token", k.Token)
		field("    ", "client-certificate-data", data(k.ClientCertificate))
		field("    ", "client-key-data", data(k.ClientKey))
	}
	b.WriteString("contexts:\n- name: fakeapi\n  context:\n    cluster: fakeapi\n    user: fakeapi\n")
	field("    ", "namespace", k.Namespace)
	b.WriteString("current-context: fakeapi\n")
	return []byte(b.String())
}

// WriteFile writes the kubeconfig to a file that only its owner may read. An
// existing file is replaced in one step: readers see the old content or the
// new, never a part.
func (k Kubeconfig) WriteFile(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(k.YAML())
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
