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
)

// expressions.jsonl has the examples of the documentation, and more, with what
// the libraries of k8s.io/apiserver v0.36.3 make of them; see internal/fidelity/cel.
//
//go:embed testdata/expressions.jsonl
var expressions []byte

// A judgement is what becomes of an expression.
type judgement struct {
	Expression string    `json:"expression"`
	Issues     string    `json:"issues,omitempty"`
	Program    string    `json:"program,omitempty"`
	Error      string    `json:"error,omitempty"`
	Value      string    `json:"value,omitempty"`
	Estimate   [2]string `json:"estimate"`
	Cost       uint64    `json:"cost,omitempty"`
}

// withAuthorizer is an environment with a variable for the functions that ask an
// authorizer, too.
var withAuthorizer = sync.OnceValue(func() *cel.Env {
	env, err := base().Extend(append(declared(patchFunctions()), cel.Variable("authorizer", authorizerType))...)
	if err != nil {
		panic(err)
	}
	return env
})

// valueText is a value's type and, unless the type is of a library, the value.
func valueText(v ref.Val) string {
	if name := v.Type().TypeName(); strings.HasPrefix(name, "kubernetes.") {
		return name
	}
	return fmt.Sprintf("%v %v", v.Type().TypeName(), v.Value())
}

// judge compiles and evaluates an expression.
func judge(text string) judgement {
	j := judgement{Expression: text}
	env := withAuthorizer()
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		j.Issues = issues.String()
		return j
	}
	if estimate, err := env.EstimateCost(ast, costs{}); err == nil {
		j.Estimate = [2]string{strconv.FormatUint(estimate.Min, 10), strconv.FormatUint(estimate.Max, 10)}
	}
	program, err := env.Program(ast)
	if err != nil {
		j.Program = err.Error()
		return j
	}
	v, details, err := program.Eval(map[string]any{"authorizer": AuthorizerVal(devs{})})
	if err != nil {
		j.Error = err.Error()
	} else {
		j.Value = valueText(v)
	}
	j.Cost = *details.ActualCost()
	return j
}

func TestExpressions(t *testing.T) {
	for line := range bytes.Lines(expressions) {
		var want judgement
		require.NoError(t, json.Unmarshal(line, &want))
		t.Run(want.Expression, func(t *testing.T) {
			got := judge(want.Expression)
			got.Value, want.Value = withoutThin.Replace(got.Value), withoutThin.Replace(want.Value)
			require.Equal(t, want, got)
		})
	}
}

// withoutThin removes the spaces that golang.org/x/text puts around the × of a
// power of ten, or not: its version is up to who builds.
var withoutThin = strings.NewReplacer("\u202f", "")

// TestEveryFunctionJudged looks for functions, by their overloads, that no row has.
func TestEveryFunctionJudged(t *testing.T) {
	judged := map[string]bool{operators.OldNotStrictlyFalse: true} // no macro makes it any more
	for line := range bytes.Lines(expressions) {
		var j judgement
		require.NoError(t, json.Unmarshal(line, &j))
		ast, issues := withAuthorizer().Compile(j.Expression)
		if issues.Err() != nil {
			continue
		}
		for _, reference := range ast.NativeRep().ReferenceMap() {
			for _, id := range reference.OverloadIDs {
				judged[id] = true
			}
		}
	}
	for _, f := range withAuthorizer().Functions() {
		for _, overload := range f.OverloadDecls() {
			assert.True(t, judged[overload.ID()], "%s: %s", f.Name(), overload.ID())
		}
	}
}

// FuzzExpression looks for expressions that panic.
func FuzzExpression(f *testing.F) {
	for line := range bytes.Lines(expressions) {
		var j judgement
		require.NoError(f, json.Unmarshal(line, &j))
		f.Add(j.Expression)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 1000 {
			judge(text)
		}
	})
}
