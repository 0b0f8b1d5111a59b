//go:build go1.24

package cel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/cel/library"
)

// assertCosts checks that the meter and cel-go's cost tracker agree about an
// expression.
func assertCosts(t *testing.T, env *cel.Env, text string, vars map[string]any) {
	t.Helper()
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		return
	}
	measured, err := newMeteredProgram(env, checked)
	if err != nil {
		return // TestExpressions compares these errors
	}
	activation, err := cel.NewActivation(vars)
	require.NoError(t, err)
	v, cost, err := measured.eval(nil, activation)
	tracked, trackErr := newTrackedProgram(env, checked)
	require.NoError(t, trackErr)
	wantV, wantCost, wantErr := tracked.eval(nil, activation)
	assert.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err), text)
	assert.Equal(t, wantCost, cost, text)
	if wantErr == nil {
		assert.Equal(t, valueText(wantV), valueText(v), text)
	}
}

// TestCosts compares the costs of the meter and of cel-go, whose version is that of
// kube-apiserver.
func TestCosts(t *testing.T) {
	env, err := testEnv().Extend(cel.Variable("nums", cel.ListType(cel.IntType)), cel.Variable("dyn", cel.DynType),
		cel.Variable("m", cel.MapType(cel.StringType, cel.DynType)))
	require.NoError(t, err)
	vars := map[string]any{
		"authorizer": library.NewAuthorizer(testAuthorizer{}),
		"nums":       []int64{5, 3, 1, 4, 1, 5, 9, 2, 6},
		"dyn":        map[string]any{"a": []any{int64(1), "x", map[string]any{"b": int64(2)}}, "n": nil},
		"m":          map[string]any{"a": "text", "b": int64(3), "c": []any{int64(7)}},
	}
	for line := range bytes.Lines(expressions) {
		var e evaluation
		require.NoError(t, json.Unmarshal(line, &e))
		assertCosts(t, env, e.Expression, vars)
	}
	for _, text := range []string{
		"nums.all(x, x > 0 || x / 0 == 1)",
		"nums.exists(x, x == 9 && nums.exists(y, y == x))",
		"nums.map(x, x > 3, x * 2).filter(y, y in [6, 8, 10]).size()",
		"nums.exists_one(x, x == 9)",
		"nums.all(x, x != 4 ? x > 0 : x / 0 > 0)",
		"nums.all(x, [x, 1 / (x - 1)].size() == 2)",
		"nums.map(x, {'a': x, 'b': x + 1}).all(y, y.a < y['b'])",
		"nums.map(x, nums[x % 3])[2]",
		"nums.all(i, nums[nums[i % 9] % 9] > 0)",
		"has(dyn.a) && has(dyn.b) || has(dyn.n)",
		"has((nums.size() > 3 ? dyn : m).a)",
		"(nums.size() > 3 ? dyn : m).a[2].b + (nums.size() < 3 ? dyn.a : m.c)[0]",
		"nums.all(x, (x > 3 ? m : dyn).a != null)",
		"dyn.?a[0].orValue(3) == 1 ? m.?b.orValue(1) : 4",
		"m[?'z'].or(m[?'a']).value()",
		"dyn.?a.optMap(y, y.size()).orValue(0)",
		"dyn.a.exists(x, x.b == 2)",
		"m.all(k, m[k] != null && k.matches('[a-z]') && k.matches(k))",
		"m.map(k, k + 'x').join(',').size() == 8",
		"nums.sort() == nums.distinct().sort() || sets.contains(nums, [1, 2]) && sets.equivalent(nums, nums.reverse())",
		"nums.sortBy(x, -x)[0] + nums.slice(1, 3)[0] + lists.range(5)[2] + [[1], [2]].flatten()[1]",
		"nums.transformList(i, v, i > 2, v + i).size()",
		"nums.transformMap(i, v, v).size()",
		"m.existsOne(k, v, k == 'a' && v == 'text')",
		"1 in nums && 3 in [1, 2, 3] && dyn(1.0) in [1, 2] && dyn(2u) in [1, 2] && !(dyn(1.5) in [1, 2]) && dyn(1) in [1.0, 2.5] && 'a' in ['a'] && 'a' in m",
		"'abc'.contains('b') && 'abc' < 'abd' && 'abc' + 'd' == 'abcd' && 'abc'.startsWith('a') && size('abc') == 3",
		"int('1') + int(string(nums[0])) == 6 && duration('1h') > duration('1m') && b'a' + b'b' == b'ab'",
		"dyn.a.map(x, type(x) == int ? x : 0).sum()",
		"dyn.a[0] == 1 && dyn.a[5] == 1",
		"nums[100] == 1 || dyn.zzz == 1 || true",
		"[nums, nums].all(l, l.all(x, l.exists(y, y == x)))",
		"lists.range(2000).distinct().size() > 0",
		"lists.range(3000).all(x, x >= 0)",
	} {
		_, issues := env.Compile(text)
		require.NoError(t, issues.Err(), text)
		assertCosts(t, env, text, vars)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		assertCosts(t, env, randomBool(random, 4, []string{"nums[0]", "nums[7]"}), vars)
	}
}

// randomBool returns a random boolean expression. ints are integer expressions.
func randomBool(r *rand.Rand, depth int, ints []string) string {
	sub := func() string { return randomBool(r, depth-1, ints) }
	i := func() string {
		a, b := ints[r.IntN(len(ints))], ints[r.IntN(len(ints))]
		switch r.IntN(6) {
		case 0:
			return fmt.Sprintf("(%s / (%s - 1))", a, b) // may fail
		case 1:
			return fmt.Sprintf("[%s, 2, %s][%s %% 4]", a, b, a) // may fail
		case 2:
			return fmt.Sprintf("(%s > 2 ? %s : %s)", a, b, a)
		case 3:
			return fmt.Sprintf("{'k': %s}.k", a)
		}
		return a
	}
	if depth == 0 {
		return fmt.Sprintf("%s %s %s", i(), []string{"<", "==", "!=", ">="}[r.IntN(4)], i())
	}
	switch r.IntN(7) {
	case 0:
		return fmt.Sprintf("(%s && %s)", sub(), sub())
	case 1:
		return fmt.Sprintf("(%s || %s)", sub(), sub())
	case 2:
		return fmt.Sprintf("(%s ? %s : %s)", sub(), sub(), sub())
	case 3:
		return fmt.Sprintf("!(%s)", sub())
	case 4:
		return fmt.Sprintf("%s in [%s, %s]", i(), i(), i())
	}
	v := fmt.Sprintf("v%d", len(ints))
	body := randomBool(r, depth-1, append(ints[:len(ints):len(ints)], v))
	macro := []string{"all", "exists", "exists_one"}[r.IntN(3)]
	if r.IntN(3) == 0 {
		return fmt.Sprintf("nums.filter(%s, %s).map(%s, %s + 1).%s(%s, %s)", v, body, v, v, macro, v, body)
	}
	return fmt.Sprintf("nums.%s(%s, %s)", macro, v, body)
}

// TestExpensiveCalls checks that calls far above the cost limit fail without being
// made: they would take minutes, or all memory.
func TestExpensiveCalls(t *testing.T) {
	for _, text := range []string{
		"lists.range(1000000000000).size() > 0",
		"lists.range(400000).distinct().size() > 0",
		"sets.contains(lists.range(400000), lists.range(400000))",
		"sets.equivalent(lists.range(400000), lists.range(400000))",
	} {
		checked, issues := testEnv().Compile(text)
		require.NoError(t, issues.Err())
		program, err := newProgram(testEnv(), checked)
		require.NoError(t, err)
		_, cost, err := program.eval(nil, cel.NoVars())
		assert.True(t, exceedsCallLimit(err), "%s: %v", text, err)
		assert.Greater(t, cost, uint64(perCallLimit), text)
	}
}

// list100k returns an object with a list of 100,000 integers.
func list100k() map[string]any {
	l := make([]any, 100_000)
	for i := range l {
		l[i] = int64(i)
	}
	return map[string]any{"l": l}
}

func listSchema(rule string) string {
	return `{type: object, properties: {l: {type: array, ` + rule + `, items: {type: integer}}}}`
}

// TestLongList evaluates a rule over a list with which cel-go's cost tracker takes
// minutes.
func TestLongList(t *testing.T) {
	v := NewValidator(schemaOf(t, listSchema(`x-kubernetes-validations: [{rule: "self.all(x, x >= 0 && x < 100000)"}]`)))
	errs, remaining := v.Validate(t.Context(), nil, list100k(), nil, Budget)
	assert.Empty(t, errs)
	assert.Equal(t, int64(Budget-700_002), remaining)
}

// TestInterruption checks that the evaluation of rules stops when its context ends:
// within a rule, and between the rules of many values.
func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	t.Run("rule", func(t *testing.T) {
		checked, issues := testEnv().Compile("lists.range(100000).all(x, x >= 0)")
		require.NoError(t, issues.Err())
		program, err := newProgram(testEnv(), checked)
		require.NoError(t, err)
		_, cost, err := program.eval(ctx.Done(), testVars())
		var cancelled interpreter.EvalCancelledError
		require.True(t, errors.As(err, &cancelled))
		assert.Equal(t, interpreter.ContextCancelled, cancelled.Cause)
		assert.Less(t, cost, uint64(100_000+2*interruptInterval), "lists.range and at most one interval")
	})
	t.Run("tracked", func(t *testing.T) {
		checked, issues := testEnv().Compile("[1, 2, 3].map(x, [1, 2, 3].map(y, lists.range(100).all(z, z >= 0))).size() == 3")
		require.NoError(t, issues.Err())
		program, err := newTrackedProgram(testEnv(), checked)
		require.NoError(t, err)
		v, _, err := program.eval(nil, testVars())
		require.NoError(t, err)
		assert.Equal(t, types.True, v)
		_, _, err = program.eval(ctx.Done(), testVars())
		assert.ErrorContains(t, err, "operation interrupted")
	})
	t.Run("values", func(t *testing.T) {
		v := NewValidator(schemaOf(t, `{type: object, properties: {l: {type: array, items: {type: integer, x-kubernetes-validations: [{rule: "self >= 0"}]}}}}`))
		_, remaining := v.Validate(ctx, nil, list100k(), nil, Budget)
		assert.Equal(t, int64(Budget), remaining)
	})
	t.Run("policy", func(t *testing.T) {
		p := NewPolicy(0, false)
		program, err := p.Compile("object.l.all(x, x >= 0)", OptionalVariables{}, Bool)
		require.NoError(t, err)
		e := p.Evaluate(ctx, Inputs{Object: list100k()}, Budget)
		_, err = e.Run(program)
		assert.ErrorContains(t, err, "operation interrupted")
		assert.Greater(t, e.Remaining(), int64(Budget-1000))
	})
	t.Run("definition", func(t *testing.T) {
		assert.Empty(t, RuleChecker{Context: ctx}.CheckDefault(schemaOf(t, `{type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}`), false, int64(0), nil))
	})
}

// BenchmarkRuleOverList measures a rule over lists. The time for each element does not
// depend on their number.
func BenchmarkRuleOverList(b *testing.B) {
	v := NewValidator(schemaOf(b, listSchema(`x-kubernetes-validations: [{rule: "self.all(x, x >= 0)"}]`)))
	all := list100k()["l"].([]any)
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("elements=%d", n), func(b *testing.B) {
			obj := map[string]any{"l": all[:n]}
			b.ReportAllocs()
			for b.Loop() {
				v.Validate(b.Context(), nil, obj, nil, Budget)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/element")
		})
	}
}
