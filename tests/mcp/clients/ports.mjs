// Two ports of this machine that are free: node ports.mjs.
import { createServer } from "node:net";

const servers = [createServer(), createServer()];
await Promise.all(servers.map((server) => new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))));
console.log(servers.map((server) => server.address().port).join(" "));
for (const server of servers) server.close();
