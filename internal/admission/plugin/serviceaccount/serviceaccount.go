// Package serviceaccount is the ServiceAccount admission plugin. A pod gets a
// ServiceAccount, which must exist, its image pull secrets, and a volume with its token.
package serviceaccount

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Mutator] and [admission.Validator].
type Plugin struct{}

var (
	_ admission.Mutator   = Plugin{}
	_ admission.Validator = Plugin{}
)

// Name returns "ServiceAccount".
func (Plugin) Name() string { return "ServiceAccount" }

// Resources returns pods.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "pods"}}
}

const (
	defaultAccount = "default"

	// volumePrefix begins the name of a volume with a token, and mountPath is where containers have it.
	volumePrefix = "kube-api-access-"
	mountPath    = "/var/run/secrets/kubernetes.io/serviceaccount"

	// enforceAnnotation limits the pods of a ServiceAccount to the Secrets that it lists.
	enforceAnnotation = "kubernetes.io/enforce-mountable-secrets"
)

// Mutate completes a new pod, except for a mirror pod, and checks it as Validate does.
func (p Plugin) Mutate(a *admission.Attributes) error {
	if a.Operation != admission.Create || a.Subresource != "" {
		return nil
	}
	if pods.IsMirror(object.ViewOf(a.Object)) {
		return p.Validate(a)
	}
	spec := object.Copy(object.Map(a.Object, "spec")) // others may share what is in it
	a.Object["spec"] = spec
	if object.String(spec, "serviceAccountName") == "" {
		spec["serviceAccountName"], spec["serviceAccount"] = defaultAccount, defaultAccount
	}
	account, err := accountOf(a)
	if err != nil {
		return err
	}
	if mountsToken(spec, account) {
		mountToken(spec, a.Access.GenerateName)
	}
	if len(object.List(spec, "imagePullSecrets")) == 0 {
		if secrets := pullSecrets(account); len(secrets) > 0 {
			spec["imagePullSecrets"] = secrets
		}
	}
	return p.Validate(a)
}

// Validate checks a new pod, and new ephemeral containers.
func (Plugin) Validate(a *admission.Attributes) error {
	switch {
	case a.Operation == admission.Update && a.Subresource == "ephemeralcontainers":
		return checkAccount(a, checkEphemeralContainers)
	case a.Operation != admission.Create || a.Subresource != "":
		return nil
	case pods.IsMirror(object.ViewOf(a.Object)):
		return checkMirrorPod(a.Object)
	}
	return checkAccount(a, checkSecrets)
}

// checkMirrorPod refuses what a mirror pod must not refer to.
func checkMirrorPod(pod map[string]any) error {
	switch {
	case object.String(pod, "spec", "serviceAccountName") != "":
		return errors.New("a mirror pod may not reference service accounts")
	case len(pods.SecretNames(pod)) > 0:
		return errors.New("a mirror pod may not reference secrets")
	}
	for v := range object.Each(object.Value(pod, "spec", "volumes")) {
		for source := range object.Each(object.Value(v, "projected", "sources")) {
			if source["serviceAccountToken"] != nil {
				return errors.New("a mirror pod may not use ServiceAccountToken volume projections")
			}
		}
	}
	return nil
}

// checkAccount checks that the pod has a ServiceAccount, and the Secrets that the pod refers to if
// the ServiceAccount asks for it.
func checkAccount(a *admission.Attributes, secrets func(pod map[string]any, account object.View) error) error {
	if object.String(a.Object, "spec", "serviceAccountName") == "" {
		return fmt.Errorf("no service account specified for pod %s/%s", a.Namespace, object.String(a.Object, "metadata", "name"))
	}
	account, err := accountOf(a)
	if err != nil {
		return err
	}
	if enforced, _ := strconv.ParseBool(account.String("metadata", "annotations", enforceAnnotation)); !enforced {
		return nil
	}
	return secrets(a.Object, account)
}

var accountKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "ServiceAccount"}

// A controller creates the ServiceAccount "default" of a new namespace, so that a pod waits for it.
const (
	attempts     = 10
	betweenTries = 100 * time.Millisecond
)

// accountOf returns the ServiceAccount of a pod.
func accountOf(a *admission.Attributes) (object.View, error) {
	name := object.String(a.Object, "spec", "serviceAccountName")
	for i := 1; ; i++ {
		if account := a.Reader.Get(accountKind, a.Namespace, name); !account.IsNil() {
			return account, nil
		}
		if name != defaultAccount || i == attempts || !a.Access.Wait(betweenTries) {
			return object.View{}, fmt.Errorf("error looking up service account %s/%s: serviceaccount %q not found", a.Namespace, name, name)
		}
	}
}

// mountsToken reports whether the containers of a pod get the token: the pod decides, or else its
// ServiceAccount.
func mountsToken(spec map[string]any, account object.View) bool {
	for _, obj := range []object.View{object.ViewOf(spec), account} {
		if mount := obj.At("automountServiceAccountToken"); !mount.IsNil() {
			return mount.Bool()
		}
	}
	return true
}

// mountToken gives the pod a volume with a token, and all its containers a mount of it, unless they
// have another one there.
func mountToken(spec map[string]any, generateName func(prefix string) string) {
	volumes := object.List(spec, "volumes")
	name := ""
	if i := slices.IndexFunc(volumes, isTokenVolume); i >= 0 {
		name = volumeName(volumes[i])
	}
	known := name != ""
	if !known {
		name = generateName(volumePrefix)
	}
	mounted := false
	for _, list := range []string{"initContainers", "containers"} {
		for c := range object.Each(spec[list]) {
			mounts := object.List(c, "volumeMounts")
			if slices.ContainsFunc(mounts, isTokenMount) {
				continue
			}
			c["volumeMounts"] = append(mounts, map[string]any{"name": name, "readOnly": true, "mountPath": mountPath})
			mounted = true
		}
	}
	if mounted && !known {
		spec["volumes"] = append(volumes, tokenVolume(name))
	}
}

func volumeName(volume any) string {
	v, _ := volume.(map[string]any)
	return object.String(v, "name")
}

func isTokenVolume(volume any) bool { return strings.HasPrefix(volumeName(volume), volumePrefix) }

func isTokenMount(mount any) bool {
	m, _ := mount.(map[string]any)
	return object.String(m, "mountPath") == mountPath
}

// tokenVolume returns the volume of a token, of the CA of the cluster and of the name of the namespace.
func tokenVolume(name string) map[string]any {
	return map[string]any{"name": name, "projected": map[string]any{
		"defaultMode": int64(0o644),
		"sources": []any{
			map[string]any{"serviceAccountToken": map[string]any{"path": "token", "expirationSeconds": int64(3607)}},
			map[string]any{"configMap": map[string]any{
				"name":  "kube-root-ca.crt",
				"items": []any{map[string]any{"key": "ca.crt", "path": "ca.crt"}},
			}},
			map[string]any{"downwardAPI": map[string]any{"items": []any{map[string]any{
				"path": "namespace", "fieldRef": map[string]any{"apiVersion": "v1", "fieldPath": "metadata.namespace"},
			}}}},
		},
	}}
}

// pullSecrets returns the image pull secrets of a ServiceAccount, by their names only.
func pullSecrets(account object.View) (secrets []any) {
	for ref := range account.At("imagePullSecrets").Objects() {
		secret := map[string]any{}
		if name := ref.String("name"); name != "" {
			secret["name"] = name
		}
		secrets = append(secrets, secret)
	}
	return secrets
}

// checkSecrets refuses Secrets of a pod that its ServiceAccount does not list.
func checkSecrets(pod map[string]any, account object.View) error {
	listed := names(account, "secrets")
	for v := range object.Each(object.Value(pod, "spec", "volumes")) {
		if secret := object.Map(v, "secret"); secret != nil {
			if name := object.String(secret, "secretName"); !slices.Contains(listed, name) {
				return fmt.Errorf(`volume with secret.secretName="%s" is not allowed because service account %s does not reference that secret`, name, account.String("metadata", "name"))
			}
		}
	}
	if err := checkEnv(pod, account, "init container", "initContainers"); err != nil {
		return err
	}
	if err := checkEnv(pod, account, "container", "containers"); err != nil {
		return err
	}
	listed = names(account, "imagePullSecrets")
	for i, ref := range object.List(pod, "spec", "imagePullSecrets") {
		m, _ := ref.(map[string]any)
		if name := object.String(m, "name"); !slices.Contains(listed, name) {
			return fmt.Errorf(`imagePullSecrets[%d].name="%s" is not allowed because service account %s does not reference that imagePullSecret`, i, name, account.String("metadata", "name"))
		}
	}
	return nil
}

// checkEphemeralContainers is checkSecrets for the ephemeral containers of a pod.
func checkEphemeralContainers(pod map[string]any, account object.View) error {
	if err := checkEnv(pod, account, "ephemeral container", "ephemeralContainers"); err != nil {
		return status.Unclassified(err.Error()) // kube-apiserver does not take it for a refusal
	}
	return nil
}

// checkEnv refuses Secrets in the environments of containers that the ServiceAccount does not list. what
// names a container of the list in errors.
func checkEnv(pod map[string]any, account object.View, what, list string) error {
	listed := names(account, "secrets")
	check := func(ref map[string]any, format string, of ...any) error {
		name := object.String(ref, "name")
		if ref == nil || slices.Contains(listed, name) {
			return nil
		}
		return fmt.Errorf(`%s referencing secret.secretName="%s" is not allowed because service account %s does not reference that secret`,
			fmt.Sprintf(format, of...), name, account.String("metadata", "name"))
	}
	for c := range object.Each(object.Value(pod, "spec", list)) {
		for env := range object.Each(c["env"]) {
			if err := check(object.Map(env, "valueFrom", "secretKeyRef"), "%s %s with envVar %s", what, object.String(c, "name"), object.String(env, "name")); err != nil {
				return err
			}
		}
		for from := range object.Each(c["envFrom"]) {
			if err := check(object.Map(from, "secretRef"), "%s %s with envFrom", what, object.String(c, "name")); err != nil {
				return err
			}
		}
	}
	return nil
}

// names returns the names in a list of references.
func names(obj object.View, list string) (all []string) {
	for ref := range obj.At(list).Objects() {
		all = append(all, ref.String("name"))
	}
	return all
}
