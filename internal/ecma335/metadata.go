package ecma335

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sync"
)

// Metadata is the metadata of an assembly, or a portable PDB.
type Metadata struct {
	Version string
	// PDB is the stream that a portable PDB has for itself, nil in an assembly.
	PDB *PDBStream

	strings, userStrings, guids, blobs []byte

	counts [tableCount]uint32 // rows, also of an assembly's tables where this is its PDB
	tables [tableCount]table
}

// A PDBStream says which assembly a portable PDB is of.
type PDBStream struct {
	ID         [20]byte
	EntryPoint Token
}

// A table is where the rows of one are.
type table struct {
	data    []byte
	rows    uint32
	size    uint32 // of a row
	columns [mostColumns]cell

	orders [mostColumns]order
}

// A cell is where a row has a column.
type cell struct{ offset, size uint8 }

// An order is how the rows of a table are found by a column.
type order struct {
	once sync.Once
	rows []uint32 // by the column; nil if the table is sorted by it
}

const (
	rootMagic   = 0x424a5342 // BSJB
	maxStreams  = 64         // there are seven kinds
	streamName  = 32
	tablesHead  = 24
	pdbHead     = 32
	wideStrings = 1
	wideGUIDs   = 2
	wideBlobs   = 4
	extraData   = 0x40
)

// ParseMetadata reads metadata by its root: that of an assembly, or a portable PDB as
// a file. It keeps b.
func ParseMetadata(b []byte) (*Metadata, error) {
	if len(b) < 16 || binary.LittleEndian.Uint32(b) != rootMagic {
		return nil, fault(0, "no metadata: it does not begin with BSJB")
	}
	size := uint64(binary.LittleEndian.Uint32(b[12:]))
	at := 16 + size
	if at+4 > uint64(len(b)) {
		return nil, fault(12, "the version is %d bytes long and ends outside of the metadata", size)
	}
	m := &Metadata{Version: string(bytes.TrimRight(b[16:at], "\x00"))}
	streams := binary.LittleEndian.Uint16(b[at+2:])
	if streams > maxStreams {
		return nil, fault(at+2, "%d streams are more than there are kinds", streams)
	}
	at += 4
	var tables, pdb []byte
	for range streams {
		name, data, next, err := stream(b, at)
		if err != nil {
			return nil, err
		}
		at = next
		switch name {
		case "#~", "#-":
			tables = data
		case "#Strings":
			m.strings = data
		case "#US":
			m.userStrings = data
		case "#GUID":
			m.guids = data
		case "#Blob":
			m.blobs = data
		case "#Pdb":
			pdb = data
		}
	}
	if tables == nil {
		return nil, fault(at, "the metadata has no tables")
	}
	if pdb != nil {
		if err := m.readPDB(pdb); err != nil {
			return nil, err
		}
	}
	return m, m.readTables(tables)
}

// stream reads the head of a stream, and returns its bytes and where the next head
// is.
func stream(b []byte, at uint64) (name string, data []byte, next uint64, err error) {
	if at+8 > uint64(len(b)) {
		return "", nil, 0, fault(at, "the list of streams ends outside of the metadata")
	}
	from, size := uint64(binary.LittleEndian.Uint32(b[at:])), uint64(binary.LittleEndian.Uint32(b[at+4:]))
	text := b[at+8 : min(at+8+streamName, uint64(len(b)))]
	end := bytes.IndexByte(text, 0)
	if end < 0 {
		return "", nil, 0, fault(at+8, "the name of a stream does not end")
	}
	if from+size > uint64(len(b)) {
		return "", nil, 0, fault(at, "stream %q ends outside of the metadata: offset %#x, %d bytes", text[:end], from, size)
	}
	return string(text[:end]), b[from : from+size : from+size], at + 8 + uint64(end)/4*4 + 4, nil
}

// readPDB reads the stream of a portable PDB. The rows that it counts are those of
// the assembly: only the width of columns depends on them.
func (m *Metadata) readPDB(b []byte) error {
	if len(b) < pdbHead {
		return fault(0, "stream #Pdb has %d bytes, which is too short", len(b))
	}
	m.PDB = &PDBStream{[20]byte(b[:20]), Token(binary.LittleEndian.Uint32(b[20:]))}
	mask := binary.LittleEndian.Uint64(b[24:])
	b = b[pdbHead:]
	if mask>>Document != 0 || len(b) < 4*bits.OnesCount64(mask) {
		return fault(24, "stream #Pdb has tables %#x of the assembly, which cannot be", mask)
	}
	for ; mask != 0; mask &= mask - 1 {
		m.counts[bits.TrailingZeros64(mask)] = binary.LittleEndian.Uint32(b)
		b = b[4:]
	}
	return nil
}

// readTables finds the tables in their stream.
func (m *Metadata) readTables(b []byte) error {
	if len(b) < tablesHead {
		return fault(0, "the stream of tables has %d bytes, which is too short", len(b))
	}
	heaps, mask := b[6], binary.LittleEndian.Uint64(b[8:])
	if mask>>tableCount != 0 {
		return fault(8, "there are tables that nothing is known of: %#x", mask)
	}
	at := uint64(tablesHead)
	if at+4*uint64(bits.OnesCount64(mask)) > uint64(len(b)) {
		return fault(at, "the counts of rows end outside of the stream of tables")
	}
	for left := mask; left != 0; left &= left - 1 {
		t := bits.TrailingZeros64(left)
		rows := binary.LittleEndian.Uint32(b[at:])
		if schema[t] == nil {
			return fault(8, "there is a table %#x, which does not exist", t)
		}
		if rows > maxRows {
			return fault(at, "table %#x has %d rows, more than a token can name", t, rows)
		}
		m.counts[t], m.tables[t].rows = rows, rows
		at += 4
	}
	if heaps&extraData != 0 {
		at += 4
	}
	for left := mask; left != 0; left &= left - 1 {
		t := Table(bits.TrailingZeros64(left))
		m.layOut(t, heaps)
		size := uint64(m.tables[t].rows) * uint64(m.tables[t].size)
		if at+size > uint64(len(b)) {
			return fault(at, "table %#x ends outside of its stream: %d rows of %d bytes", t, m.tables[t].rows, m.tables[t].size)
		}
		m.tables[t].data = b[at : at+size : at+size]
		at += size
	}
	return nil
}

// layOut computes where the rows of a table have their columns.
func (m *Metadata) layOut(t Table, heaps byte) {
	offset := uint8(0)
	for i, c := range schema[t] {
		size := m.width(c, heaps)
		m.tables[t].columns[i] = cell{offset, size}
		offset += size
	}
	m.tables[t].size = uint32(offset)
}

// width returns how many bytes a column takes.
func (m *Metadata) width(c column, heaps byte) uint8 {
	wide := false
	switch {
	case c == u16:
	case c == u32:
		wide = true
	case c == str:
		wide = heaps&wideStrings != 0
	case c == guid:
		wide = heaps&wideGUIDs != 0
	case c == blob:
		wide = heaps&wideBlobs != 0
	case c < coded:
		wide = m.counts[c-index] >= narrowTokens
	default:
		tables := codedTables[c-coded]
		limit := uint32(narrowTokens >> tagBits(tables))
		for _, t := range tables {
			wide = wide || t != noTable && m.counts[t] >= limit
		}
	}
	if wide {
		return 4
	}
	return 2
}

// tagBits returns how many bits tell apart the tables that a column may refer to.
func tagBits(tables []Table) int { return bits.Len(uint(len(tables) - 1)) }

// Count returns how many rows a table has. A portable PDB knows that of the tables of its
// assembly, too.
func (m *Metadata) Count(t Table) uint32 { return m.counts[t] }

// Rows returns how many rows a table has. They count from 1.
func (m *Metadata) Rows(t Table) uint32 { return m.tables[t].rows }

// Cell returns the value of a row in a column, as it is in the file. It is 0 for rows that
// do not exist.
func (m *Metadata) Cell(t Table, row uint32, column int) uint32 {
	tab := &m.tables[t]
	if row == 0 || row > tab.rows {
		return 0
	}
	c := tab.columns[column]
	b := tab.data[uint64(row-1)*uint64(tab.size)+uint64(c.offset):]
	if c.size == 4 {
		return binary.LittleEndian.Uint32(b)
	}
	return uint32(binary.LittleEndian.Uint16(b))
}

// A Token names a row of a table: the table in its highest byte, the row in the others.
// Zero means no row.
type Token uint32

// MakeToken returns the token of a row.
func MakeToken(t Table, row uint32) Token { return Token(t)<<24 | Token(row&maxRows) }

// Table returns the table.
func (t Token) Table() Table { return Table(t >> 24) }

// Row returns the row. It is 0 if the token is nil.
func (t Token) Row() uint32 { return uint32(t) & maxRows }

// Token returns the row that a column refers to. It is zero if there is none.
func (m *Metadata) Token(t Table, row uint32, column int) Token {
	return m.decode(schema[t][column], m.Cell(t, row, column))
}

// decode makes a token of a column's reference to rows.
func (m *Metadata) decode(c column, v uint32) Token {
	target := noTable
	switch {
	case c >= coded:
		target, v = untag(codedTables[c-coded], v)
	case c >= index:
		target = Table(c - index)
	}
	if target == noTable || v == 0 || v > m.counts[target] || v > maxRows {
		return 0
	}
	return MakeToken(target, v)
}

// untag takes the tag off a reference to one of several tables.
func untag(tables []Table, v uint32) (Table, uint32) {
	n := tagBits(tables)
	if tag := v & (1<<n - 1); int(tag) < len(tables) {
		return tables[tag], v >> n
	}
	return noTable, 0
}

// tag is the opposite of decode for references to one of several tables.
func tag(c column, t Token) (uint32, bool) {
	tables := codedTables[c-coded]
	for i, table := range tables {
		if table == t.Table() {
			return t.Row()<<tagBits(tables) | uint32(i), true
		}
	}
	return 0, false
}
