// Package kvmod is a key-value store in memory for scripts, shared by the VMs of a process. Values are
// copied on the way in and out, so no script holds what another one has.
//
// A [Store] is one for the process; each [Module] of it is one namespace, which sees its own keys only.
// All is bounded: entries and bytes of a namespace, bytes of the store.
package kvmod
