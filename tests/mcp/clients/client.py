"""The reference Python client lists and calls the tools: client.py URL|COMMAND, in sessions and without."""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ElicitResult

BIG = 9007199254740993


def text(result):
    return result.content[0].text


async def check(target, mode):
    questions, logged = [], []

    async def elicit(context, params):
        questions.append(params.message)
        field = next(iter(params.requested_schema["properties"]))
        return ElicitResult(action="accept", content={field: True if field == "approve" else "Ada"})

    async def log(params):
        logged.append(params.data)

    server = target if target.startswith("http") else StdioServerParameters(command=target)
    async with Client(
        server, mode=mode, elicitation_callback=elicit, logging_callback=log, log_level="info" if mode != "legacy" else None
    ) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "echo" in names, names

        args = {"list": [], "object": {}, "nothing": None, "number": 1.5, "big": BIG, "text": "<ø>"}
        echoed = await client.call_tool("echo", args)
        assert echoed.structured_content == args, echoed
        assert json.loads(text(echoed)) == args

        failed = await client.call_tool("test_error_handling", {})
        assert failed.is_error and text(failed) == "This tool intentionally returns an error for testing", failed
        try:
            await client.call_tool("nothing", {})
            raise AssertionError("an unknown tool was called")
        except MCPError as error:
            assert error.error.code == -32602, error

        steps = []

        async def progress(done, total, message):
            steps.append(done)

        await client.call_tool("test_tool_with_progress", {}, progress_callback=progress)
        assert steps == [0, 50, 100], steps

        if mode == "legacy":
            await client.set_logging_level("info")
        await client.call_tool("test_tool_with_logging", {})
        assert len(logged) == 3, logged

        assert "Ada" in text(await client.call_tool("test_elicitation", {"message": "Who?"}))
        assert text(await client.call_tool("needs_approval", {"what": mode})) == f"approved: {mode}"
        assert len(questions) == 2, questions
        version = client.protocol_version
    print(f"Python client: {'HTTP' if target.startswith('http') else 'stdio'} works, revision {version}")


async def main():
    for mode in ("legacy", "auto", "2026-07-28"):
        await asyncio.wait_for(check(sys.argv[1], mode), 60)


asyncio.run(main())
