package gateway

// WithBytes is what services get for the arguments of a call.
var WithBytes = withBytes
