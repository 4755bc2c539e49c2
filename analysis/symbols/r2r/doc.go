// Package r2r reads the code that .NET files have beside their IL: ReadyToRun images,
// which are compiled ahead of time. Such a file lists its methods by itself, so that an
// address in it has a name without a rundown, without symbols, and without the process.
// Use it for stacks that lead through code that was compiled ahead of time.
//
//	image, err := r2r.Parse(data)
//	method, ok := image.Lookup(rva)
//	fmt.Println(method.Name())
//
// Addresses count from the base of the image (RVA). Where a trace has offsets in the file,
// as those of Linux do, [Image.RVA] turns them into addresses.
//
// # Kinds of images
//
// Most images have the code of one assembly, and the names of it. The code of a composite
// image is that of several, whose names are in their own files: [Image.Components] says
// which, and [Image.Attach] adds them. The components have no code of their own, and name
// the image that has it ([Image.Owner]). Programs that are a single file have their images
// inside: [ReadBundle] finds them.
//
// # Names
//
// Names have the form that the runtime gives them in its events, so that code that is
// compiled ahead of time and at run time is the same method: nested types behind a plus
// sign, type arguments in brackets, and a signature that the arguments are not put into.
// They are made when they are asked for.
//
// Files may be damaged or made to do harm: no size in a file is allocated by, names are
// bounded, and a reference to something that does not exist leaves a method without a name.
package r2r
