// An HTTP/2 server over TLS. Arguments: certificate and key. It prints its port.
const http2 = require("http2");
const fs = require("fs");

let sessions = 0;
const server = http2.createSecureServer({
  cert: fs.readFileSync(process.argv[2]),
  key: fs.readFileSync(process.argv[3]),
  allowHTTP1: true,
});
server.on("session", (session) => { session.number = ++sessions; });
server.on("request", (request, response) => {
  switch (request.url) {
    case "/echo":
      response.writeHead(200, { "x-version": request.httpVersion, "x-many": request.headers["x-many"] });
      request.pipe(response);
      break;
    case "/session":
      response.end(String(request.stream.session.number));
      break;
    case "/reset":
      response.write("part");
      setTimeout(() => request.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR), 20);
      break;
    case "/leave":
      response.end("last");
      request.stream.session.close();
      break;
    case "/empty":
      response.writeHead(204);
      response.end();
      break;
    case "/slowly":
      response.write("one\ntw");
      setTimeout(() => response.write("o\nthr"), 20);
      setTimeout(() => response.end("ee"), 40);
      break;
  }
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
