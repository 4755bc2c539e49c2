package loader

import "github.com/etwgen/etwgen/analysis/measure"

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Result holds the loads in a trace.
type Result struct {
	Schema   int        `json:"schema"`
	Runtimes []*Runtime `json:"runtimes"`
}

// A Runtime is one .NET runtime in one process.
type Runtime struct {
	PID         int64  `json:"pid"`
	CLRInstance uint16 `json:"clrInstance"`
	Life        int    `json:"life,omitempty"`

	// Assemblies and Modules come in the order in which they were loaded; those that
	// were there when the session ended and whose load was not seen come first.
	Assemblies []Assembly `json:"assemblies"`
	Modules    []Module   `json:"modules"`
	AppDomains int        `json:"appDomains"` // loaded in the trace
	// Binds are the look-ups of assemblies by name.
	Binds  []Bind          `json:"binds"`
	BindMS measure.Summary `json:"bindMs"`
	Failed int             `json:"failed"` // binds without success
	Cached int             `json:"cached"` // binds that found what was loaded before
	// Stages are the steps of binds and how they ended; Probes the paths at which
	// assemblies were looked for.
	Stages []Stage `json:"stages,omitempty"`
	Probes []Stage `json:"probes,omitempty"`
	// Handlers counts those of the program that were asked for an assembly.
	Handlers int `json:"handlers"`

	Types *TypeLoads `json:"types,omitempty"`
	// Methods counts the methods whose code was loaded, and Bytes the size of that.
	Methods     int    `json:"methods"`
	MethodBytes uint64 `json:"methodBytes"`
}

// An Assembly is one load of an assembly.
type Assembly struct {
	Name string `json:"name"`
	// LoadedMS is unknown of one that only the rundown has. At the end of a program,
	// the runtime unloads all.
	LoadedMS    measure.Float `json:"loadedMs,omitzero"`
	UnloadedMS  measure.Float `json:"unloadedMs,omitzero"`
	Dynamic     bool          `json:"dynamic,omitempty"`
	Collectible bool          `json:"collectible,omitempty"`
}

// A Module is one load of a module.
type Module struct {
	Path        string        `json:"path"`
	NativePath  string        `json:"nativePath,omitempty"`
	LoadedMS    measure.Float `json:"loadedMs,omitzero"`
	UnloadedMS  measure.Float `json:"unloadedMs,omitzero"`
	ReadyToRun  bool          `json:"readyToRun,omitempty"` // it has precompiled code
	Partial     bool          `json:"partial,omitempty"`    // of which only a part is used
	NativeImage bool          `json:"nativeImage,omitempty"`
	Dynamic     bool          `json:"dynamic,omitempty"`
	// PDB and PDBAge identify the symbols of the managed code.
	PDB    string `json:"pdb,omitempty"`
	PDBAge uint32 `json:"pdbAge,omitempty"`
}

// A Bind is a look-up of an assembly.
type Bind struct {
	StartMS    float64  `json:"startMs"`
	DurationMS float64  `json:"durationMs"`
	Requested  string   `json:"requested"`
	Path       string   `json:"path,omitempty"` // that was asked for
	Requesting string   `json:"requesting,omitempty"`
	Context    string   `json:"context,omitempty"`
	Success    bool     `json:"success"`
	Cached     bool     `json:"cached,omitempty"`
	Result     string   `json:"result,omitempty"`
	ResultPath string   `json:"resultPath,omitempty"`
	Errors     []string `json:"errors,omitempty"` // of its stages
}

// A Stage is how often a step of binds ended in a way.
type Stage struct {
	Stage  string `json:"stage"`
	Result string `json:"result"`
	Count  int    `json:"count"`
}

// TypeLoads is the loading of types.
type TypeLoads struct {
	Count       int     `json:"count"`
	InclusiveMS float64 `json:"inclusiveMs"`
	// ExclusiveMS is without loads within others on the same thread.
	ExclusiveMS float64 `json:"exclusiveMs"`
	Open        int     `json:"open,omitempty"`
	LostStops   int     `json:"lostStops,omitempty"`
	Levels      []Level `json:"levels"`
	// Longest has the hundred that took longest, nested loads included.
	Longest []TypeLoad     `json:"longest"`
	Series  measure.Series `json:"series"` // of exclusive ms
}

// A Level is how far types were loaded.
type Level struct {
	Level       int     `json:"level"`
	Count       int     `json:"count"`
	ExclusiveMS float64 `json:"exclusiveMs"`
}

// A TypeLoad is one load of a type.
type TypeLoad struct {
	Type        string  `json:"type"`
	StartMS     float64 `json:"startMs"`
	InclusiveMS float64 `json:"inclusiveMs"`
	ExclusiveMS float64 `json:"exclusiveMs"`
	Level       int     `json:"level"`
}
