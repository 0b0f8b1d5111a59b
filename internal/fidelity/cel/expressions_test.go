// Package cel_test compares the CEL functions with the libraries of
// k8s.io/apiserver.
package cel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

var update = flag.Bool("update", false, "rewrite the results in the file of expressions")

// expressionsFile has one expression a line and its results, with which the
// tests of package cel compare theirs.
const expressionsFile = "../../cel/testdata/expressions.jsonl"

// An evaluation is an expression and the results of compiling and evaluating it.
type evaluation struct {
	Expression string     `json:"expression"`
	Issues     string     `json:"issues,omitempty"`
	Program    string     `json:"program,omitempty"`
	Error      string     `json:"error,omitempty"`
	Value      string     `json:"value,omitempty"`
	Estimate   *[2]string `json:"estimate,omitempty"`
	Cost       *uint64    `json:"cost,omitempty"`
}

// TestExpressions checks that the results in the file of expressions are those
// of k8s.io/apiserver. To add an expression, append a line such as
// {"expression": "1 + 1"} and run
//
//	GOWORK=off go test ./cel -update
func TestExpressions(t *testing.T) {
	before, err := os.ReadFile(expressionsFile)
	require.NoError(t, err)
	var after bytes.Buffer
	encoder := json.NewEncoder(&after)
	encoder.SetEscapeHTML(false)
	for line := range bytes.Lines(before) {
		var e evaluation
		require.NoError(t, json.Unmarshal(line, &e), "%s", line)
		start := after.Len()
		require.NoError(t, encoder.Encode(evaluate(t, e.Expression)))
		if !*update {
			assert.Equal(t, string(line), string(after.Bytes()[start:]))
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(expressionsFile, after.Bytes(), 0o644))
	}
}

// baseEnv returns kube-apiserver's environment for stored expressions with the
// JSON patch library and a variable authorizer.
var baseEnv = sync.OnceValues(func() (*cel.Env, error) {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv().
		Extend(library.JSONPatch(), cel.Variable("authorizer", library.AuthorizerType))
})

// testAuthorizer allows a service account everything, and everybody to get Pods
// and /healthz. It returns an error for the resource "broken".
type testAuthorizer struct{}

func (testAuthorizer) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.GetResource() == "broken" {
		return authorizer.DecisionNoOpinion, "", errors.New("no answer")
	}
	if a.GetUser().GetName() == "system:serviceaccount:default:deployer" || a.GetVerb() == "get" && a.GetResource() == "pods" || a.GetPath() == "/healthz" {
		return authorizer.DecisionAllow, "because", nil
	}
	return authorizer.DecisionNoOpinion, "because", nil
}

// evaluate compiles and evaluates an expression.
func evaluate(t *testing.T, expression string) evaluation {
	t.Helper()
	e := evaluation{Expression: expression}
	env, err := baseEnv()
	require.NoError(t, err)
	ast, issues := env.Compile(expression)
	if issues != nil {
		e.Issues = issues.String()
		return e
	}
	if estimate, err := env.EstimateCost(ast, &library.CostEstimator{}); err == nil {
		e.Estimate = &[2]string{strconv.FormatUint(estimate.Min, 10), strconv.FormatUint(estimate.Max, 10)}
	}
	program, err := env.Program(ast)
	if err != nil {
		e.Program = err.Error()
		return e
	}
	v, details, err := program.Eval(map[string]any{"authorizer": library.NewAuthorizerVal(&user.DefaultInfo{Name: "alice"}, testAuthorizer{})})
	if err != nil {
		e.Error = err.Error()
	} else {
		e.Value = valueText(v)
	}
	e.Cost = details.ActualCost()
	return e
}

// valueText returns a value's type and, unless a Kubernetes library defines the
// type, the value.
func valueText(v ref.Val) string {
	if name := v.Type().TypeName(); strings.HasPrefix(name, "kubernetes.") {
		return name
	}
	return fmt.Sprintf("%v %v", v.Type().TypeName(), v.Value())
}
