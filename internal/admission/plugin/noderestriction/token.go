package noderestriction

import (
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// checkServiceAccount allows to request tokens that are bound to pods on the node.
func checkServiceAccount(a *admission.Attributes, node string) error {
	if a.Operation != admission.Create || a.Subresource != "token" {
		return nil
	}
	ref := object.Map(a.Object, "spec", "boundObjectRef")
	uid := object.String(ref, "uid")
	switch {
	case object.String(ref, "apiVersion") != "v1" || object.String(ref, "kind") != "Pod" || object.String(ref, "name") == "":
		return errors.New("node requested token not bound to a pod")
	case uid == "":
		return errors.New("node requested token with a pod binding without a uid")
	}
	pod, err := get(a, "Pod", a.Namespace, object.String(ref, "name"))
	switch {
	case err != nil:
		return err
	case pod.String("metadata", "uid") != uid:
		return fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", uid)
	case nodeName(pod) != node:
		return errors.New("node requested token bound to a pod scheduled on a different node")
	case !a.Access.Release().Enabled("ServiceAccountNodeAudienceRestriction"):
		return nil
	}
	return checkAudience(a, pod)
}

// checkAudience allows the audiences that the volumes of the pod need, and those that the
// kubelet is authorized for.
func checkAudience(a *admission.Attributes, pod object.View) error {
	audiences := object.Strings(a.Object, "spec", "audiences")
	if len(audiences) > 1 {
		return errors.New("node may only request 0 or 1 audiences")
	}
	audience := ""
	if len(audiences) == 1 {
		audience = audiences[0]
	}
	found, err := needsAudience(a, pod, audience)
	switch {
	case err != nil:
		return fmt.Errorf("error validating audience %q: %w", audience, err)
	case found:
		return nil
	case !a.Access.Release().Has(behavior.AuthorizesTokenAudiences):
		return fmt.Errorf("audience %q not found in pod spec volume", audience)
	}
	d := authorize(a, "request-serviceaccounts-token-audience", audience, a.Name)
	if d.Allowed {
		return nil
	}
	named := a.Access.Release().Has(behavior.AuthorizesSigners)
	switch {
	case d.Err != nil && named:
		return fmt.Errorf("error authorizing %s to request tokens for audience %q: %w", a.User.Name, audience, d.Err)
	case d.Err != nil:
		return fmt.Errorf("audience %q not found in pod spec volume, error authorizing %s to request tokens for this audience: %w", audience, a.User.Name, d.Err)
	case named:
		return fmt.Errorf("%s is not authorized to request tokens for audience %q", a.User.Name, audience)
	}
	return fmt.Errorf("audience %q not found in pod spec volume, %s is not authorized to request tokens for this audience", audience, a.User.Name)
}

// authorize decides whether the user of a request may do what is no API request: a verb of what stands
// in the place of a resource.
func authorize(a *admission.Attributes, verb, resource, name string) authz.Decision {
	return a.Access.Authorize(authz.Attributes{
		Verb: verb, IsResource: true,
		Group: a.Type.Group, Version: a.Type.Version, Resource: resource, Namespace: a.Namespace, Name: name,
	})
}

// needsAudience reports whether a volume of a pod needs tokens for an audience: a projected
// one, or one whose CSI driver requests them.
func needsAudience(a *admission.Attributes, pod object.View, audience string) (bool, error) {
	var errs []error
	for v := range pod.At("spec", "volumes").Objects() {
		for source := range v.At("projected", "sources").Objects() {
			if token := source.At("serviceAccountToken"); !token.IsNil() && token.String("audience") == audience {
				return true, nil
			}
		}
		driver, err := driverOf(a, pod, v)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if driver == "" {
			continue
		}
		stored := a.Reader.Get(driverKind, "", driver)
		if stored.IsNil() {
			errs = append(errs, status.NotFound(status.GroupResource{Group: "storage.k8s.io", Resource: "csidriver"}, driver))
			continue
		}
		for request := range stored.At("spec", "tokenRequests").Objects() {
			if request.String("audience") == audience {
				return true, nil
			}
		}
	}
	if len(errs) > 0 {
		return false, errors.New(status.Aggregate(errs))
	}
	return false, nil
}

var driverKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "storage.k8s.io", Version: "v1"}, Kind: "CSIDriver"}

// driverOf returns the name of the CSI driver of a volume, "" if it has none.
func driverOf(a *admission.Attributes, pod, v object.View) (string, error) {
	if claim := pods.VolumeClaimName(pod.String("metadata", "name"), v); claim != "" {
		return driverOfClaim(a, claim)
	}
	if csi := v.At("csi"); !csi.IsNil() {
		return csi.String("driver"), nil
	}
	return migrated(a, v), nil
}

// driverOfClaim returns the name of the CSI driver of a claim's volume, "" if it has none.
func driverOfClaim(a *admission.Attributes, name string) (string, error) {
	claim, err := get(a, "PersistentVolumeClaim", a.Namespace, name)
	if err != nil {
		return "", err
	}
	pv, err := get(a, "PersistentVolume", "", claim.String("spec", "volumeName"))
	if err != nil {
		return "", err
	}
	spec := pv.At("spec")
	if csi := spec.At("csi"); !csi.IsNil() {
		return csi.String("driver"), nil
	}
	return migrated(a, spec), nil
}

// migratedSources are the sources of volumes that CSI drivers serve in place of Kubernetes.
var migratedSources = []struct{ source, driver string }{
	{"awsElasticBlockStore", "ebs.csi.aws.com"},
	{"azureDisk", "disk.csi.azure.com"},
	{"azureFile", "file.csi.azure.com"},
	{"cinder", "cinder.csi.openstack.org"},
	{"gcePersistentDisk", "pd.csi.storage.gke.io"},
	{"portworxVolume", "pxd.portworx.com"},
	{"vsphereVolume", "csi.vsphere.vmware.com"},
}

// migrated returns the CSI driver that serves the source of a volume in place of
// Kubernetes, "" for none.
func migrated(a *admission.Attributes, source object.View) string {
	if !a.Access.Release().Has(behavior.TokensOfMigratedVolumes) {
		return ""
	}
	for _, m := range migratedSources {
		if !source.IsNil(m.source) {
			return m.driver
		}
	}
	return ""
}
