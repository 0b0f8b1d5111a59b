package fakeapi

import "github.com/kubefake/kubefake/internal/journal"

// A Request is a request that the server has responded to. It is a struct:
//
//	Time          time.Time      when it arrived, on the server's clock
//	Method        string
//	URI           string
//	User          string         name of the user
//	UserAgent     string
//	Code          int            HTTP status code; 0 if there was no response
//	Bytes         int64          length of the response body
//	Duration      time.Duration
//	Revision      int64          of the state that it read, or of its last write; 0 if it did neither
//	Message       string         of the failure; "" for a success
//	Unimplemented bool           kube-apiserver serves it, this server does not
//	Panic         string         stack trace of a bug of the server
//
// String returns it on one line.
type Request = journal.Request

// Requests returns the newest 4,096 requests whose responses have ended, in the
// order in which they ended.
func (s *Server) Requests() []Request { return s.api.Control().Requests() }
