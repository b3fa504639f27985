"""A messages API on loopback whose model calls given tools at once, and then says that it is done."""

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class MessagesApi:
    """The server, as a context; `results` are the texts with which the host answered the calls, in their order."""

    def __init__(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> None:
        self.calls = calls
        self.results: list[str] = []
        self.prompt = ""
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                body = api.answer(request) if self.path.startswith("/v1/messages?") else b'{"input_tokens": 1}'
                self.send_response(200)
                self.send_header("content-type", "text/event-stream" if request.get("stream") else "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, request: dict[str, Any]) -> bytes:
        """Return the events of an answer: the calls, or a last word if the request has their results."""
        contents = [message["content"] for message in request["messages"]]
        blocks = [block for content in contents if isinstance(content, list) for block in content]
        results = {block["tool_use_id"]: block for block in blocks if block["type"] == "tool_result"}
        if results:
            self.results = [json.dumps(results[f"call-{number}"]["content"]) for number in range(len(self.calls))]
        if request.get("tools"):
            self.prompt = self.prompt or "\n".join(block.get("text", "") for block in blocks)
        calls = self.calls if request.get("tools") and not results else ()
        events: list[dict[str, Any]] = [{"type": "message_start", "message": _message(request)}]
        for number, (tool, arguments) in enumerate(calls):
            block = {"type": "tool_use", "id": f"call-{number}", "name": tool, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
            events += _block(number, block, delta)
        if not calls:
            events += _block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."})
        reason = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
        events += [{"type": "message_delta", "delta": reason, "usage": {"output_tokens": 1}}, {"type": "message_stop"}]
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def _message(request: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    head = {"id": "message-1", "type": "message", "role": "assistant", "model": request["model"], "content": []}
    return {**head, "stop_reason": None, "stop_sequence": None, "usage": usage}


def _block(index: int, block: dict[str, Any], delta: dict[str, Any]) -> list[dict[str, Any]]:
    start = {"type": "content_block_start", "index": index, "content_block": block}
    change = {"type": "content_block_delta", "index": index, "delta": delta}
    return [start, change, {"type": "content_block_stop", "index": index}]
