package alwayspullimages_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/alwayspullimages"
)

func TestPlugin(t *testing.T) {
	pod := func(image string) string {
		return `{"spec":{"containers":[{"name":"c","image":"` + image + `","imagePullPolicy":"Never"}],"volumes":[{"name":"v","image":{"reference":"r","pullPolicy":"Never"}}]}}`
	}
	admissiontest.Run(t, alwayspullimages.Plugin{}, []admissiontest.Request{
		{Name: "new pod", Resource: "pods", Object: pod("a"), Path: "spec.containers.0.imagePullPolicy", Want: `"Always"`},
		{Name: "image volume", Resource: "pods", Object: pod("a"), Path: "spec.volumes.0.image.pullPolicy", Want: `"Always"`},
		{Name: "new image", Resource: "pods", Object: pod("b"), Old: pod("a"), Path: "spec.containers.0.imagePullPolicy", Want: `"Always"`},
		{Name: "same image", Resource: "pods", Object: pod("a"), Old: pod("a"), Path: "spec.containers.0.imagePullPolicy", Want: `"Never"`},
		{Name: "status", Resource: "pods", Subresource: "status", Object: pod("b"), Old: pod("a"), Path: "spec.containers.0.imagePullPolicy", Want: `"Never"`},
	})
}

// A webhook that runs after Mutate can set another policy.
func TestOtherPolicies(t *testing.T) {
	request := admissiontest.Request{Resource: "pods", Object: `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"a","imagePullPolicy":"Never"}]}}`}
	assert.EqualError(t, alwayspullimages.Plugin{}.Validate(request.Attributes(t)),
		`pods "p" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always"`)
}
