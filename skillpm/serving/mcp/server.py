"""The MCP server: the tool `skill`, skills as resources and as prompts, and the Skills extension.

It is a thin layer on top of one `SkillService`. Nothing in a skill is executed, and every request is answered, whatever
it contains.
"""

import base64
import gc
import mimetypes
import weakref
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from skillpm import __version__
from skillpm.core.names import SKILL_FILE
from skillpm.errors import NotAllowedError, NotFoundError, SkillpmError
from skillpm.registry.card import Card
from skillpm.registry.entry import is_for_models_only
from skillpm.serving.mcp.resources import ResourcePublisher, find_visible
from skillpm.serving.mcp.stdio import StdioDrain, open_input
from skillpm.serving.renderers.model_text import sanitize_line
from skillpm.serving.schema import TOOL_NAME
from skillpm.serving.service import SkillService
from skillpm.serving.skill_files import build_uri, list_skill_files

EXTENSION = "io.modelcontextprotocol/skills"
FOLDER_MIME_TYPE = "inode/directory"
PAGE_SIZE = 100
WATCH_INTERVAL = 0.5
Context = ServerRequestContext[Any, Any]
Result = TypeVar("Result")
ARGUMENT = "arguments"
FILE_TEMPLATE = types.ResourceTemplate(
    uri_template="skill://{name}/{+path}", name="skill-file", description="A file of a skill, such as its SKILL.md."
)
# The protocol allows no more in one answer.
MAX_COMPLETIONS = 100


class GetSkillParams(types.RequestParams):
    """The parameters of `skills/get`."""

    uri: str


class ListSkillsResult(types.PaginatedResult, types.CacheableResult):
    """The result of `skills/list`."""

    skills: list[dict[str, Any]]
    result_type: types.ResultType = "complete"


class GetSkillResult(types.CacheableResult):
    """The result of `skills/get`."""

    skill: dict[str, Any]
    result_type: types.ResultType = "complete"


class ReadFolderParams(types.PaginatedRequestParams):
    """The parameters of `resources/directory/read`."""

    uri: str


class ReadFolderResult(types.PaginatedResult):
    """The result of `resources/directory/read`."""

    resources: list[types.Resource]
    result_type: types.ResultType = "complete"


class NotifyingServer(Server[Any]):
    """A server of the SDK that announces its notifications, whatever transport starts it."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *arguments: Any, **options: Any
    ) -> InitializationOptions:
        """Return the options, by default with notifications for all lists."""
        everything = NotificationOptions(prompts_changed=True, tools_changed=True, resources_changed=True)
        return super().create_initialization_options(notification_options or everything, *arguments, **options)


class SkillServer:
    """Serves one service: to one client over stdio, or to several over HTTP."""

    def __init__(self, service: SkillService) -> None:
        self.service = service
        self.publisher = ResourcePublisher(service)
        self.bus = InMemorySubscriptionBus()
        # Those that are open: a session of the SDK is one request's view of a connection.
        self.connections: weakref.WeakSet[Any] = weakref.WeakSet()
        self.watch_started = anyio.Event()
        self.server = NotifyingServer(
            "skillpm",
            version=__version__,
            description="Serves installed agent skills.",
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_read_resource=self.read_resource,
            on_list_resource_templates=self.list_resource_templates,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
            on_completion=self.complete,
            on_subscriptions_listen=ListenHandler(self.bus),
        )
        self.server.extensions[EXTENSION] = {"directoryRead": True}
        self.server.add_request_handler("skills/list", types.PaginatedRequestParams, self.list_skills)
        self.server.add_request_handler("skills/get", GetSkillParams, self.get_skill)
        self.server.add_request_handler("resources/directory/read", ReadFolderParams, self.read_folder)

    async def run(self) -> None:
        """Serve until the client disconnects."""
        options = self.server.create_initialization_options()
        async with stdio_server(stdin=open_input()) as (incoming, outgoing), anyio.create_task_group() as tasks:
            tasks.start_soon(self.watch)
            drain = StdioDrain(incoming, outgoing)
            await self.server.run(drain.input_stream, drain.output_stream, options)
            tasks.cancel_scope.cancel()

    async def watch(self) -> None:
        """Notify the client whenever the visible skills change."""
        last = await anyio.to_thread.run_sync(self._visibility_marker)
        self.watch_started.set()
        while True:
            await anyio.sleep(WATCH_INTERVAL)
            current = await anyio.to_thread.run_sync(self._visibility_marker)
            if current is not last and current != last:
                last = current
                await self.bus.publish(ToolsListChanged())
                await self.bus.publish(ResourcesListChanged())
                await self.bus.publish(PromptsListChanged())
                for connection in tuple(self.connections):
                    # Clients of older protocol versions do not subscribe; they are notified unconditionally.
                    if connection.protocol_version not in MODERN_PROTOCOL_VERSIONS:
                        await connection.send_tool_list_changed()
                        await connection.send_resource_list_changed()
                        await connection.send_prompt_list_changed()

    async def list_tools(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Return the one tool, with a description generated from what is visible now."""
        self.service.environment.clear_cache()  # programs may have been installed since
        description = await self._run_in_thread(context, self._tool_description)
        annotations = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
        tool = types.Tool(
            name=TOOL_NAME, description=description, input_schema=dict(self.service.schema), annotations=annotations
        )
        return types.ListToolsResult(tools=[tool])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Answer a call; a mistake of the caller is an answer with `is_error`."""
        if params.name != TOOL_NAME:
            raise MCPError(types.INVALID_PARAMS, "unknown tool; the only one is `skill`")
        answer = await self._run_in_thread(context, lambda: self.service.call(params.arguments or {}))
        content = types.TextContent(type="text", text=answer.text)
        return types.CallToolResult(content=[content], is_error=not answer.ok)

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Return the files of the visible skills, one page of skills at a time."""
        cards, cursor = await self._run_in_thread(context, lambda: self._get_page(params))
        resources = await self._run_in_thread(
            context, lambda: [part for card in cards for part in _build_resources(card)]
        )
        return types.ListResourcesResult(resources=resources, next_cursor=cursor)

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return the content of a skill's file, unchanged."""
        uri = str(params.uri)
        data = await self._run_in_thread(context, lambda: self.publisher.read_file(uri))
        return types.ReadResourceResult(contents=[_build_contents(uri, data)])

    async def list_resource_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Return the one template, which stands for all files of all skills."""
        return types.ListResourceTemplatesResult(resource_templates=[FILE_TEMPLATE])

    async def list_prompts(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """Return the skills that users may start, one page of skills at a time."""
        cards, cursor = await self._run_in_thread(context, lambda: self._get_page(params))
        prompts = await self._run_in_thread(context, lambda: build_prompts(self.service, cards))
        return types.ListPromptsResult(prompts=prompts, next_cursor=cursor)

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Return the instructions of a skill, with what the user typed after its name."""
        arguments = (params.arguments or {}).get(ARGUMENT)
        return await self._run_in_thread(context, lambda: get_prompt(self.service, params.name, arguments))

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Complete the name of a skill or the path of its file."""
        completion = await self._run_in_thread(context, lambda: complete(self.service, params))
        return types.CompleteResult(completion=completion)

    async def read_folder(self, context: Context, params: ReadFolderParams) -> ReadFolderResult:
        """Return the content of a skill's folder, one page at a time."""
        card, files, folders = await self._run_in_thread(context, lambda: self.publisher.list_folder(params.uri))
        resources = {path: _build_resource(card, path) for path in files}
        resources |= {path: _build_folder(card, path) for path in folders}
        paths, cursor = _slice_page(sorted(resources), params)
        return ReadFolderResult(resources=[resources[path] for path in paths], next_cursor=cursor)

    async def list_skills(self, context: Context, params: types.PaginatedRequestParams) -> ListSkillsResult:
        """Return the entries of the skills that conform to the specification, one page of skills at a time."""
        cards, cursor = await self._run_in_thread(context, lambda: self._get_page(params))
        published_skills = await self._run_in_thread(context, lambda: [self.publisher.publish(card) for card in cards])
        entries = [dict(published.entry) for published in published_skills if published.entry is not None]
        return ListSkillsResult(skills=entries, next_cursor=cursor)

    async def get_skill(self, context: Context, params: GetSkillParams) -> GetSkillResult:
        """Return the entry of one skill."""
        published = await self._run_in_thread(context, lambda: self.publisher.get_entry(params.uri))
        if published.entry is None:
            raise MCPError(types.INVALID_PARAMS, f"the skill is not published: {published.rejection_reason}")
        return GetSkillResult(skill=dict(published.entry))

    async def _run_in_thread(self, context: Context, work: Callable[[], Result]) -> Result:
        """Run blocking work in a thread; its errors become protocol errors."""
        self.connections.add(context.session._connection)  # noqa: SLF001  (the SDK has no other name for it)
        # A change between this answer and the first look of `watch` would never be notified.
        await self.watch_started.wait()
        try:
            return await anyio.to_thread.run_sync(work)
        except (NotFoundError, NotAllowedError) as error:
            raise MCPError(types.INVALID_PARAMS, error.message) from error
        except SkillpmError as error:
            raise MCPError(types.INTERNAL_ERROR, self.service.explain(error)) from error

    def _tool_description(self) -> str:
        try:
            return self.service.description
        except SkillpmError as error:  # an error would make hosts drop the tool for the whole session
            return f"Skills cannot be loaded right now: {self.service.explain(error)}"

    def _get_page(self, params: types.PaginatedRequestParams | None) -> tuple[Sequence[Card], str | None]:
        """Return one page of skills by name, without those that are refused, and the cursor of the next page."""
        visible = self.service.visible
        names, cursor = _slice_page([*visible], params)
        if self.service.registry.check([visible[name] for name in names]):
            visible = self.service.visible
        cards = [visible[name] for name in names if name in visible]
        return [card for card in cards if self.service.is_accepted(card)], cursor

    def _visibility_marker(self) -> object:
        """Return a value that differs once the visible skills have changed."""
        try:
            return self.service.visible  # the same object as long as nothing changed
        except SkillpmError as error:
            return error.message


def serve(service: SkillService) -> None:
    """Serve over stdin and stdout until the client disconnects."""
    gc.enable()  # short-lived commands run without it, but a server may run for days
    anyio.run(SkillServer(service).run)


def _slice_page(names: Sequence[str], params: types.PaginatedRequestParams | None) -> tuple[Sequence[str], str | None]:
    """Return one page of sorted names, and the cursor of the next page."""
    cursor = params.cursor if params is not None and params.cursor is not None else ""
    remaining = [name for name in names if name > cursor]
    return remaining[:PAGE_SIZE], remaining[PAGE_SIZE - 1] if len(remaining) > PAGE_SIZE else None


def _build_resources(card: Card) -> list[types.Resource]:
    return [_build_resource(card, path) for path in (SKILL_FILE, *list_skill_files(card))]


def _build_resource(card: Card, path: str) -> types.Resource:
    is_skill = path == SKILL_FILE
    return types.Resource(
        uri=build_uri(card.name, path),
        name=card.name if is_skill else f"{card.name}/{path}",
        description=card.description or None if is_skill else None,
        mime_type=_guess_mime_type(path),
    )


def _build_folder(card: Card, path: str) -> types.Resource:
    return types.Resource(uri=build_uri(card.name, path), name=f"{card.name}/{path}", mime_type=FOLDER_MIME_TYPE)


def _build_contents(uri: str, data: bytes) -> types.TextResourceContents | types.BlobResourceContents:
    mime_type = _guess_mime_type(uri)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        return types.BlobResourceContents(uri=uri, mime_type=mime_type, blob=base64.b64encode(data).decode())
    return types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)


def _guess_mime_type(path: str) -> str:
    if path.endswith(".md"):
        return "text/markdown"
    return mimetypes.guess_type(path)[0] or "application/octet-stream"


def build_prompts(service: SkillService, cards: Sequence[Card]) -> list[types.Prompt]:
    """Return a prompt for each skill that users may start: not those with `user-invocable: false`."""
    prompts = (_build_prompt(service, card) for card in cards)
    return [prompt for prompt in prompts if prompt is not None]


def get_prompt(service: SkillService, name: str, arguments: str | None) -> types.GetPromptResult:
    """Return the instructions of a skill as the message of a user.

    Raises what `SkillService.load` raises, and `NotFoundError` for a skill that is no prompt.
    """
    card = find_visible(service, name)
    if card is None or _build_prompt(service, card) is None:
        raise NotFoundError(f"no prompt named {sanitize_line(name)[:80]}")
    loaded = service.load(name, arguments=arguments)
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=loaded.text))
    return types.GetPromptResult(description=sanitize_line(card.description) or None, messages=[message])


def complete(service: SkillService, params: types.CompleteRequestParams) -> types.Completion:
    """Return how the value of an argument of the template for files may go on."""
    begun, known = params.argument.value, (params.context.arguments if params.context else None) or {}
    values: Sequence[str] = ()
    if isinstance(params.ref, types.ResourceTemplateReference) and params.ref.uri == FILE_TEMPLATE.uri_template:
        if params.argument.name == "name":
            values = [*service.visible]
        elif params.argument.name == "path" and (card := service.visible.get(known.get("name", ""))) is not None:
            values = [SKILL_FILE, *list_skill_files(card)]
    matching = [value for value in values if value.startswith(begun)]
    first = list(islice(matching, MAX_COMPLETIONS))
    return types.Completion(values=first, total=len(matching), has_more=len(matching) > len(first))


def _build_prompt(service: SkillService, card: Card) -> types.Prompt | None:
    try:
        skill = service.registry.read(card)
    except SkillpmError:
        return None
    if is_for_models_only(skill):
        return None
    hint = skill.extra.get("argument-hint")
    argument = types.PromptArgument(
        name=ARGUMENT,
        description=sanitize_line(hint) if isinstance(hint, str) else "What the skill needs to know.",
        required=False,
    )
    return types.Prompt(name=card.name, description=sanitize_line(card.description) or None, arguments=[argument])
