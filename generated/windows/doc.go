// Package windows knows providers by which the kernel of Windows tells of itself to any
// session, beside the classic events of package kernel: what logman, collector sets and
// security tools record. Use it to have them in a list; to handle their events, use the
// packages below it:
//
//	process   Microsoft-Windows-Kernel-Process   processes, threads and images
//	network   Microsoft-Windows-Kernel-Network   TCP and UDP
//	file      Microsoft-Windows-Kernel-File      what is asked of file systems
//	disk      Microsoft-Windows-Kernel-Disk      what disks answered
//
// A record of these is of the thread on which it was logged. That of the network is
// any that was running; [Subject] tells which process an event is about.
package windows
