package eventpipe

import (
	"errors"
	"fmt"
	"io/fs"
)

var (
	// ErrNotFound says that there is no runtime to connect to.
	ErrNotFound = errors.New("no .NET runtime to connect to")
	// ErrNoAnswer says that the runtime closed the connection without an answer.
	ErrNoAnswer = errors.New("the connection was closed without an answer; the process may have ended")
	// ErrProtocol says that an answer is not of the protocol.
	ErrProtocol = errors.New("the answer is not one of a .NET runtime")
	// ErrInvalid says that a command makes no sense. It was not sent.
	ErrInvalid = errors.New("invalid")
	// ErrClosed says that a client, a session or a listener was closed. It is fs.ErrClosed.
	ErrClosed error = closedError{}
)

type closedError struct{}

func (closedError) Error() string { return "closed" }

func (closedError) Is(target error) bool { return target == fs.ErrClosed }

// A Code is the HRESULT with which a runtime refuses a command.
type Code uint32

// The codes that runtimes are known to answer.
const (
	CodeUnsupported     Code = 0x80131515
	CodeBadEncoding     Code = 0x80131384
	CodeUnknownCommand  Code = 0x80131385
	CodeUnknownMagic    Code = 0x80131386
	CodeFailed          Code = 0x80004005
	CodeNotYet          Code = 0x8013135b
	CodeNotInitialized  Code = 0x80131371
	CodeProfilerActive  Code = 0x8013136a
	CodeInvalidArgument Code = 0x80070057
	CodeBufferTooSmall  Code = 0x8007007a
	CodeNoVariable      Code = 0x800000cb
)

var codeTexts = map[Code]string{
	CodeUnsupported:     "not supported",
	CodeBadEncoding:     "bad encoding",
	CodeUnknownCommand:  "unknown command",
	CodeUnknownMagic:    "unknown protocol",
	CodeFailed:          "it failed",
	CodeNotYet:          "not available yet",
	CodeNotInitialized:  "the runtime is not initialized",
	CodeProfilerActive:  "a profiler is active already",
	CodeInvalidArgument: "invalid argument",
	CodeBufferTooSmall:  "buffer too small",
	CodeNoVariable:      "no such environment variable",
}

// String returns the meaning of c, if it is known, and its number.
func (c Code) String() string {
	if text := codeTexts[c]; text != "" {
		return fmt.Sprintf("%s (%#x)", text, uint32(c))
	}
	return fmt.Sprintf("%#x", uint32(c))
}

// A RefusedError is the answer of a runtime that refuses a command.
type RefusedError struct {
	Process string // as [Client.String] has it
	Command string // by its name in the protocol
	Since   string // the first version of .NET that knows the command
	Code    Code
	Text    string // what the runtime says of it, often nothing
}

// Error names the process, the command, and the remedy.
func (e *RefusedError) Error() string {
	s := fmt.Sprintf("eventpipe: %s: %s: %v", e.Process, e.Command, e.Code)
	if e.Text != "" {
		s += ": " + e.Text
	}
	switch {
	case e.Code == CodeUnknownCommand:
		s += "; it takes " + e.Since
	case e.Code == CodeFailed && e.Command == commands[collectTracing].name:
		s += "; the process may have as many sessions as it can, 64"
	}
	return s
}

// Is reports whether target is errors.ErrUnsupported, and the runtime is too old for
// the command or was built without it.
func (e *RefusedError) Is(target error) bool {
	return target == errors.ErrUnsupported && (e.Code == CodeUnknownCommand || e.Code == CodeUnsupported)
}

// invalid returns an error for a value that would not make sense to a runtime.
func invalid(format string, args ...any) error {
	return fmt.Errorf("eventpipe: %w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

// isRefused reports an answer, if a negative one: somebody is there.
func isRefused(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused)
}

// errNoProcess says that there is no process at all.
var errNoProcess = fmt.Errorf("%w: there is no such process", ErrNotFound)

func isGone(err error) bool { return errors.Is(err, errNoProcess) }
