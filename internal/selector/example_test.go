package selector_test

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/selector"
)

func ExampleParseLabels() {
	s, err := selector.ParseLabels("tier in (web, api), !canary")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)
	fmt.Println(s.Matches(selector.Map{"tier": "web"}))
	fmt.Println(s.Matches(selector.Map{"tier": "web", "canary": ""}))

	_, err = selector.ParseLabels("tier in web")
	fmt.Println(err)
	// Output:
	// !canary,tier in (api,web)
	// true
	// false
	// unable to parse requirement: found 'web' expected: '('
}

func ExampleParseFields() {
	s, err := selector.ParseFields("status.phase!=Running,spec.host=n1")
	if err != nil {
		fmt.Println(err)
		return
	}
	known := func(field, value string) (string, string, error) {
		switch field {
		case "spec.host": // an alias
			return "spec.nodeName", value, nil
		case "spec.nodeName", "status.phase":
			return field, value, nil
		default:
			return "", "", fmt.Errorf("field label not supported: %s", field)
		}
	}
	if s, err = s.Transform(known); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)

	pod := map[string]string{"spec.nodeName": "n1", "status.phase": "Pending"}
	fmt.Println(s.Matches(func(field string) string { return pod[field] }))
	// Output:
	// spec.nodeName=n1,status.phase!=Running
	// true
}

func ExampleObject() {
	o := &selector.Object{
		MatchLabels:      map[string]string{"app": "web"},
		MatchExpressions: []selector.Expression{{Key: "tier", Operator: "NotIn", Values: []string{"test"}}},
	}
	s, err := o.Selector()
	fmt.Println(s, err)
	// Output:
	// app=web,tier notin (test) <nil>
}
