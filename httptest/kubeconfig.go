package httptest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// A Kubeconfig has the address of a server and the credentials of a client. All
// fields but Server are optional.
type Kubeconfig struct {
	// Server is the base URL.
	Server string
	// CertificateAuthority is the CA certificate of the server in PEM. If it is empty,
	// the client uses the system's CAs.
	CertificateAuthority []byte
	// Token is a bearer token.
	Token string
	// ClientCertificate and ClientKey are PEM, as [IssueClient] returns them.
	ClientCertificate, ClientKey []byte
	// Namespace is the default namespace of the client. Empty means "default", which the
	// file has too: clients for Java have no namespace without it.
	Namespace string
}

// YAML returns the kubeconfig file. It has one cluster, one user and one context,
// which is the current one, each named fakeapi. The cluster of an http URL has
// insecure-skip-tls-verify, without which the JavaScript client refuses the URL.
func (k Kubeconfig) YAML() []byte {
	var b strings.Builder
	// JSON strings are valid YAML strings.
	field := func(indent, name, value string) {
		if value == "" {
			return
		}
		quoted, err := json.Marshal(value)
		if err != nil { // unreachable: strings marshal
			panic(err)
		}
		b.WriteString(indent + name + ": " + string(quoted) + "\n")
	}
	data := base64.StdEncoding.EncodeToString

	b.WriteString("apiVersion: v1\nkind: Config\n")
	b.WriteString("clusters:\n- name: fakeapi\n  cluster:\n")
	field("    ", "server", k.Server)
	if strings.HasPrefix(k.Server, "http:") {
		b.WriteString("    insecure-skip-tls-verify: true\n")
	}
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
	field("    ", "namespace", cmp.Or(k.Namespace, "default"))
	b.WriteString("current-context: fakeapi\n")
	return []byte(b.String())
}
