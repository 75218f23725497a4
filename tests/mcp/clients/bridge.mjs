// A bridge for the conformance suite, which speaks HTTP alone: each of its sessions is one process of `luau mcp`,
// whose lines go out and in unchanged. node bridge.mjs COMMAND prints the address.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

const command = process.argv[2];
const sessions = new Map();

// Which request of the client a message of the server belongs to: its stream is where that message goes.
function related(message, open) {
	const token = message.params?.progressToken;
	if (token !== undefined) {
		for (const [id, request] of open) {
			if (request.params?._meta?.progressToken === token) return id;
		}
	}
	const calls = [...open].filter(([, request]) => request.method === "tools/call");
	return calls.at(-1)?.[0];
}

async function begin() {
	const host = `127.0.0.1:${server.address().port}`;
	const http = new StreamableHTTPServerTransport({
		enableDnsRebindingProtection: true,
		allowedHosts: [host],
		allowedOrigins: [`http://${host}`],
		sessionIdGenerator: randomUUID,
		onsessioninitialized: (id) => sessions.set(id, http),
	});
	const stdio = new StdioClientTransport({ command, stderr: "inherit" });
	const open = new Map();
	http.onmessage = (message) => {
		if (message.method !== undefined && message.id !== undefined) open.set(message.id, message);
		stdio.send(message).catch(() => http.close());
	};
	stdio.onmessage = (message) => {
		if (message.method === undefined) {
			open.delete(message.id);
			return http.send(message);
		}
		const relatedRequestId = message.method.endsWith("list_changed") ? undefined : related(message, open);
		return http.send(message, { relatedRequestId });
	};
	http.onclose = () => stdio.close();
	stdio.onclose = () => http.close();
	await stdio.start();
	await http.start();
	return http;
}

const server = createServer(async (request, response) => {
	const known = sessions.get(request.headers["mcp-session-id"]);
	await (known ?? (await begin())).handleRequest(request, response);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
