package story

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/journal"
)

func TestClientName(t *testing.T) {
	const kcm = "kube-controller-manager/v1.36.0 (linux/amd64) kubernetes/0c1a2b3"
	const deploymentController = "system:serviceaccount:kube-system:deployment-controller"
	for _, row := range []struct{ name, user, agent, want string }{
		{"component", "system:kube-scheduler", "kube-scheduler/v1.36.0 (linux/amd64) kubernetes/0c1a2b3/scheduler", "kube-scheduler"},
		{"leader election", "system:kube-scheduler", "kube-scheduler/v1.36.0 (linux/amd64) kubernetes/0c1a2b3/leader-election", "kube-scheduler"},
		{"controller with its service account", deploymentController, kcm + "/" + deploymentController, "deployment-controller"},
		{"controller with a shared user", "system:kube-controller-manager", kcm + "/deployment-controller", "deployment-controller"},
		{"informers of controllers", "system:kube-controller-manager", kcm + "/shared-informers", "kube-controller-manager"},
		{"user of a controller", deploymentController, kcm, "deployment-controller"},
		{"controller of this server", deploymentController, "kube-controller-manager/v1.36.0/" + deploymentController, "deployment-controller"},
		{"kubelet of this server", "system:node:n1", "kubelet/v1.36.0 (linux/amd64)", "kubelet on n1"},
		{"kubectl", "admin", "kubectl/v1.36.0 (linux/amd64) kubernetes/0c1a2b3", "kubectl"},
		{"operator", "system:serviceaccount:shop:operator", "manager/v0.0.0 (linux/amd64) kubernetes/$Format", "manager"},
		{"client with a word", "admin", "manager/v0.0.0 (linux/amd64) kubernetes/$Format/shop-controller", "shop-controller"},
		{"end-to-end test", "admin", "e2e.test/v1.36.0 (linux/amd64) kubernetes/0c1a2b3 -- [sig-apps] a/b", "e2e.test"},
		{"Helm", "admin", "Helm/3.19.0", "Helm"},
		{"Java", "admin", "Kubernetes Java Client/20.0.0", "Kubernetes Java Client"},
		{"Python", "admin", "OpenAPI-Generator/34.1.0/python", "python client"},
		{"curl", "admin", "curl/8.5.0", "curl"},
		{"browser", "", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0", "a browser"},
		{"one word", "admin", "tester", "tester"},
		{"none", "admin", "", unnamed},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, clientName(row.user, row.agent))
		})
	}
}

func TestWriter(t *testing.T) {
	for _, row := range []struct {
		name   string
		writer journal.Writer
		want   string
	}{
		{"default field manager", journal.Writer{UserAgent: "kube-controller-manager/v1/gc", Manager: "kube-controller-manager", Verb: "patch"}, "gc"},
		{"field manager of the client", journal.Writer{UserAgent: "kubectl/v1", Manager: "kubectl-edit", Verb: "patch"}, "kubectl (kubectl-edit)"},
		{"field manager of another name", journal.Writer{UserAgent: "manager/v0", Manager: "shop", Verb: "patch"}, "manager (shop)"},
		{"library without a name", journal.Writer{UserAgent: "Go-http-client/1.1", Manager: "shop", Verb: "patch"}, "shop"},
		{"no user agent", journal.Writer{Manager: "shop", Verb: "patch"}, "shop"},
		{"fixture", journal.Writer{Verb: "store"}, "the test"},
		{"server", journal.Writer{Verb: "create"}, "the server"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, writer(row.writer).String())
		})
	}
}
