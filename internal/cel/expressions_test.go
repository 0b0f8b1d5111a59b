package cel

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/stretchr/testify/require"
)

// expressions.jsonl has the examples of the documentation, and more, with what
// the libraries of k8s.io/apiserver v0.36.3 make of them; see fidelity.
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

// judge compiles and evaluates an expression.
func judge(text string) judgement {
	j := judgement{Expression: text}
	ast, issues := base().Compile(text)
	if issues.Err() != nil {
		j.Issues = issues.String()
		return j
	}
	if estimate, err := base().EstimateCost(ast, costs{}); err == nil {
		j.Estimate = [2]string{strconv.FormatUint(estimate.Min, 10), strconv.FormatUint(estimate.Max, 10)}
	}
	program, err := base().Program(ast)
	if err != nil {
		j.Program = err.Error()
		return j
	}
	v, details, err := program.Eval(cel.NoVars())
	if err != nil {
		j.Error = err.Error()
	} else {
		j.Value = fmt.Sprintf("%v %v", v.Type().TypeName(), v.Value())
	}
	j.Cost = *details.ActualCost()
	return j
}

func TestExpressions(t *testing.T) {
	for line := range bytes.Lines(expressions) {
		var want judgement
		require.NoError(t, json.Unmarshal(line, &want))
		t.Run(want.Expression, func(t *testing.T) { require.Equal(t, want, judge(want.Expression)) })
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
