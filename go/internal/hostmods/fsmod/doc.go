// Package fsmod gives scripts files and directories.
//
// What is granted is a list of directories. All work under one goes through an os.Root, so that
// neither ".." nor a link leads out of it. A script that may do everything works on the whole file
// system; what deny_read and deny_write name is found through links as well, by looking before the
// access, so they protect against mistakes and not against another process that changes links.
//
// Only regular files are read and written: opening a FIFO or a device could wait for ever.
package fsmod
