package validation

import (
	"fmt"
	"strings"
)

// FullyQualifiedName checks a subdomain of at least three labels.
func FullyQualifiedName(s string, path *Path) List {
	if s == "" {
		return List{Required(path, "")}
	}
	if msgs := DNS1123Subdomain(s); len(msgs) > 0 {
		return List{Invalid(path, s, strings.Join(msgs, ","))}
	}
	if strings.Count(s, ".") < 2 {
		return List{Invalid(path, s, "should be a domain with at least three segments separated by dots")}
	}
	return nil
}

// FullyQualifiedDomainName checks a subdomain of at least two labels, each of
// at most 63 bytes. It may end with a dot.
func FullyQualifiedDomainName(s string, path *Path) List {
	if s == "" {
		return List{Required(path, "")}
	}
	s = strings.TrimSuffix(s, ".")
	if msgs := DNS1123Subdomain(s); len(msgs) > 0 {
		return List{Invalid(path, s, strings.Join(msgs, ","))}
	}
	if !strings.Contains(s, ".") {
		return List{Invalid(path, s, "should be a domain with at least two segments separated by dots")}
	}
	for _, label := range strings.Split(s, ".") {
		if msgs := DNS1123Label(label); len(msgs) > 0 {
			return List{Invalid(path, label, strings.Join(msgs, ","))}
		}
	}
	return nil
}

// DomainPrefixedPath checks a subdomain, a slash and the characters of an HTTP
// path: "acme.io/foo".
func DomainPrefixedPath(s string, path *Path) List {
	if s == "" {
		return List{Required(path, "")}
	}
	host, rest, _ := strings.Cut(s, "/")
	if host == "" || rest == "" {
		return List{Invalid(path, s, `must be a domain-prefixed path (such as "acme.io/foo")`)}
	}
	list := Each(path, host, DNS1123Subdomain(host))
	for i := range len(rest) {
		if !(letter | digit).has(rest[i]) && strings.IndexByte("/-._~%!$&'()*+,;=:", rest[i]) < 0 {
			return append(list, Invalid(path, rest, RegexpMessage("Invalid path", httpPathRE)))
		}
	}
	return list
}

// DomainPrefixedKey checks a qualified name with a prefix.
func DomainPrefixedKey(s string, path *Path) List {
	if s == "" {
		return List{Required(path, "")}
	}
	if msgs := QualifiedName(s); len(msgs) > 0 {
		return Each(path, s, msgs)
	}
	if !strings.Contains(s, "/") {
		return List{Invalid(path, s, `must be a domain-prefixed key (such as "acme.io/foo")`)}
	}
	return nil
}

// SignerName checks the name of a certificate signer: a domain, a slash and a
// path of subdomains, "example.com/signer-name".
func SignerName(s string, path *Path) List {
	if s == "" {
		return List{Required(path, "")}
	}
	domain, rest, ok := strings.Cut(s, "/")
	if !ok || strings.Contains(rest, "/") {
		return List{Invalid(path, s, "must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	var list List
	if len(domain) > DNS1123SubdomainMaxLength {
		list = append(list, TooLong(path, DNS1123SubdomainMaxLength))
	}
	list = append(list, eachPart(path, domain, DNS1123Label)...)
	if !strings.Contains(domain, ".") {
		list = append(list, Invalid(path, domain, "should be a domain with at least two segments separated by dots"))
	}
	list = append(list, eachPart(path, rest, DNS1123Subdomain)...)
	if len(s) > signerMaxLength {
		list = append(list, TooLong(path, signerMaxLength))
	}
	return list
}

// PodCertificateSeconds returns the shortest and the longest lifetime, in seconds, of the
// certificates that Pods ask of a signer. Signers of Kubernetes itself issue short ones.
func PodCertificateSeconds(signer string) (shortest, longest int64) {
	const hour = 60 * 60
	if host, _, _ := strings.Cut(signer, "/"); host == "kubernetes.io" || strings.HasSuffix(host, ".kubernetes.io") {
		return hour, 24 * hour
	}
	return hour, 91 * 24 * hour
}

// eachPart checks the parts of s between dots, up to the first invalid one.
func eachPart(path *Path, s string, format func(string) []string) List {
	for _, part := range strings.Split(s, ".") {
		var list List
		for _, m := range format(part) {
			list = append(list, Invalid(path, s, fmt.Sprintf("validating label %q: %s", part, m)))
		}
		if len(list) > 0 {
			return list
		}
	}
	return nil
}
