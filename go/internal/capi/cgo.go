package capi

// The one place for compiler and linker settings. In the tree the library is the one that `make
// build` left under build/; elsewhere it is found through pkg-config (tag hukilau_system).

/*
#cgo !hukilau_system CFLAGS: -I${SRCDIR}/../../../luau/include
#cgo !hukilau_system,!hukilau_san LDFLAGS: -L${SRCDIR}/../../../build/lib -lhukilau -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic -lm -lpthread -ldl
#cgo hukilau_san LDFLAGS: -L${SRCDIR}/../../../build/san/lib -lhukilau -lstdc++ -lm -lpthread -ldl -fsanitize=address,undefined
#cgo hukilau_system pkg-config: --static hukilau
*/
import "C"
