package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// A judgement is what becomes of an expression.
type judgement struct {
	Expression string     `json:"expression"`
	Issues     string     `json:"issues,omitempty"`
	Program    string     `json:"program,omitempty"`
	Error      string     `json:"error,omitempty"`
	Value      string     `json:"value,omitempty"`
	Estimate   *[2]string `json:"estimate,omitempty"`
	Cost       *uint64    `json:"cost,omitempty"`
}

func main() {
	log.SetFlags(0)
	name := os.Args[1]
	text, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var j judgement
		if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
			log.Fatal(err)
		}
		if err := encoder.Encode(judge(j.Expression)); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(name, out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// env has a variable for the functions that ask an authorizer, too.
var env = sync.OnceValue(func() *cel.Env {
	env, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv().
		Extend(library.JSONPatch(), cel.Variable("authorizer", library.AuthorizerType))
	if err != nil {
		log.Fatal(err)
	}
	return env
})

// devs lets a service account do anything, and others read pods. Who asks about
// the resource broken gets no answer.
type devs struct{}

func (devs) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.GetResource() == "broken" {
		return authorizer.DecisionNoOpinion, "", errors.New("no answer")
	}
	if a.GetUser().GetName() == "system:serviceaccount:default:deployer" || a.GetVerb() == "get" && a.GetResource() == "pods" || a.GetPath() == "/healthz" {
		return authorizer.DecisionAllow, "because", nil
	}
	return authorizer.DecisionNoOpinion, "because", nil
}

// judge compiles and evaluates an expression.
func judge(text string) judgement {
	j := judgement{Expression: text}
	env := env()
	ast, issues := env.Compile(text)
	if issues != nil {
		j.Issues = issues.String()
		return j
	}
	if estimate, err := env.EstimateCost(ast, &library.CostEstimator{}); err == nil {
		j.Estimate = &[2]string{strconv.FormatUint(estimate.Min, 10), strconv.FormatUint(estimate.Max, 10)}
	}
	program, err := env.Program(ast)
	if err != nil {
		j.Program = err.Error()
		return j
	}
	v, details, err := program.Eval(map[string]any{"authorizer": library.NewAuthorizerVal(&user.DefaultInfo{Name: "alice"}, devs{})})
	if err != nil {
		j.Error = err.Error()
	} else {
		j.Value = valueText(v)
	}
	j.Cost = details.ActualCost()
	return j
}

// valueText is a value's type and, unless the type is of a library, the value.
func valueText(v ref.Val) string {
	if name := v.Type().TypeName(); strings.HasPrefix(name, "kubernetes.") {
		return name
	}
	return fmt.Sprintf("%v %v", v.Type().TypeName(), v.Value())
}
