package session

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
)

// A Code is an error code of Windows.
type Code uint32

// The codes that sessions meet.
const (
	codeSuccess             Code = 0
	codeAccessDenied        Code = 5
	codeInvalidHandle       Code = 6
	codeBadLength           Code = 24
	codeNotSupported        Code = 50
	codeInvalidParameter    Code = 87
	codeDiskFull            Code = 112
	codeInsufficientBuffer  Code = 122
	codeProcNotFound        Code = 127
	codeBadPathname         Code = 161
	codeAlreadyExists       Code = 183
	codeMoreData            Code = 234
	codeNoAccess            Code = 998
	codeCancelled           Code = 1223
	codeNoSystemResources   Code = 1450
	codeTimeout             Code = 1460
	codeInstanceNotFound    Code = 4201
	codeInvalidOperation    Code = 4317
	codeContextClosePending Code = 7007
)

var codeTexts = map[Code]string{
	codeAccessDenied:       "access is denied",
	codeInvalidHandle:      "the handle is not valid",
	codeBadLength:          "a length is wrong",
	codeNotSupported:       "it is not supported",
	codeInvalidParameter:   "a parameter is wrong",
	codeDiskFull:           "the disk is full",
	codeInsufficientBuffer: "the buffer is too small",
	codeProcNotFound:       "the system does not have the function",
	codeBadPathname:        "the path is wrong",
	codeAlreadyExists:      "it exists already",
	codeMoreData:           "there is more data",
	codeNoAccess:           "a callback failed",
	codeCancelled:          "it was cancelled",
	codeNoSystemResources:  "there are not enough system resources",
	codeTimeout:            "it took too long",
	codeInstanceNotFound:   "there is no such session",
	codeInvalidOperation:   "the operation is not valid",
}

// Error returns the meaning of c.
func (c Code) Error() string {
	if text, ok := codeTexts[c]; ok {
		return text
	}
	return "error " + strconv.Itoa(int(c))
}

// Is reports whether target is the error of package fs, or errors.ErrUnsupported, that
// means the same.
func (c Code) Is(target error) bool {
	switch c {
	case codeAccessDenied:
		return target == fs.ErrPermission
	case codeAlreadyExists:
		return target == fs.ErrExist
	case codeInstanceNotFound:
		return target == fs.ErrNotExist
	case codeNotSupported, codeProcNotFound, codeInvalidOperation:
		return target == errors.ErrUnsupported
	}
	return false
}

// An Error is the error of a call of Windows, with its remedy.
type Error struct {
	Op      string // "start", "enable", ...
	Session string // its name, or "" where it is about none
	Code    Code
	Advice  string // "" if there is none
}

// Error returns all that e says, in one line.
func (e *Error) Error() string {
	text := "session: " + e.Op
	if e.Session != "" {
		text += " " + strconv.Quote(e.Session)
	}
	text += fmt.Sprintf(": %v (%d)", e.Code, uint32(e.Code))
	if e.Advice != "" {
		text += ": " + e.Advice
	}
	return text
}

// Unwrap returns the code.
func (e *Error) Unwrap() error { return e.Code }

// The operations, as errors name them.
const (
	opStart   = "start"
	opOpen    = "open"
	opProcess = "process"
	opEnable  = "enable"
	opStop    = "stop"
	opQuery   = "query"
	opUpdate  = "update"
	opFlush   = "flush"
	opList    = "list"
	opSet     = "set"
)

// advice returns the remedy for a code that an operation has answered with.
func advice(op string, c Code) string {
	switch c {
	case codeAccessDenied:
		return "run as administrator, or join the group Performance Log Users and log on again; kernel events take an administrator"
	case codeAlreadyExists:
		return "a session of this name or GUID is running: attach to it, stop it first (it may be left by a program that has ended), or choose another name"
	case codeNoSystemResources:
		if op == opEnable {
			return "eight sessions have enabled this provider, which is all it takes"
		}
		return "there are as many sessions as the system takes (64, and 8 with kernel events); stop one that is not needed"
	case codeInvalidParameter:
		if op == opEnable {
			return "the provider has no GUID, or a filter is not one that it takes"
		}
		return "modes exclude each other, or a value is out of range"
	case codeDiskFull:
		return "the file may become larger than there is room, of which 200 MB must stay free"
	case codeBadPathname:
		return "there is no such folder, or the file is another session's"
	case codeInstanceNotFound:
		return "it was stopped, or never started"
	case codeTimeout:
		return "a program with the provider does not answer; enable it without a timeout"
	case codeProcNotFound, codeNotSupported, codeInvalidOperation:
		return "this takes a newer Windows"
	}
	return ""
}

// fail returns the error for a code, or nil for success.
func fail(op, session string, c Code) error {
	if c == codeSuccess {
		return nil
	}
	return &Error{op, session, c, advice(op, c)}
}
