package authn

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestReadTokenFile(t *testing.T) {
	users, err := ReadTokenFile(strings.NewReader("t1,alice,1,\"devs,admins\"\nt2,bob,2\nt3,eve,3,\n"))
	assert.NoError(t, err)
	assert.Equal(t, []TokenUser{
		{"t1", User{Name: "alice", UID: "1", Groups: []string{"devs", "admins"}}},
		{"t2", User{Name: "bob", UID: "2"}},
		{"t3", User{Name: "eve", UID: "3", Groups: []string{""}}},
	}, users)

	for _, tt := range []struct{ name, file, err string }{
		{"missing column", "t1,alice,1\nt2,bob\n", "line 2: 2 columns instead of token, user, uid and, optionally, groups"},
		{"empty token", ",alice,1\n", "line 1: the token is empty"},
		{"invalid CSV", "t1,\"alice\n", `parse error on line 1, column 11: extraneous or missing " in quoted-field`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadTokenFile(strings.NewReader(tt.file))
			assert.EqualError(t, err, tt.err)
		})
	}
}
