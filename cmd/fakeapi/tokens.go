package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kubefake/kubefake/fakeapi"
)

// readTokens reads a token file: a line a user, with token, name, uid and,
// optionally, a quoted list of groups. Errors name the file and the line.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file.
func readTokens(name string) ([]fakeapi.Option, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	var options []fakeapi.Option
	for {
		record, err := r.Read()
		if err == io.EOF {
			return options, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := r.FieldPos(0)
		if len(record) < 3 {
			return nil, fmt.Errorf("%s: line %d: %d columns instead of token, user, uid and, optionally, groups", name, line, len(record))
		}
		if record[0] == "" {
			return nil, fmt.Errorf("%s: line %d: the token is empty", name, line)
		}
		user := fakeapi.User{Name: record[1], UID: record[2]}
		if len(record) > 3 && record[3] != "" {
			user.Groups = strings.Split(record[3], ",")
		}
		options = append(options, fakeapi.WithToken(record[0], user))
	}
}
