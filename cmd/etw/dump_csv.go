package main

import (
	"bytes"
	"encoding/hex"
	"strconv"
)

// A csvWriter prints an event as a record of CSV, as RFC 4180 has it but for the
// ends of lines, with the columns that JSON has as keys. Fields are an object of
// JSON.
type csvWriter struct {
	json jsonWriter
	cell []byte
}

func (w *csvWriter) begin(b []byte) []byte {
	b = append(b, "time,ms,provider,guid,id,version,opcode,level,task,keywords,event,pid,tid,cpu,size,activity,related,fields"...)
	if w.json.stacks {
		b = append(b, ",stack"...)
	}
	return append(b, ",payload,error\n"...)
}

func (w *csvWriter) append(b []byte, s *shot) []byte {
	b = w.json.time.append(b, s.Clock.FileTime(s.Timestamp))
	b = appendExactMS(append(b, ','), s.elapsed)
	b = appendCell(b, []byte(s.event.Provider))
	b, _ = s.Provider.AppendText(append(b, ','))
	b = strconv.AppendUint(append(b, ','), uint64(s.ID), 10)
	b = strconv.AppendUint(append(b, ','), uint64(s.Version), 10)
	b = strconv.AppendUint(append(b, ','), uint64(s.Opcode), 10)
	b = strconv.AppendUint(append(b, ','), uint64(s.Level), 10)
	b = strconv.AppendUint(append(b, ','), uint64(s.Task), 10)
	b = appendHex(append(b, ','), s.Keywords)
	b = appendCell(b, []byte(s.event.Name))
	b = strconv.AppendInt(append(b, ','), s.ProcessID, 10)
	b = strconv.AppendInt(append(b, ','), s.ThreadID, 10)
	b = strconv.AppendInt(append(b, ','), int64(s.Processor), 10)
	b = strconv.AppendInt(append(b, ','), int64(len(s.Payload)), 10)
	if b = append(b, ','); !s.ActivityID.IsZero() {
		b, _ = s.ActivityID.AppendText(b)
	}
	if b = append(b, ','); !s.RelatedActivityID.IsZero() {
		b, _ = s.RelatedActivityID.AppendText(b)
	}
	w.cell = w.json.fields(w.cell[:0], s)
	b = appendCell(b, w.cell)
	if w.json.stacks {
		b = appendStack(append(b, ','), s.Stack, " ", "")
	}
	if b = append(b, ','); w.json.payload || s.undecoded() {
		b = hex.AppendEncode(b, s.Payload)
	}
	b = appendCell(b, []byte(s.problem()))
	return append(b, '\n')
}

// appendCell appends a comma and a cell, in quotes where it needs them.
func appendCell(b, cell []byte) []byte {
	b = append(b, ',')
	if !bytes.ContainsAny(cell, "\",\r\n") {
		return append(b, cell...)
	}
	b = append(b, '"')
	for {
		i := bytes.IndexByte(cell, '"')
		if i < 0 {
			break
		}
		b = append(append(b, cell[:i+1]...), '"')
		cell = cell[i+1:]
	}
	return append(append(b, cell...), '"')
}
