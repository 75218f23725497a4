// The reference TypeScript client lists and calls the tools: node client.mjs URL | COMMAND.
import assert from "node:assert/strict";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as types from "@modelcontextprotocol/sdk/types.js";

const target = process.argv[2];
const transport = target.startsWith("http")
	? new StreamableHTTPClientTransport(new URL(target))
	: new StdioClientTransport({ command: target, stderr: "ignore" });
const client = new Client({ name: "test", version: "1.0.0" }, { capabilities: { elicitation: {} } });

const questions = [];
client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => {
	questions.push(params.message);
	const field = Object.keys(params.requestedSchema.properties)[0];
	return { action: "accept", content: { [field]: field === "approve" ? true : "Ada" } };
});
const logged = [];
client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) => { logged.push(params.data); });
const changed = new Promise((resolve) => client.setNotificationHandler(types.ToolListChangedNotificationSchema, resolve));

const text = (result) => result.content[0].text;

await client.connect(transport);
assert.equal(client.getServerVersion().name, "hukilau");

const names = (await client.listTools()).tools.map((tool) => tool.name);
assert.ok(names.includes("echo") && names.includes("json_schema_2020_12_tool"), names.join());

const args = { list: [], object: {}, nothing: null, number: 1.5, text: "<ø>" };
const echoed = await client.callTool({ name: "echo", arguments: args });
assert.deepEqual(echoed.structuredContent, args);
assert.deepEqual(JSON.parse(text(echoed)), args);

const failed = await client.callTool({ name: "test_error_handling", arguments: {} });
assert.equal(failed.isError, true);
assert.equal(text(failed), "This tool intentionally returns an error for testing");
await assert.rejects(client.callTool({ name: "nothing", arguments: {} }), { code: -32602 });

const steps = [];
await client.callTool({ name: "test_tool_with_progress", arguments: {} }, undefined, { onprogress: ({ progress }) => { steps.push(progress); } });
assert.deepEqual(steps, [0, 50, 100]);

await client.setLoggingLevel("info");
await client.callTool({ name: "test_tool_with_logging", arguments: {} });
assert.equal(logged.length, 3);

assert.match(text(await client.callTool({ name: "test_elicitation", arguments: { message: "Who?" } })), /accept.*Ada/);
assert.equal(text(await client.callTool({ name: "needs_approval", arguments: { what: "it" } })), "approved: it");
assert.equal(questions.length, 2);
assert.match(questions[1], /needs_approval/);

await client.callTool({ name: "test_trigger_tool_change", arguments: {} });
await changed;
await client.close();
console.log(`TypeScript client: ${target.startsWith("http") ? "HTTP" : "stdio"} works`);
