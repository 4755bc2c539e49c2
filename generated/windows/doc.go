// Package windows knows providers that most traces and logs of Windows have: the events that
// logman, collector sets, event logs and security tools record. Use it to have them in a
// list; to handle their events, use the packages below it. Four are those by which the kernel
// tells of itself to any session, beside the classic events of package kernel, and have all
// events:
//
//	process     Microsoft-Windows-Kernel-Process    processes, threads and images
//	network     Microsoft-Windows-Kernel-Network    TCP and UDP
//	file        Microsoft-Windows-Kernel-File       what is asked of file systems
//	disk        Microsoft-Windows-Kernel-Disk       what disks answered
//
// The others have the events that are asked for most; of the rest "etwgen gen" makes types
// from a manifest, and whoever reads them without is given bytes:
//
//	registry    Microsoft-Windows-Kernel-Registry   what programs ask of the registry
//	power       Microsoft-Windows-Kernel-Power      sleep, shutdown, power supply
//	dns         Microsoft-Windows-DNS-Client        lookups of names by Windows
//	tcpip       Microsoft-Windows-TCPIP             connections of TCP, state by state
//	httpsys     Microsoft-Windows-HttpService       requests that http.sys serves
//	wininet     Microsoft-Windows-WinINet           requests of programs that use WinINet
//	powershell  Microsoft-Windows-PowerShell        scripts and commands that PowerShell runs
//	auditing    Microsoft-Windows-Security-Auditing logons, processes, access: the security log
//	scheduler   Microsoft-Windows-TaskScheduler     scheduled tasks as they run
//	defender    Microsoft-Windows-Windows Defender  what the antivirus of Windows finds and does
//
// Fields, types and numbers are those of Windows 7 and 10. A newer Windows may have newer
// versions of an event: their new fields are behind those that are known here.
//
// A record of the kernel's is of the thread on which it was logged. That of the network is
// any that was running; [Subject] tells which process an event is about.
package windows
