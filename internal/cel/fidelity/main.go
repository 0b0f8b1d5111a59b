package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"

	"github.com/google/cel-go/cel"
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

// judge compiles and evaluates an expression.
func judge(text string) judgement {
	j := judgement{Expression: text}
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv()
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
	v, details, err := program.Eval(cel.NoVars())
	if err != nil {
		j.Error = err.Error()
	} else {
		j.Value = fmt.Sprintf("%v %v", v.Type().TypeName(), v.Value())
	}
	j.Cost = details.ActualCost()
	return j
}
