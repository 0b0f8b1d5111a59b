//go:build go1.24

package cel

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types/ref"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/cel/library"
)

// expressions.jsonl has the examples of the Kubernetes documentation and other
// expressions, with their results in k8s.io/apiserver v0.37.2. The tests in
// internal/fidelity/cel write it.
//
//go:embed testdata/expressions.jsonl
var expressions []byte

// An evaluation is an expression with its results.
type evaluation struct {
	Expression string    `json:"expression"`
	Issues     string    `json:"issues,omitempty"`
	Program    string    `json:"program,omitempty"`
	Error      string    `json:"error,omitempty"`
	Value      string    `json:"value,omitempty"`
	Estimate   [2]string `json:"estimate"`
	Cost       uint64    `json:"cost,omitempty"`
}

// testEnv returns the base environment with the JSON patch library and a variable
// authorizer.
var testEnv = sync.OnceValue(func() *cel.Env {
	env, err := base(0).Extend(append(library.JSONPatch(), cel.Variable("authorizer", library.AuthorizerType))...)
	if err != nil {
		panic(err)
	}
	return env
})

// testVars returns the variables of testEnv.
func testVars() cel.Activation {
	vars, err := cel.NewActivation(map[string]any{"authorizer": library.NewAuthorizer(testAuthorizer{})})
	if err != nil {
		panic(err)
	}
	return vars
}

// valueText returns a value's type and, unless a Kubernetes library defines the type,
// the value.
func valueText(v ref.Val) string {
	if name := v.Type().TypeName(); strings.HasPrefix(name, "kubernetes.") {
		return name
	}
	return fmt.Sprintf("%v %v", v.Type().TypeName(), v.Value())
}

// evaluate compiles and evaluates an expression.
func evaluate(text string) evaluation {
	e := evaluation{Expression: text}
	env := testEnv()
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		e.Issues = issues.String()
		return e
	}
	if estimate, err := env.EstimateCost(ast, costs{}); err == nil {
		e.Estimate = [2]string{strconv.FormatUint(estimate.Min, 10), strconv.FormatUint(estimate.Max, 10)}
	}
	program, err := newProgram(env, ast)
	if err != nil {
		e.Program = err.Error()
		return e
	}
	v, cost, err := program.eval(nil, testVars())
	if err != nil {
		e.Error = err.Error()
	} else {
		e.Value = valueText(v)
	}
	e.Cost = cost
	return e
}

// older has the results of cel-go v0.26, which this module requires, where those of v0.29, which
// k8s.io/apiserver v0.37.2 requires, differ; see docs/dependencies.md.
var older = map[string]evaluation{
	"[[1], [2]].flatten(-1)": {Error: "level must be non-negative", Estimate: [2]string{"41", "41"}, Cost: 9},
	"lists.range(-1)":        {Value: "list []", Estimate: [2]string{"11", "11"}, Cost: 11},
	"duration(5)":            {Issues: "ERROR: <input>:1:10: invalid duration argument\n | duration(5)\n | .........^"},
	"duration(1 + 1)":        {Error: "type conversion error from 'int' to 'google.protobuf.Duration'", Estimate: [2]string{"2", "2"}, Cost: 2},
}

func TestExpressions(t *testing.T) {
	for line := range bytes.Lines(expressions) {
		var want evaluation
		require.NoError(t, json.Unmarshal(line, &want))
		if result, ok := older[want.Expression]; ok {
			result.Expression = want.Expression
			want = result
		}
		t.Run(want.Expression, func(t *testing.T) {
			got := evaluate(want.Expression)
			got.Value, want.Value = withoutThinSpace.Replace(got.Value), withoutThinSpace.Replace(want.Value)
			require.Equal(t, want, got)
		})
	}
}

// withoutThinSpace removes the spaces that some versions of golang.org/x/text put
// around the × of a power of ten.
var withoutThinSpace = strings.NewReplacer("\u202f", "")

// TestFunctionCoverage checks that expressions.jsonl calls every overload of every
// function.
func TestFunctionCoverage(t *testing.T) {
	covered := map[string]bool{operators.OldNotStrictlyFalse: true} // no macro expands to it any more
	for line := range bytes.Lines(expressions) {
		var e evaluation
		require.NoError(t, json.Unmarshal(line, &e))
		ast, issues := testEnv().Compile(e.Expression)
		if issues.Err() != nil {
			continue
		}
		for _, reference := range ast.NativeRep().ReferenceMap() {
			for _, id := range reference.OverloadIDs {
				covered[id] = true
			}
		}
	}
	for _, f := range testEnv().Functions() {
		for _, overload := range f.OverloadDecls() {
			assert.True(t, covered[overload.ID()], "%s: %s", f.Name(), overload.ID())
		}
	}
}

// FuzzExpression checks that no expression panics.
func FuzzExpression(f *testing.F) {
	for line := range bytes.Lines(expressions) {
		var e evaluation
		require.NoError(f, json.Unmarshal(line, &e))
		f.Add(e.Expression)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 1000 {
			evaluate(text)
		}
	})
}
