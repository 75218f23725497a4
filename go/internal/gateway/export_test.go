package gateway

// WithBytes is what services get for the arguments of a call.
var WithBytes = withBytes

// Part is a part of a result that was kept.
var Part = part
