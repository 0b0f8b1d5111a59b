package validation

import (
	"fmt"
	"strings"
)

// A NameFunc checks the names of a kind. If prefix is true, name is a
// generateName, to which a random suffix is added later. It returns one message
// for each rule that is broken.
type NameFunc func(name string, prefix bool) []string

// SubdomainName is the rule for the names of most kinds, including custom
// resources: a DNS-1123 subdomain.
func SubdomainName(name string, prefix bool) []string {
	return DNS1123Subdomain(completed(name, prefix))
}

// LabelName is the rule for the names of Namespaces, Services and StatefulSets:
// a DNS-1123 label.
func LabelName(name string, prefix bool) []string {
	return DNS1123Label(completed(name, prefix))
}

// DNS1035LabelName is the rule for the names of Services before Kubernetes
// 1.36: a DNS-1035 label.
func DNS1035LabelName(name string, prefix bool) []string {
	return DNS1035Label(completed(name, prefix))
}

// completed returns the text to check for a prefix: the generated name continues
// after a dash at its end. It replaces the dash and the character before it by "a",
// as kube-apiserver does.
func completed(name string, prefix bool) string {
	if prefix && len(name) > 1 && strings.HasSuffix(name, "-") {
		return name[:len(name)-2] + "a"
	}
	return name
}

// UnprefixedName is the rule of declarative validation, for the names of
// ReplicationControllers and DeviceClasses: a subdomain. It does not check a
// prefix, only the complete name.
func UnprefixedName(name string, prefix bool) []string {
	if prefix {
		return nil
	}
	return LongName(name)
}

// PathSegmentName is the rule for the names of all kinds, in addition to the
// kind's own: a segment of a URL path.
func PathSegmentName(name string, prefix bool) []string {
	if prefix {
		return pathSegmentPrefix(name)
	}
	return PathSegment(name)
}

// RBACName is the rule for the names of roles and their bindings: a path
// segment. A prefix is checked like a name.
func RBACName(name string, _ bool) []string {
	return PathSegment(name)
}

// AnyName is the rule for the names of CertificateSigningRequests: all are
// valid.
func AnyName(string, bool) []string {
	return nil
}

// LeaseCandidateName is the rule for the names of LeaseCandidates: the format
// of ConfigMap keys.
func LeaseCandidateName(name string, _ bool) []string {
	return ConfigMapKey(name)
}

// IPAddressName is the rule for the names of IPAddresses: the address in
// canonical form.
func IPAddressName(name string, _ bool) []string {
	var msgs []string
	for _, e := range IP(name, nil) {
		msgs = append(msgs, e.Detail)
	}
	return msgs
}

// StorageVersionName is the rule for the names of StorageVersions: group, dot,
// resource.
func StorageVersionName(name string, _ bool) []string {
	i := strings.LastIndex(name, ".")
	if i < 0 {
		return []string{"name must be in the form of <group>.<resource>"}
	}
	var msgs []string
	for _, m := range DNS1123Subdomain(name[:i]) {
		msgs = append(msgs, "the group segment "+m)
	}
	for _, m := range DNS1035Label(name[i+1:]) {
		msgs = append(msgs, "the resource segment "+m)
	}
	return msgs
}

// ClusterTrustBundleName returns the rule for the names of ClusterTrustBundles
// of a signer: the signer's name with its slash replaced, a colon and a
// subdomain. Without a signer, the name is a subdomain.
func ClusterTrustBundleName(signer string) NameFunc {
	return func(name string, prefix bool) []string {
		if signer == "" {
			if strings.Contains(name, ":") {
				return []string{`ClusterTrustBundle without signer name must not have ":" in its name`}
			}
			return SubdomainName(name, prefix)
		}
		required := strings.ReplaceAll(signer, "/", ":") + ":"
		rest, ok := strings.CutPrefix(name, required)
		if !ok {
			return []string{fmt.Sprintf("ClusterTrustBundle for signerName %s must be named with prefix %s", signer, required)}
		}
		return SubdomainName(rest, prefix)
	}
}

// DefinitionName returns the rule for the name of a CustomResourceDefinition
// with this plural and group.
func DefinitionName(plural, group string) NameFunc {
	return func(name string, prefix bool) []string {
		msgs := SubdomainName(name, prefix)
		if name != plural+"."+group {
			msgs = append(msgs, `must be spec.names.plural+"."+spec.group`)
		}
		return msgs
	}
}

// APIServiceName returns the rule for the name of an APIService with this
// version and group. A prefix is checked like a name.
func APIServiceName(version, group string) NameFunc {
	required := version + "." + group
	return func(name string, _ bool) []string {
		if msgs := PathSegment(name); len(msgs) > 0 {
			return msgs
		}
		if name != required {
			return []string{fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", required)}
		}
		return nil
	}
}
