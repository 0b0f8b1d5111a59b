package access_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

var asNode = []string{"Authorization", "Bearer node-token"}

// startNode starts a server with the mode Node and the plugin NodeRestriction. n1 and n2
// each have a pod, with what pods refer to.
func startNode(t *testing.T, options ...fakeapi.Option) *fakeapi.Server {
	return fakeapi.Start(t, append(options, fakeapi.WithInMemory(),
		fakeapi.WithAPIServer(apiserver.Config{Authorization: &apiserver.Authorization{Modes: []string{"Node", "RBAC"}}}),
		fakeapi.WithAPIServer(apiserver.Config{EnableAdmissionPlugins: []string{"NodeRestriction"}}),
		fakeapi.WithToken("node-token", fakeapi.User{Name: "system:node:n1", Groups: []string{"system:nodes"}}),
		fakeapi.WithToken("empty-token", fakeapi.User{Name: "system:node:", Groups: []string{"system:nodes"}}),
		fakeapi.WithToken("other-token", fakeapi.User{Name: "system:node:n1"}),
		fakeapi.WithObjects(`
{apiVersion: v1, kind: Node, metadata: {name: n1, uid: u1}}
---
apiVersion: v1
kind: Pod
metadata: {name: p1, namespace: default}
spec:
  nodeName: n1
  serviceAccountName: robot1
  imagePullSecrets: [{name: pull}]
  resourceClaims: [{name: named, resourceClaimName: claim1}, {name: made, resourceClaimTemplateName: t}]
  containers: [{name: c, image: i, resources: {claims: [{name: named}, {name: made}]}, envFrom: [{secretRef: {name: env}}], env: [{name: E, valueFrom: {configMapKeyRef: {name: key, key: k}}}]}]
  volumes: [{name: a, persistentVolumeClaim: {claimName: pvc1}}, {name: b, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1}}}}}}, {name: c, secret: {secretName: file}}, {name: d, projected: {sources: [{configMap: {name: part}}]}}]
status: {resourceClaimStatuses: [{name: made, resourceClaimName: claim2}]}
---
apiVersion: v1
kind: Pod
metadata: {name: p2, namespace: default}
spec: {nodeName: n2, serviceAccountName: robot2, containers: [{name: c, image: i}], volumes: [{name: a, secret: {secretName: theirs}}, {name: b, persistentVolumeClaim: {claimName: pvc2}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: mirror, namespace: default, annotations: {kubernetes.io/config.mirror: x}}
spec: {nodeName: n1, containers: [{name: c, image: i}], volumes: [{name: a, secret: {secretName: theirs}}]}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv1}
spec: {accessModes: [ReadOnlyMany], capacity: {storage: 1}, claimRef: {namespace: default, name: pvc1}, csi: {driver: d, volumeHandle: h, nodeStageSecretRef: {namespace: vault, name: stage}, controllerPublishSecretRef: {namespace: vault, name: publish}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv2}
spec: {accessModes: [ReadOnlyMany], capacity: {storage: 1}, claimRef: {namespace: default, name: pvc2}, azureFile: {secretName: share, shareName: s}}
---
{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: va1}, spec: {attacher: a, nodeName: n1, source: {persistentVolumeName: pv1}}}
---
{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: va2}, spec: {attacher: a, nodeName: n2, source: {persistentVolumeName: pv2}}}
`))...)
}

func TestNodeAuthorization(t *testing.T) {
	const (
		ns          = "/api/v1/namespaces/default/"
		unrelated   = ": no relationship found between node 'n1' and this object"
		claims      = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/"
		attachments = "/apis/storage.k8s.io/v1/volumeattachments/"
		leases      = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
		slices      = "/apis/resource.k8s.io/v1/resourceslices"
	)
	srv := startNode(t)
	for _, tt := range []struct {
		name, method, path string
		refusal            string // the end of the message of a 403, "" if the request is allowed
	}{
		{"Secret of a volume", "GET", ns + "secrets/file", ""},
		{"Secret of an environment", "GET", ns + "secrets/env", ""},
		{"Secret of images", "GET", ns + "secrets/pull", ""},
		{"Secret by its name in a list", "GET", ns + "secrets?fieldSelector=metadata.name%3Dfile", ""},
		{"Secret of another node, and of a mirror pod", "GET", ns + "secrets/theirs", unrelated},
		{"Secret of a PersistentVolume", "GET", "/api/v1/namespaces/vault/secrets/stage", ""},
		{"Secret that kubelets do not see", "GET", "/api/v1/namespaces/vault/secrets/publish", unrelated},
		{"Secret of another node's PersistentVolume", "GET", ns + "secrets/share", unrelated},
		{"all Secrets", "GET", ns + "secrets", ": No Object name found"},
		{"Secrets of all namespaces", "GET", "/api/v1/secrets", ": can only read namespaced object of this type"},
		{"write of a Secret", "DELETE", ns + "secrets/file", ": can only read resources of this type"},
		{"ConfigMap of an environment", "GET", ns + "configmaps/key", ""},
		{"projected ConfigMap", "GET", ns + "configmaps/part", ""},
		{"other ConfigMap", "GET", ns + "configmaps/x", unrelated},
		{"PersistentVolumeClaim", "GET", ns + "persistentvolumeclaims/pvc1", ""},
		{"PersistentVolumeClaim of an ephemeral volume", "GET", ns + "persistentvolumeclaims/p1-b", ""},
		{"PersistentVolumeClaim of another node", "GET", ns + "persistentvolumeclaims/pvc2", unrelated},
		{"status of a PersistentVolumeClaim", "GET", ns + "persistentvolumeclaims/pvc1/status", ": can only get/update/patch this type"},
		{"PersistentVolume", "GET", "/api/v1/persistentvolumes/pv1", ""},
		{"PersistentVolume of another node", "GET", "/api/v1/persistentvolumes/pv2", unrelated},
		{"list of PersistentVolumes", "GET", "/api/v1/persistentvolumes", ": can only get individual resources of this type"},
		{"ServiceAccount", "GET", ns + "serviceaccounts/robot1", ""},
		{"ServiceAccount of another node", "GET", ns + "serviceaccounts/robot2", unrelated},
		{"list of ServiceAccounts", "GET", ns + "serviceaccounts", ": can only create tokens for individual service accounts"},
		{"named ResourceClaim", "GET", claims + "claim1", ""},
		{"ResourceClaim of a template", "GET", claims + "claim2", ""},
		{"other ResourceClaim", "GET", claims + "t", unrelated},
		{"VolumeAttachment", "GET", attachments + "va1", ""},
		{"VolumeAttachment of another node", "GET", attachments + "va2", unrelated},
		{"pod", "GET", ns + "pods/p1", ""},
		{"pod of another node", "GET", ns + "pods/p2", unrelated},
		{"pods of the node", "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", ""},
		{"pods of another node", "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2", ": can only list/watch pods with spec.nodeName field selector"},
		{"one pod in a list", "GET", ns + "pods?fieldSelector=metadata.name%3Dp1", ""},
		{"log of a pod", "GET", ns + "pods/p1/log", "in the namespace"},
		{"the Node", "GET", "/api/v1/nodes/n1", ""},
		{"another Node", "GET", "/api/v1/nodes/n2", ": node 'n1' cannot read 'n2', only its own Node object"},
		{"all Nodes", "GET", "/api/v1/nodes", ": node 'n1' cannot read all nodes, only its own Node object"},
		{"its Lease", "GET", leases + "/n1", ""},
		{"another Lease", "GET", leases + "/n2", ": can only access node lease with the same name as the requesting node"},
		{"all Leases", "GET", leases, ": can only get, create, update, patch, or delete a node lease"},
		{"Lease elsewhere", "GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/n1", `: can only access leases in the "kube-node-lease" system namespace`},
		{"its ResourceSlices", "GET", slices + "?fieldSelector=spec.nodeName%3Dn1", ""},
		{"all ResourceSlices", "GET", slices, ": can only list/watch/deletecollection resourceslices with nodeName field selector"},
		{"its CSINode", "GET", "/apis/storage.k8s.io/v1/csinodes/n1", ""},
		{"another CSINode", "GET", "/apis/storage.k8s.io/v1/csinodes/n2", ": can only access CSINode with the same name as the requesting node"},
		{"all Services", "GET", "/api/v1/services", ""},
		{"ReplicationControllers", "GET", ns + "replicationcontrollers", "in the namespace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, obj := apitest.DoWithHeaders(t, srv, tt.method, tt.path, "", asNode...)
			if tt.refusal == "" {
				assert.NotEqual(t, 403, code, obj["message"])
				return
			}
			assert.Equal(t, 403, code)
			if tt.refusal[0] == ':' {
				assert.Contains(t, obj["message"].(string)+"$", tt.refusal+"$")
			}
		})
	}
}

func TestNodeWithoutNameOrGroup(t *testing.T) {
	srv := startNode(t)
	for token, want := range map[string]string{
		"empty-token": `secrets "file" is forbidden: User "system:node:" cannot get resource "secrets" in API group "" in the namespace "default": node: unknown node for user "system:node:"`,
		"other-token": `secrets "file" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace "default"`,
	} {
		_, obj := apitest.DoWithHeaders(t, srv, "GET", "/api/v1/namespaces/default/secrets/file", "", "Authorization", "Bearer "+token)
		assert.Equal(t, want, obj["message"])
	}
}

// What a node may read follows the writes of others at once, in each fork.
func TestNodeFollowsPods(t *testing.T) {
	srv := startNode(t)
	get := func(srv *fakeapi.Server) int {
		code, _ := apitest.DoWithHeaders(t, srv, "GET", "/api/v1/namespaces/default/secrets/theirs", "", asNode...)
		return code
	}
	require.Equal(t, 403, get(srv))
	fork := srv.Fork(t)
	_, err := srv.Store(`{apiVersion: v1, kind: Pod, metadata: {name: p4, namespace: default}, spec: {nodeName: n1, containers: [{name: c, image: i}], volumes: [{name: a, secret: {secretName: theirs}}]}}`)
	require.NoError(t, err)
	assert.Equal(t, 404, get(srv))
	assert.Equal(t, 403, get(fork))
}

func TestNodeOfOldReleases(t *testing.T) {
	for _, tt := range []struct {
		name, release, off, path string
		code                     int
		refusal                  string
	}{
		{"ServiceAccount before the gate", "v1.32", "", "/api/v1/namespaces/default/serviceaccounts/robot1", 403, "can only create tokens for individual service accounts"},
		{"ServiceAccount with the gate off", "v1.33", "", "/api/v1/namespaces/default/serviceaccounts/robot1", 403, "not allowed to get service accounts"},
		{"ServiceAccount with the gate on", "v1.34", "", "/api/v1/namespaces/default/serviceaccounts/robot1", 404, ""},
		{"Nodes without selectors", "v1.33", "AuthorizeNodeWithSelectors", "/api/v1/nodes", 200, ""},
		{"pods without selectors", "v1.33", "AuthorizeNodeWithSelectors", "/api/v1/pods", 200, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			options := []fakeapi.Option{fakeapi.WithRelease(tt.release)}
			if tt.off != "" {
				options = append(options, fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{tt.off: false}}))
			}
			srv := fakeapi.Start(t, append(options, fakeapi.WithInMemory(),
				fakeapi.WithAPIServer(apiserver.Config{Authorization: &apiserver.Authorization{Modes: []string{"Node"}}}),
				fakeapi.WithToken("node-token", fakeapi.User{Name: "system:node:n1", Groups: []string{"system:nodes"}}),
				fakeapi.WithObjects(`{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {nodeName: n1, serviceAccountName: robot1, containers: [{name: c, image: i}]}}`))...)
			code, obj := apitest.DoWithHeaders(t, srv, "GET", tt.path, "", asNode...)
			assert.Equal(t, tt.code, code)
			if tt.refusal != "" {
				assert.Contains(t, obj["message"], tt.refusal)
			}
		})
	}
}

func TestNodeRestrictionRefuses(t *testing.T) {
	srv := startNode(t)
	code, obj := apitest.DoWithHeaders(t, srv, "DELETE", "/api/v1/namespaces/default/pods/p2", "", asNode...)
	assert.Equal(t, 403, code)
	assert.Equal(t, `pods "p2" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself`, obj["message"])
	code, _ = apitest.DoWithHeaders(t, srv, "DELETE", "/api/v1/namespaces/default/pods/p1", "", asNode...)
	assert.Equal(t, 200, code)
	code, obj = apitest.DoWithHeaders(t, srv, "POST", "/api/v1/nodes", `{"metadata":{"name":"n1","labels":{"kubernetes.io/x":"y"}}}`, asNode...)
	assert.Equal(t, 403, code, "before the object is validated and found to exist")
	assert.Equal(t, `nodes "n1" is forbidden: node "n1" is not allowed to set the following labels: kubernetes.io/x`, obj["message"])
}
