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
	// Name is the name of the cluster, the user and the context. Empty means "fakeapi".
	Name string
	// Others are further servers, each with a Name, whose Others are ignored.
	Others []Kubeconfig
	// Namespace is the default namespace of the client. Empty means "default", which the
	// file has too: clients for Java have no namespace without it.
	Namespace string
}

// YAML returns the kubeconfig file. It has a cluster, a user and a context for k, which is the current
// one, and for each of Others. The cluster of an http URL has insecure-skip-tls-verify, without which
// the JavaScript client refuses the URL.
func (k Kubeconfig) YAML() []byte {
	var b strings.Builder
	all := append([]Kubeconfig{k}, k.Others...)
	for i := range all {
		all[i].Name = cmp.Or(all[i].Name, "fakeapi")
	}
	b.WriteString("apiVersion: v1\nkind: Config\n")
	for _, section := range []struct {
		name  string
		write func(Kubeconfig, *strings.Builder)
	}{{"clusters", Kubeconfig.writeCluster}, {"users", Kubeconfig.writeUser}, {"contexts", Kubeconfig.writeContext}} {
		b.WriteString(section.name + ":\n")
		for _, k := range all {
			b.WriteString("- name: " + k.quotedName() + "\n")
			section.write(k, &b)
		}
	}
	b.WriteString("current-context: " + all[0].quotedName() + "\n")
	return []byte(b.String())
}

func (k Kubeconfig) writeCluster(b *strings.Builder) {
	b.WriteString("  cluster:\n")
	writeField(b, "server", k.Server)
	if strings.HasPrefix(k.Server, "http:") {
		b.WriteString("    insecure-skip-tls-verify: true\n")
	}
	writeField(b, "certificate-authority-data", base64.StdEncoding.EncodeToString(k.CertificateAuthority))
}

func (k Kubeconfig) writeUser(b *strings.Builder) {
	if k.Token == "" && len(k.ClientCertificate) == 0 && len(k.ClientKey) == 0 {
		b.WriteString("  user: {}\n")
		return
	}
	b.WriteString("  user:\n")
	writeField(b, "token", k.Token)
	writeField(b, "client-certificate-data", base64.StdEncoding.EncodeToString(k.ClientCertificate))
	writeField(b, "client-key-data", base64.StdEncoding.EncodeToString(k.ClientKey))
}

func (k Kubeconfig) writeContext(b *strings.Builder) {
	b.WriteString("  context:\n    cluster: " + k.quotedName() + "\n    user: " + k.quotedName() + "\n")
	writeField(b, "namespace", cmp.Or(k.Namespace, "default"))
}

// quotedName returns the name as YAML: the default one as it is.
func (k Kubeconfig) quotedName() string {
	if k.Name == "fakeapi" {
		return k.Name
	}
	return quoted(k.Name)
}

// writeField writes a field, unless its value is empty.
func writeField(b *strings.Builder, name, value string) {
	if value != "" {
		b.WriteString("    " + name + ": " + quoted(value) + "\n")
	}
}

// quoted returns a JSON string, which is a valid YAML string.
func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil { // unreachable: strings marshal
		panic(err)
	}
	return string(out)
}
