package authn

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
)

// A TokenUser is one line of a token file.
type TokenUser struct {
	Token string
	User  User
}

// ReadTokenFile reads a token file: CSV with the columns token, user name, uid
// and, optionally, a quoted list of groups. Errors name the line.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file.
func ReadTokenFile(f io.Reader) ([]TokenUser, error) {
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	var users []TokenUser
	for {
		record, err := r.Read()
		if err == io.EOF {
			return users, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(0)
		if len(record) < 3 {
			return nil, fmt.Errorf("line %d: %d columns instead of token, user, uid and, optionally, groups", line, len(record))
		}
		if record[0] == "" {
			return nil, fmt.Errorf("line %d: the token is empty", line)
		}
		user := User{Name: record[1], UID: record[2]}
		if len(record) > 3 { // an empty column is a group without a name
			user.Groups = strings.Split(record[3], ",")
		}
		users = append(users, TokenUser{Token: record[0], User: user})
	}
}
