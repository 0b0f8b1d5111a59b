// Package encryption checks an EncryptionConfiguration, the file of the flag
// --encryption-provider-config of kube-apiserver. Objects in memory are not encrypted.
//
// See https://kubernetes.io/docs/tasks/administer-cluster/encrypt-data/.
package encryption

import (
	"errors"
	"fmt"
	"time"

	"github.com/kubefake/kubefake/internal/configfile"
)

// configuration is an EncryptionConfiguration of apiserver.config.k8s.io.
type configuration struct {
	Resources []rule `json:"resources"`
}

// A rule configures the providers of some resources. The first provider writes.
type rule struct {
	Resources []string   `json:"resources"` // as in "secrets", "deployments.apps", "*.apps", "*." and "*.*"
	Providers []provider `json:"providers"`
}

// A provider has exactly one of the fields.
type provider struct {
	AESGCM    *keys     `json:"aesgcm"`
	AESCBC    *keys     `json:"aescbc"`
	Secretbox *keys     `json:"secretbox"`
	Identity  *struct{} `json:"identity"`
	KMS       *kms      `json:"kms"`
}

// keys are those of a provider.
type keys struct {
	Keys []key `json:"keys"`
}

// A key is a secret in base64.
type key struct {
	Name   string `json:"name"`
	Secret string `json:"secret"`
}

// kms configures a KMS plugin.
type kms struct {
	APIVersion string               `json:"apiVersion"`
	Name       string               `json:"name"`
	CacheSize  *int32               `json:"cachesize"`
	Endpoint   string               `json:"endpoint"`
	Timeout    *configfile.Duration `json:"timeout"`
}

// The versions of the API of KMS plugins.
const (
	kmsV1 = "v1"
	kmsV2 = "v2"
)

// setDefaults sets the fields of the plugin that the file omits.
func (k *kms) setDefaults() {
	if k.Timeout == nil {
		k.Timeout = &configfile.Duration{Duration: 3 * time.Second}
	}
	if k.APIVersion == "" {
		k.APIVersion = kmsV1
	}
	if k.CacheSize == nil && k.APIVersion == kmsV1 {
		size := int32(1000)
		k.CacheSize = &size
	}
}

// Options are what Check needs beside the file.
type Options struct {
	// Minor is that of the release.
	Minor int
	// Reload is whether the flag --encryption-provider-config-automatic-reload is on.
	Reload bool
	// KMSv1 is whether the feature gate of this name is on.
	KMSv1 bool
}

// Check returns the error of kube-apiserver for the text of a file of a name, nil if it is valid.
func Check(name string, text []byte, o Options) error {
	if len(text) == 0 {
		return fmt.Errorf("error while parsing file: error while loading file: encryption provider configuration file %q is empty", name)
	}
	var c configuration
	var other *configfile.OtherKindError
	switch err := configfile.Decode(text, "EncryptionConfiguration", []string{"v1"}, o.Minor, &c); {
	case errors.As(err, &other):
		return fmt.Errorf("error while parsing file: got unexpected config type: %s, Kind=%s", other.Got.APIVersion, other.Got.Kind)
	case err != nil:
		return fmt.Errorf("error while parsing file: error decoding encryption provider configuration file %q: %w", name, err)
	}
	for _, r := range c.Resources {
		for _, p := range r.Providers {
			if p.KMS != nil {
				p.KMS.setDefaults()
			}
		}
	}
	if errs := c.validate(o.Reload); len(errs) > 0 {
		return fmt.Errorf("error while parsing file: %s", errs.Message())
	}
	if err := c.build(o.KMSv1); err != nil {
		return fmt.Errorf("error while building transformers: %w", err)
	}
	return nil
}

// build returns the error for a provider that is off, or for a resource that an earlier rule includes.
func (c *configuration) build(kmsV1On bool) error {
	rules := map[groupResource]bool{}
	for _, r := range c.Resources {
		for _, p := range r.Providers {
			if p.KMS != nil && p.KMS.APIVersion == kmsV1 && !kmsV1On {
				return errors.New("KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.")
			}
		}
		for _, text := range r.Resources {
			gr := parse(text)
			for _, wide := range []groupResource{{"*", gr.group}, everything} {
				if rules[wide] {
					return fmt.Errorf("resource %q is masked by earlier rule %q", gr, wide)
				}
			}
			rules[gr] = true
		}
	}
	return nil
}
