package encryption

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/validation"
)

// validate returns what is wrong with the configuration. reload is whether the file is read again
// when it changes.
func (c *configuration) validate(reload bool) validation.List {
	root := validation.NewPath("resources")
	if len(c.Resources) == 0 {
		return validation.List{atLeastOne(root, "resources")}
	}
	var errs validation.List
	names := map[string]bool{} // of KMS plugins
	for i, r := range c.Resources {
		resources, providers := root.Index(i).Child("resources"), root.Index(i).Child("providers")
		if len(r.Resources) == 0 {
			errs = append(errs, atLeastOne(resources, resources.String()))
		}
		errs = append(errs, validateOverlap(r.Resources, resources)...)
		for j, text := range r.Resources {
			if detail := resourceError(text); detail != "" {
				errs = append(errs, validation.Invalid(resources.Index(j), text, detail))
			}
		}
		if len(r.Providers) == 0 {
			errs = append(errs, atLeastOne(providers, providers.String()))
		}
		for j, p := range r.Providers {
			errs = append(errs, p.validate(providers.Index(j), names, reload)...)
		}
	}
	return errs
}

func atLeastOne(path *validation.Path, what string) *validation.Error {
	return validation.Required(path, fmt.Sprintf("at least one %s is required", what))
}

func mandatory(path *validation.Path, field, of string) *validation.Error {
	return validation.Required(path, mandatoryDetail(field, of))
}

func mandatoryDetail(field, of string) string {
	return fmt.Sprintf("%s is a mandatory field for a %s", field, of)
}

// validateOverlap checks that no resource of a rule includes another one.
func validateOverlap(texts []string, path *validation.Path) (errs validation.List) {
	again, overlap := false, false
	for i, text := range texts {
		a := parse(text)
		for _, other := range texts[i+1:] {
			b := parse(other)
			again = again || a == b
			overlap = overlap || a == everything || b == everything || a.group == b.group && (a.resource == "*" || b.resource == "*")
		}
	}
	if again {
		errs = append(errs, validation.Invalid(path, texts, "the same resource cannot be specified multiple times"))
	}
	if overlap {
		errs = append(errs, validation.Invalid(path, texts, "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"))
	}
	return errs
}

// resourceError returns what is wrong with a resource of a rule, "" if nothing is.
func resourceError(text string) string {
	gr := parse(text)
	switch {
	case strings.ToLower(text) != text:
		return "resource name should not contain capital letters"
	case text == "*":
		return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
	case slices.Contains([]string{"apiserveripinfo", "serviceipallocations", "servicenodeportallocations"}, text):
		return "resources which do not have REST API/s cannot be encrypted"
	case gr.group == "events.k8s.io":
		return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file"
	case gr.group == "extensions":
		return "'extensions' group has been removed and cannot be used for encryption"
	case gr.group == "*" && gr.resource != "*":
		return "encrypting the same resource across groups is not supported"
	}
	return ""
}

// validate checks a provider. names are those of the KMS plugins before it; it adds its own.
func (p provider) validate(path *validation.Path, names map[string]bool, reload bool) (errs validation.List) {
	found := 0
	for _, given := range []bool{p.KMS != nil, p.AESGCM != nil, p.AESCBC != nil, p.Secretbox != nil, p.Identity != nil} {
		if given {
			found++
		}
	}
	switch {
	case found == 0:
		errs = append(errs, validation.Invalid(path, p.internal(), "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"))
	case found > 1:
		errs = append(errs, validation.Invalid(path, p.internal(), "more than one provider specified in a single element, should split into different list elements"))
	}
	switch {
	case p.KMS != nil:
		errs = append(errs, p.KMS.validate(path.Child("kms"), names, reload)...)
		names[p.KMS.Name] = true
	case p.AESGCM != nil:
		errs = append(errs, p.AESGCM.validate(path.Child("aesgcm").Child("keys"), 16, 24, 32)...)
	case p.AESCBC != nil:
		errs = append(errs, p.AESCBC.validate(path.Child("aescbc").Child("keys"), 16, 24, 32)...)
	case p.Secretbox != nil:
		errs = append(errs, p.Secretbox.validate(path.Child("secretbox").Child("keys"), 32)...)
	}
	return errs
}

// internal returns the provider as errors print it: with the names that the fields have in Go.
func (p provider) internal() any {
	type key struct{ Name, Secret string }
	type keyed struct{ Keys []key }
	convert := func(k *keys) *keyed {
		if k == nil {
			return nil
		}
		out := &keyed{}
		for _, k := range k.Keys {
			out.Keys = append(out.Keys, key(k))
		}
		return out
	}
	type plugin struct {
		APIVersion string
		Name       string
		CacheSize  *int32
		Endpoint   string
		Timeout    string
	}
	out := struct {
		AESGCM    *keyed
		AESCBC    *keyed
		Secretbox *keyed
		Identity  *struct{}
		KMS       *plugin
	}{convert(p.AESGCM), convert(p.AESCBC), convert(p.Secretbox), p.Identity, nil}
	if k := p.KMS; k != nil {
		out.KMS = &plugin{k.APIVersion, k.Name, k.CacheSize, k.Endpoint, k.Timeout.String()}
	}
	return out
}

// validate checks the keys, whose secrets have one of the lengths in bytes.
func (k *keys) validate(path *validation.Path, lengths ...int) (errs validation.List) {
	if len(k.Keys) == 0 {
		errs = append(errs, atLeastOne(path, "keys"))
	}
	for i, k := range k.Keys {
		if k.Name == "" {
			errs = append(errs, mandatory(path.Index(i).Child("name"), "name", "key"))
		}
		at := path.Index(i).Child("secret")
		if k.Secret == "" {
			errs = append(errs, mandatory(at, "secret", "key"))
			continue
		}
		switch secret, err := base64.StdEncoding.DecodeString(k.Secret); {
		case err != nil:
			errs = append(errs, validation.Invalid(at, "REDACTED", "secrets must be base64 encoded"))
		case !slices.Contains(lengths, len(secret)):
			errs = append(errs, validation.Invalid(at, "REDACTED", fmt.Sprintf("secret is not of the expected length, got %d, expected one of %v", len(secret), lengths)))
		}
	}
	return errs
}

// validate checks a KMS plugin. names are those of the plugins before it.
func (k *kms) validate(path *validation.Path, names map[string]bool, reload bool) (errs validation.List) {
	name := path.Child("name")
	if k.Name == "" {
		errs = append(errs, mandatory(name, "name", "provider"))
	}
	if k.APIVersion != kmsV1 && strings.Contains(k.Name, ":") {
		errs = append(errs, validation.Invalid(name, k.Name, fmt.Sprintf("invalid KMS provider name %s, must not contain ':'", k.Name)))
	}
	if (reload || k.APIVersion != kmsV1) && names[k.Name] {
		errs = append(errs, validation.Invalid(name, k.Name, fmt.Sprintf("duplicate KMS provider name %s, names must be unique", k.Name)))
	}
	if k.Timeout.Duration <= 0 {
		errs = append(errs, validation.Invalid(path.Child("timeout"), validation.NamedString(k.Timeout.String()), "timeout should be a positive value"))
	}
	if detail := endpointError(k.Endpoint); detail != "" {
		errs = append(errs, validation.Invalid(path.Child("endpoint"), k.Endpoint, detail))
	}
	switch size := path.Child("cachesize"); {
	case k.APIVersion != kmsV1 && k.CacheSize != nil:
		errs = append(errs, validation.Invalid(size, *k.CacheSize, "cachesize is not supported in v2"))
	case k.APIVersion == kmsV1 && *k.CacheSize == 0:
		errs = append(errs, validation.Invalid(size, *k.CacheSize, "cachesize should be a positive value, or negative to disable"))
	}
	if k.APIVersion != kmsV1 && k.APIVersion != kmsV2 {
		errs = append(errs, validation.Invalid(path.Child("apiVersion"), k.APIVersion, "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported"))
	}
	return errs
}

// endpointError returns what is wrong with the URL of a KMS plugin, "" if nothing is.
func endpointError(endpoint string) string {
	if endpoint == "" {
		return mandatoryDetail("endpoint", "kms")
	}
	switch u, err := url.Parse(endpoint); {
	case err != nil:
		return fmt.Sprintf("invalid endpoint for kms provider, error: %v", err)
	case u.Scheme != "unix":
		return fmt.Sprintf("unsupported scheme %q for KMS provider, only unix is supported", u.Scheme)
	}
	return ""
}
