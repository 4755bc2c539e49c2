package ecma335

// A Table is the number of a table.
type Table uint8

// The tables of assemblies, and from Document on those of portable PDBs.
const (
	Module                 Table = 0x00
	TypeRef                Table = 0x01
	TypeDef                Table = 0x02
	FieldPtr               Table = 0x03
	Field                  Table = 0x04
	MethodPtr              Table = 0x05
	MethodDef              Table = 0x06
	ParamPtr               Table = 0x07
	Param                  Table = 0x08
	InterfaceImpl          Table = 0x09
	MemberRef              Table = 0x0a
	Constant               Table = 0x0b
	CustomAttribute        Table = 0x0c
	FieldMarshal           Table = 0x0d
	DeclSecurity           Table = 0x0e
	ClassLayout            Table = 0x0f
	FieldLayout            Table = 0x10
	StandAloneSig          Table = 0x11
	EventMap               Table = 0x12
	EventPtr               Table = 0x13
	Event                  Table = 0x14
	PropertyMap            Table = 0x15
	PropertyPtr            Table = 0x16
	Property               Table = 0x17
	MethodSemantics        Table = 0x18
	MethodImpl             Table = 0x19
	ModuleRef              Table = 0x1a
	TypeSpec               Table = 0x1b
	ImplMap                Table = 0x1c
	FieldRVA               Table = 0x1d
	EncLog                 Table = 0x1e
	EncMap                 Table = 0x1f
	Assembly               Table = 0x20
	AssemblyProcessor      Table = 0x21
	AssemblyOS             Table = 0x22
	AssemblyRef            Table = 0x23
	AssemblyRefProcessor   Table = 0x24
	AssemblyRefOS          Table = 0x25
	File                   Table = 0x26
	ExportedType           Table = 0x27
	ManifestResource       Table = 0x28
	NestedClass            Table = 0x29
	GenericParam           Table = 0x2a
	MethodSpec             Table = 0x2b
	GenericParamConstraint Table = 0x2c
	Document               Table = 0x30
	MethodDebugInformation Table = 0x31
	LocalScope             Table = 0x32
	LocalVariable          Table = 0x33
	LocalConstant          Table = 0x34
	ImportScope            Table = 0x35
	StateMachineMethod     Table = 0x36
	CustomDebugInformation Table = 0x37

	tableCount   = 0x38
	noTable      = Table(0xff)
	userStrings  = Table(0x70) // of the tokens of strings in code
	maxRows      = 1<<24 - 1   // a token has 24 bits for them
	mostColumns  = 9
	narrowHeap   = 1 << 16
	narrowTokens = 1 << 16
)

// A column is the type of a column of a table: a number, a place in a heap, a row of another
// table (index plus its number) or of one of several (coded plus their kind).
type column uint8

const (
	u16 column = iota
	u32
	str
	guid
	blob
	index column = 0x40
	coded column = 0x80
)

// The kinds of references to one of several tables, by the referrer.
const (
	typeDefOrRef = coded + iota
	hasConstant
	hasCustomAttribute
	hasFieldMarshal
	hasDeclSecurity
	memberRefParent
	hasSemantics
	methodDefOrRef
	memberForwarded
	implementation
	customAttributeType
	resolutionScope
	typeOrMethodDef
	hasCustomDebugInformation
)

// codedTables has, for each kind, the tables by tag. How many bits a tag has follows
// from their count.
var codedTables = [...][]Table{
	typeDefOrRef - coded: {TypeDef, TypeRef, TypeSpec},
	hasConstant - coded:  {Field, Param, Property},
	hasCustomAttribute - coded: {MethodDef, Field, TypeRef, TypeDef, Param, InterfaceImpl, MemberRef, Module,
		DeclSecurity, Property, Event, StandAloneSig, ModuleRef, TypeSpec, Assembly, AssemblyRef, File,
		ExportedType, ManifestResource, GenericParam, GenericParamConstraint, MethodSpec},
	hasFieldMarshal - coded:     {Field, Param},
	hasDeclSecurity - coded:     {TypeDef, MethodDef, Assembly},
	memberRefParent - coded:     {TypeDef, TypeRef, ModuleRef, MethodDef, TypeSpec},
	hasSemantics - coded:        {Event, Property},
	methodDefOrRef - coded:      {MethodDef, MemberRef},
	memberForwarded - coded:     {Field, MethodDef},
	implementation - coded:      {File, AssemblyRef, ExportedType},
	customAttributeType - coded: {noTable, noTable, MethodDef, MemberRef, noTable},
	resolutionScope - coded:     {Module, ModuleRef, AssemblyRef, TypeRef},
	typeOrMethodDef - coded:     {TypeDef, MethodDef},
	hasCustomDebugInformation - coded: {MethodDef, Field, TypeRef, TypeDef, Param, InterfaceImpl, MemberRef, Module,
		DeclSecurity, Property, Event, StandAloneSig, ModuleRef, TypeSpec, Assembly, AssemblyRef, File,
		ExportedType, ManifestResource, GenericParam, GenericParamConstraint, MethodSpec,
		Document, LocalScope, LocalVariable, LocalConstant, ImportScope},
}

func in(t Table) column { return index + column(t) }

// schema has the columns of each table.
var schema = [tableCount][]column{
	Module:                 {u16, str, guid, guid, guid},
	TypeRef:                {resolutionScope, str, str},
	TypeDef:                {u32, str, str, typeDefOrRef, in(Field), in(MethodDef)},
	FieldPtr:               {in(Field)},
	Field:                  {u16, str, blob},
	MethodPtr:              {in(MethodDef)},
	MethodDef:              {u32, u16, u16, str, blob, in(Param)},
	ParamPtr:               {in(Param)},
	Param:                  {u16, u16, str},
	InterfaceImpl:          {in(TypeDef), typeDefOrRef},
	MemberRef:              {memberRefParent, str, blob},
	Constant:               {u16, hasConstant, blob},
	CustomAttribute:        {hasCustomAttribute, customAttributeType, blob},
	FieldMarshal:           {hasFieldMarshal, blob},
	DeclSecurity:           {u16, hasDeclSecurity, blob},
	ClassLayout:            {u16, u32, in(TypeDef)},
	FieldLayout:            {u32, in(Field)},
	StandAloneSig:          {blob},
	EventMap:               {in(TypeDef), in(Event)},
	EventPtr:               {in(Event)},
	Event:                  {u16, str, typeDefOrRef},
	PropertyMap:            {in(TypeDef), in(Property)},
	PropertyPtr:            {in(Property)},
	Property:               {u16, str, blob},
	MethodSemantics:        {u16, in(MethodDef), hasSemantics},
	MethodImpl:             {in(TypeDef), methodDefOrRef, methodDefOrRef},
	ModuleRef:              {str},
	TypeSpec:               {blob},
	ImplMap:                {u16, memberForwarded, str, in(ModuleRef)},
	FieldRVA:               {u32, in(Field)},
	EncLog:                 {u32, u32},
	EncMap:                 {u32},
	Assembly:               {u32, u16, u16, u16, u16, u32, blob, str, str},
	AssemblyProcessor:      {u32},
	AssemblyOS:             {u32, u32, u32},
	AssemblyRef:            {u16, u16, u16, u16, u32, blob, str, str, blob},
	AssemblyRefProcessor:   {u32, in(AssemblyRef)},
	AssemblyRefOS:          {u32, u32, u32, in(AssemblyRef)},
	File:                   {u32, str, blob},
	ExportedType:           {u32, u32, str, str, implementation},
	ManifestResource:       {u32, u32, str, implementation},
	NestedClass:            {in(TypeDef), in(TypeDef)},
	GenericParam:           {u16, u16, typeOrMethodDef, str},
	MethodSpec:             {methodDefOrRef, blob},
	GenericParamConstraint: {in(GenericParam), typeDefOrRef},
	Document:               {blob, guid, blob, guid},
	MethodDebugInformation: {in(Document), blob},
	LocalScope:             {in(MethodDef), in(ImportScope), in(LocalVariable), in(LocalConstant), u32, u32},
	LocalVariable:          {u16, u16, str},
	LocalConstant:          {str, blob},
	ImportScope:            {in(ImportScope), blob},
	StateMachineMethod:     {in(MethodDef), in(MethodDef)},
	CustomDebugInformation: {hasCustomDebugInformation, guid, blob},
}
