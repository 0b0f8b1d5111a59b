package pods

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func checkProjectedVolume(p validation.View) {
	checkFileDefaults(p)
	seen := validation.Seen{}
	// addPath reports a path that another source uses.
	addPath := func(file string, value any) {
		if seen[file] {
			p.Add(validation.Invalid(p.Path, value, "conflicting duplicate paths"))
		}
		seen[file] = true
	}
	for _, source := range p.Each("sources") {
		sources := 0
		each := func(name string, rule func(validation.View)) {
			if projection, ok := source.Lookup(name); ok {
				sources++
				rule(projection)
			}
		}
		keys := func(s validation.View) {
			s.Require("name")
			for _, item := range s.Each("items") {
				checkKeyToPath(item)
				if file := item.String("path"); file != "" {
					addPath(file, s.String("name"))
				}
			}
		}
		each("secret", keys)
		each("configMap", keys)
		each("downwardAPI", func(s validation.View) {
			for _, file := range s.Each("items") {
				file.Path = s.Path
				checkDownwardAPIFile(file)
				if name := file.String("path"); name != "" {
					addPath(name, name)
				}
			}
		})
		each("serviceAccountToken", func(s validation.View) {
			switch n := s.Int("expirationSeconds"); {
			case n < volumes.MinTokenExpiration:
				s.Invalid("expirationSeconds", "may not specify a duration less than 10 minutes")
			case n > volumes.MaxTokenExpiration:
				s.Invalid("expirationSeconds", "may not specify a duration larger than 2^32 seconds")
			}
			file := validation.View{Obj: s.Obj, Path: p.Path, Errs: s.Errs}
			file.Require("path")
			checkFilePath(file, "path")
			volumes.CheckUser(s, "user")
		})
		each("clusterTrustBundle", func(s validation.View) {
			checkTrustBundle(s)
			addPath(s.String("path"), s.String("path"))
			volumes.CheckUser(s, "user")
		})
		each("podCertificate", func(s validation.View) {
			checkPodCertificate(s, addPath)
			volumes.CheckUser(s, "user")
		})
		if sources > 1 {
			source.Add(validation.Forbidden(source.Path, "may not specify more than 1 volume type per source"))
		}
	}
}

func checkTrustBundle(p validation.View) {
	named, signed := p.Has("name"), p.Has("signerName")
	switch {
	case named && signed:
		p.Add(validation.Invalid(p.Path, validation.AsGoType("core.ClusterTrustBundleProjection", p.Obj), "only one of name and signerName may be used"))
	case named:
		name := p.String("name")
		if name == "" {
			p.Required("name", "must be a valid object name")
		}
		for _, message := range validation.ClusterTrustBundleName(signerFromName(name))(name, false) {
			p.Invalid("name", "not a valid clustertrustbundlename: "+message)
		}
		if p.Has("labelSelector") {
			p.Invalid("labelSelector", "labelSelector must be unset if name is specified")
		}
	case signed:
		if p.String("signerName") == "" {
			p.Required("signerName", "must be a valid signer name")
		}
		p.AddList(validation.SignerName(p.String("signerName"), p.At("signerName")))
		p.LabelSelector("labelSelector", validation.LabelSelectorOptions{})
	default:
		p.Add(validation.Required(p.Path, "either name or signerName must be specified"))
	}
	p.Require("path")
	checkFilePath(p, "path")
}

// signerFromName returns the signer in the name of a ClusterTrustBundle, or "".
func signerFromName(bundle string) string {
	i := strings.LastIndex(bundle, ":")
	if i < 0 {
		return ""
	}
	return strings.ReplaceAll(bundle[:i], ":", "/")
}

var certificateKeyTypes = []string{"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"}

func checkPodCertificate(p validation.View, addPath func(file string, value any)) {
	signer := p.String("signerName")
	p.AddList(validation.SignerName(signer, p.At("signerName")))
	p.AddList(validation.UserAnnotations(object.Map(p.Obj, "userAnnotations"), p.At("userAnnotations")))
	if keyType := p.String("keyType"); !slices.Contains(certificateKeyTypes, keyType) {
		p.Add(validation.NotSupported(p.At("keyType"), keyType, certificateKeyTypes))
	}
	if p.Has("maxExpirationSeconds") {
		shortest, longest := validation.PodCertificateSeconds(signer)
		n := p.Int("maxExpirationSeconds")
		if n < shortest {
			p.Invalid("maxExpirationSeconds", fmt.Sprintf("if provided, maxExpirationSeconds must be >= %d", shortest))
		}
		if n > longest {
			p.Invalid("maxExpirationSeconds", fmt.Sprintf("if provided, maxExpirationSeconds must be <= %d", longest))
		}
	}
	paths := 0
	for _, name := range []string{"credentialBundlePath", "keyPath", "certificateChainPath"} {
		if file := p.String(name); file != "" {
			paths++
			checkFilePath(p, name)
			addPath(file, file)
		}
	}
	if paths == 0 {
		p.Add(validation.Required(p.Path, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"))
	}
}
