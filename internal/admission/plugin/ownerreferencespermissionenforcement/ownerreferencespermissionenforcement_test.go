package ownerreferencespermissionenforcement_test

import (
	"strings"
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/ownerreferencespermissionenforcement"
)

func TestPlugin(t *testing.T) {
	const free, all = `{"metadata":{"name":"c"}}`, "update */finalizers *"
	owned := func(blocks string) string {
		return `{"metadata":{"name":"c","ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"o","uid":"u","blockOwnerDeletion":` + blocks + `}]}}`
	}
	admissiontest.Run(t, ownerreferencespermissionenforcement.Plugin{}, []admissiontest.Request{
		{Name: "create", Resource: "configmaps", Object: owned("false"), Forbidden: []string{"delete configmaps c"}},
		{Name: "update", Resource: "configmaps", Object: owned("false"), Old: free, Forbidden: []string{"delete configmaps c"}, Error: "cannot set an ownerRef on a resource you can't delete: , <nil>"},
		{Name: "same owners", Resource: "configmaps", Object: owned("true"), Old: owned("true"), Forbidden: []string{"delete configmaps c"}},
		{Name: "blocking", Resource: "configmaps", Object: owned("true"), Forbidden: []string{all, "update nodes/finalizers o"}, Error: "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"},
		{Name: "blocking is permitted", Resource: "configmaps", Object: owned("true"), Forbidden: []string{all}},
		{Name: "kind without objects", Resource: "configmaps", Object: strings.Replace(owned("true"), "Node", "ComponentStatus", 1), Forbidden: []string{all, "update componentstatuses/finalizers o"}, Error: "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"},
		{Name: "kind in lower case", Resource: "configmaps", Object: strings.Replace(owned("true"), "Node", "node", 1), Forbidden: []string{all}},
		{Name: "list of a kind", Resource: "configmaps", Object: strings.Replace(owned("true"), "Node", "NodeList", 1), Forbidden: []string{all, "update nodelists/finalizers o"}, Error: "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"},
		{Name: "List", Resource: "configmaps", Object: strings.Replace(owned("true"), "Node", "List", 1), Forbidden: []string{all, "update lists/finalizers o"}, Error: "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"},
		{Name: "unknown owner", Resource: "configmaps", Object: strings.Replace(owned("true"), "Node", "Nude", 1), Forbidden: []string{all}, Error: `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion v1 Kind Nude: no matches for kind "Nude" in version "v1"`},
	})
}
