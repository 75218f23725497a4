// Package engine owns VMs and runs scripts in them: the scheduler, limits, cancellation, require,
// pools of saved VMs. It knows host modules by package hostmod only.
//
// One goroutine owns a VM while a run lasts. It resumes what is ready and otherwise waits on one
// channel; no other goroutine touches the VM but to end its run.
package engine
