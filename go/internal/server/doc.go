// Package server is the HTTP face of a tool host: it lists tools, calls them, streams what they tell, keeps calls
// that run on their own, and lets an operator approve calls. Every request passes the same checks first, the
// Model Context Protocol's among them. It reads no files and no configuration.
//
//	GET    /health             whether it serves; needs no token
//	GET    /tools/list         the tools, in the form in which models are told of functions; broken ones apart
//	POST   /tools/{name}       calls one: {"result": ...} or {"error": {"code", "message", "path"?, "detail"?, "data"?}}
//	GET    /calls/{id}         a call that runs on its own, or needed an approval: for who made it, and operators
//	GET    /calls/{id}/events  what it tells, from Last-Event-ID on
//	DELETE /calls/{id}         ends one that runs on its own
//	GET    /approvals[/{id}]   calls that need an approval: for operators, like the next
//	POST   /approvals/{id}     {"approve": true} or {"approve": false}
//	GET    /openapi.json       the server as an OpenAPI 3.1 document
//	GET    /metrics            counters, for Prometheus
//	       /mcp                the Model Context Protocol
//
// Headers of a call: Accept: text/event-stream answers with events (emit, progress, log, then result, error or
// pending); Prefer: respond-async answers 202 at once; Idempotency-Key runs it once however often it is sent;
// Session-Id says whose state it works on; Approval is the id of an approval that was given for it. Each answer
// has X-Request-Id, under which the log has the whole story.
package server
