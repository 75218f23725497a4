// The reference TypeScript client uses the reference servers through the gateway, as a model's program does:
// node gateway.mjs (URL | COMMAND) FOLDER SERVER, where SERVER is server-everything, to compare with.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as types from "@modelcontextprotocol/sdk/types.js";

const [target, folder, everything] = process.argv.slice(2);

const questions = [];
let answer = { action: "accept", content: { name: "Ada", integer: 7 } };

async function connect(transport) {
	const client = new Client({ name: "test", version: "1.0.0" }, { capabilities: { elicitation: {}, sampling: {} } });
	client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => {
		questions.push(params.message);
		return "approve" in params.requestedSchema.properties ? { action: "accept", content: { approve: true } } : answer;
	});
	client.setRequestHandler(types.CreateMessageRequestSchema, ({ params }) => ({
		role: "assistant", model: "none", content: { type: "text", text: `heard: ${params.messages[0].content.text}` },
	}));
	client.setNotificationHandler(types.ResourceListChangedNotificationSchema, () => changes.splice(0).forEach((tell) => tell(true)));
	await client.connect(transport);
	return client;
}

// Whoever waits for a change of the list of resources.
const changes = [];
const change = () => Promise.race([new Promise((tell) => changes.push(tell)), new Promise((_, fail) => setTimeout(fail, 20_000, new Error("no change is told")))]);

const open = () => connect(target.startsWith("http")
	? new StreamableHTTPClientTransport(new URL(target))
	: new StdioClientTransport({ command: target, stderr: "ignore" }));
const client = await open();
const direct = await connect(new StdioClientTransport({ command: process.execPath, args: [everything, "stdio"], stderr: "ignore" }));

const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
async function texts(name, args) {
	const result = await call(name, args);
	assert.ok(!result.isError, JSON.stringify(result));
	assert.equal(result.content.length, 1);
	return result.content[0].text;
}
const json = async (name, args) => JSON.parse(await texts(name, args));
async function run(script, options, by = client) {
	const result = await by.callTool({ name: "execute_script", arguments: { script } }, undefined, options);
	assert.ok(!result.isError, `${script}\n${result.content[0].text}`);
	return JSON.parse(result.content[0].text);
}
async function fails(script) {
	const result = await call("execute_script", { script });
	assert.equal(result.isError, true, result.content[0].text);
	return result.content[0].text;
}

// The five tools of each face, in few words.
const { tools } = await client.listTools();
const face = ["execute_script", "get_function_docs", "list_apis", "list_functions", "search_docs"];
const other = ["execute", "inspect-tool-response", "list-server-tools", "list-servers", "tool-details"];
assert.deepEqual(tools.map((tool) => tool.name).sort(), [...face, ...other].sort());
const listed = JSON.stringify(tools.filter((tool) => face.includes(tool.name)));
assert.ok(listed.length / 4 < 1200, `${listed.length} characters`);

// What there is, and what it is like.
let apis;
do { // a listing waits a few seconds for servers, and this machine may be a busy one
	apis = await json("list_apis", {});
} while (apis.some((api) => api.status === "connecting"));
assert.deepEqual(apis.map(({ name, source }) => [name, source]), [
	["everything", "mcp"], ["everything_http", "mcp"], ["everything_sse", "mcp"], ["files", "mcp"], ["memory", "mcp"],
]);
assert.ok(apis.every((api) => api.functions > 5 && !api.status), JSON.stringify(apis));
const functions = (await json("list_functions", { api: "everything_sse" })).functions.map((f) => f.name);
assert.ok(functions.includes("everything_sse.get_sum"), functions.join());
assert.ok(!(await json("list_functions", { api: "files" })).functions.some((f) => f.name === "files.move_file"), "what is denied is not shown");
assert.match((await texts("search_docs", { query: "sum of two numbers" })).split("\n")[0], /get_sum/);
assert.match(await texts("search_docs", { query: "remember entities" }), /create_entities/);
assert.match(await texts("get_function_docs", { name: "everything.get_sum" }), /a: number/);
assert.match(await texts("get_function_docs", { name: "everything.get_structured_content" }), /"New York"[^]*conditions: string/);

// Each transport, both ways to write it, in parallel.
for (const server of ["everything", "everything_http", "everything_sse"]) {
	const sdk = `sdk.${server}`;
	const { result } = await run(`
		local sums = async.map({ 1, 2, 3, 4, 5 }, function(n) return ${sdk}.get_sum{ a = n, b = n } end)
		local promise, second = ${server}.echo{ message = "ʻaloha" }, ${server}.get_sum{ a = 2, b = 3 }
		print(promise:await())
		return { sums = sums, weather = ${sdk}["get-structured-content"]{ location = "Chicago" }, second = second:await() }`);
	assert.equal(result.sums.length, 5);
	assert.match(result.sums[4], /10/);
	assert.match(result.second, /5/);
	assert.deepEqual(result.weather, { temperature: 36, conditions: "Light rain / drizzle", humidity: 82 });

	// Nothing of a result is lost: it is what a client gets that asks the server itself.
	for (const [tool, args] of [
		["get-tiny-image", {}], ["get-annotated-message", { messageType: "error", includeImage: true }], ["get-resource-links", { count: 3 }],
		["get-structured-content", { location: "New York" }], ["get-resource-reference", { resourceType: "Blob", resourceId: 2 }],
	]) {
		const whole = await run(`return call_tool("${server}.${tool}", json.decode([==[${JSON.stringify(args)}]==]))`);
		const plain = await direct.callTool({ name: tool, arguments: args });
		const withoutTime = (value) => JSON.stringify(value).replace(/at \d+:\d+:\d+[^"]*|"blob":"[^"]*"/g, "");
		assert.equal(withoutTime(sorted(whole.result)), withoutTime(sorted(plain)), tool);
	}

	const steps = [];
	await run(`return ${sdk}.trigger_long_running_operation{ duration = 0.3, steps = 3 }`, { onprogress: ({ progress }) => steps.push(progress) });
	assert.ok(["1,2,3", "1,2"].includes(steps.join()), `${steps}: this client drops what comes together with the answer`);

	questions.length = 0;
	const elicited = await run(`return ${sdk}.trigger_elicitation_request{}`);
	assert.match(JSON.stringify(elicited.result), /Name: Ada.*Favorite Integer: 7/);
	assert.equal(questions.length, 1);
	assert.match(questions[0], /everything.*Please provide/);
	answer = { action: "decline" };
	assert.match(JSON.stringify((await run(`return ${sdk}.trigger_elicitation_request{}`)).result), /declined/);
	answer = { action: "accept", content: { name: "Ada", integer: 7 } };
	assert.match((await run(`return ${sdk}.trigger_sampling_request{ prompt = "who?" }`)).result, /heard: [^]*who\?/);

	const wrong = await run(`local ok, err = pcall(function() return ${sdk}.get_resource_reference{ resourceType = "Text", resourceId = -1 } end)
		return { ok = ok, server = err.server, tool = err.tool, retryable = err.retryable, message = err.message, content = err.content }`);
	assert.equal(wrong.result.ok, false);
	assert.equal(wrong.result.tool, "get-resource-reference");
	assert.match(wrong.result.server, /^everything/);
	assert.equal(wrong.result.retryable, false);
	assert.match(wrong.result.message, /Invalid resourceId/);
	assert.equal(wrong.result.content[0].type, "text");
	assert.match(await fails(`return ${sdk}.get_sum{ a = 1, bb = 2 }`), /nothing has run[^]*did you mean 'b'/);
}

// What a server makes during a session is there for this client: its list tells of it, and its link can be followed.
for (const [server, name] of [["everything", "everything"], ["everything_http", "everything-http"], ["everything_sse", "everything.sse"]]) {
	const changed = change();
	const made = await run(`return ${server}.gzip_file_as_resource{ name = "a.gz", data = "data:text/plain,aloha" }:await()`);
	const { uri } = made.result[0];
	assert.ok(uri.startsWith(`mcp://${name}/`), uri);
	const { contents } = await client.readResource({ uri });
	assert.equal(gunzipSync(Buffer.from(contents[0].blob, "base64")).toString(), "aloha");
	await changed;
	assert.ok((await client.listResources()).resources.some((resource) => resource.uri === uri), uri);
}

// Objects with their keys in one order.
function sorted(value) {
	if (Array.isArray(value)) return value.map(sorted);
	if (value === null || typeof value !== "object") return value;
	return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

// Files and entities: what a script does can be seen.
const done = await run(`
	local path = "${folder}/a ʻōlelo.txt"
	sdk.files.write_file{ path = path, content = "aloha" }
	local read = sdk.files.read_text_file{ path = path }
	local names = {}
	for line in string.gmatch(tostring(sdk.files.list_directory{ path = "${folder}" }.content), "[^\\n]+") do table.insert(names, line) end
	scratch.write("notes/one.txt", read.content)
	return { read = read, names = names }`);
assert.equal(done.result.read.content, "aloha");
assert.ok(done.result.names.some((name) => name.includes("a ʻōlelo.txt")), done.result.names.join());
assert.deepEqual(done.files_touched, ["notes/one.txt"]);
assert.equal(await readFile(`${folder}/a ʻōlelo.txt`, "utf8"), "aloha");
assert.match(await fails(`return sdk.files.read_text_file{ path = "/etc/passwd" }`), /denied|outside/i);
assert.match(await fails(`return sdk.files.move_file{ source = "a", destination = "b" }`), /nothing is moved here/);
const graph = await run(`
	sdk.memory.create_entities{ entities = { { name = "Ada", entityType = "person", observations = { "counts" } }, { name = "Bob", entityType = "person", observations = {} } } }
	sdk.memory.create_relations{ relations = { { from = "Ada", to = "Bob", relationType = "knows" } } }
	return { found = sdk.memory.search_nodes{ query = "counts" }, graph = sdk.memory.read_graph() }`);
assert.deepEqual(graph.result.found.entities.map((entity) => entity.name), ["Ada"]);
assert.deepEqual(graph.result.graph.entities[1].observations, []);
assert.equal(graph.result.graph.relations[0].relationType, "knows");
questions.length = 0;
await run(`sdk.memory.delete_entities{ entityNames = { "Ada", "Bob" } }`);
assert.equal(questions.length, 1, "an approval is asked for");
assert.match(questions[0], /delete_entities/);

// The other face.
const servers = (await json("list-servers", {})).servers;
assert.deepEqual(servers.map((server) => server.luaServerName), ["everything", "everything_http", "everything_sse", "files", "memory"]);
assert.ok((await json("list-server-tools", { luaServerName: "everything_http" })).tools.some((tool) => tool.luaToolName === "get_sum"));
const details = await json("tool-details", { luaServerName: "everything", luaToolName: "get_sum" });
assert.equal(details.name, "get-sum");
assert.match((await json("inspect-tool-response", { luaServerName: "everything", luaToolName: "get_structured_content", sampleArgs: { location: "Chicago" } })).sample, /36/);
const object = await call("execute", { script: `local sum = everything.get_sum({ a = 1, b = 2 }):await() result({ sum = sum })` });
assert.match(object.structuredContent.sum, /3/);
assert.equal(object.content[0].text, JSON.stringify(object.structuredContent));
const list = await call("execute", { script: `result({ 1, 2 })` });
assert.deepEqual(list, { content: [{ type: "text", text: "[1,2]" }] });
const image = await call("execute", { script: `result(call_tool("everything.get-tiny-image", {}))` });
assert.deepEqual(sorted(image), sorted(await direct.callTool({ name: "get-tiny-image", arguments: {} })));
const links = await call("execute", { script: `result(everything_http["get-resource-links"]({ count = 2 }):await())` });
const uris = JSON.parse(links.content[0].text).filter((item) => item.type === "resource_link").map((item) => item.uri);
assert.ok(uris.length === 2 && uris.every((uri) => uri.startsWith("mcp://everything-http/demo://")), links.content[0].text);
assert.equal((await call("execute", { script: `local x = everything.get_sum({ a = 1, b = 2 }):await()` })).isError, true);

// Resources and prompts of servers, under names of their own.
const { resources } = await client.listResources();
const named = resources.map((resource) => resource.uri);
assert.ok(named.includes("sdk://memory/functions"), named.join());
assert.match((await client.readResource({ uri: "sdk://everything_sse/functions" })).contents[0].text, /get_sum/);
const theirs = (await direct.listResources()).resources[0].uri;
for (const server of ["everything", "everything-http", "everything.sse"]) {
	assert.ok(named.includes(`mcp://${server}/${theirs}`), named.join());
	const read = await client.readResource({ uri: `mcp://${server}/${theirs}` });
	assert.deepEqual(read.contents[0].text, (await direct.readResource({ uri: theirs })).contents[0].text);
	assert.equal(read.contents[0].uri, `mcp://${server}/${theirs}`);
	const prompt = await client.getPrompt({ name: `${server}.args-prompt`, arguments: { city: "Hilo" } });
	assert.equal(prompt.messages[0].content.text, "What's weather in Hilo?");
	const completed = await client.complete({ ref: { type: "ref/prompt", name: `${server}.completable-prompt` }, argument: { name: "department", value: "S" } });
	assert.deepEqual(completed.completion.values, ["Sales", "Support"]);
}
assert.equal((await client.readResource({ uri: uris[1] })).contents[0].uri, uris[1], "a link in a result can be followed");
assert.ok((await client.listResourceTemplates()).resourceTemplates.some((template) => template.uriTemplate.startsWith("mcp://everything/")));
await assert.rejects(client.readResource({ uri: "mcp://everything/demo://nothing" }));

// Another client sees nothing of this one's session.
if (target.startsWith("http")) {
	const second = await open();
	assert.deepEqual((await run(`return scratch.list()`, undefined, second)).result, []);
	assert.equal((await run(`return scratch.read("notes/one.txt")`)).result, "aloha");
	await second.close();
}

await direct.close();
await client.close();
console.log("the gateway works");
process.exit(0);
